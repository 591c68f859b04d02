//! The tables of a Code attribute that name pcs: exceptions, lines, local variables.

use crate::code::Code;
use crate::error::Refusal;
use crate::rewrite::pc_map::PcMap;

/// Appends the exception table, its count first. Relays at head and tail are outside of all ranges.
pub(crate) fn write_exceptions(code: &Code<'_, '_>, pcs: &PcMap, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let handlers = code.exception_handlers();
    let own = pcs.handler();
    let count = u16::try_from(handlers.len() + usize::from(own.is_some()));
    out.extend_from_slice(&count.map_err(|_| Refusal::CodeTooLarge)?.to_be_bytes());
    for entry in handlers {
        let start = pcs.entry(usize::from(entry.start));
        let end = pcs.range_end(entry.end);
        let handler = pcs.entry(usize::from(entry.handler));
        for pc in [start, end, handler] {
            // `PcMap::compute` keeps the code within 65,535 bytes.
            let pc = pc.ok_or(Refusal::MalformedExceptionTable)? as u16;
            out.extend_from_slice(&pc.to_be_bytes());
        }
        out.extend_from_slice(&entry.catch_type.to_be_bytes());
    }
    // Last, so that the method's own come first; it catches everything.
    if let Some((range, handler)) = own {
        for pc in [range.start, range.end, handler, 0] {
            out.extend_from_slice(&(pc as u16).to_be_bytes());
        }
    }
    Ok(())
}

/// Appends a LineNumberTable. A line begins with what is inserted in front of its first instruction.
pub(crate) fn write_lines(data: &[u8], pcs: &PcMap, out: &mut Vec<u8>) -> Result<(), Refusal> {
    for row in copy_rows::<4>(data, out)? {
        let [high, low, ..] = *row;
        let start = usize::from(u16::from_be_bytes([high, low]));
        let start = pcs.nearest(start).ok_or(Refusal::MalformedDebugTable)?;
        row[..2].copy_from_slice(&(start as u16).to_be_bytes());
    }
    Ok(())
}

/// Appends a LocalVariableTable or LocalVariableTypeTable.
pub(crate) fn write_variables(data: &[u8], pcs: &PcMap, out: &mut Vec<u8>) -> Result<(), Refusal> {
    for row in copy_rows::<10>(data, out)? {
        let (start, length) = move_range([row[0], row[1], row[2], row[3]], pcs).ok_or(Refusal::MalformedDebugTable)?;
        row[..2].copy_from_slice(&start.to_be_bytes());
        row[2..4].copy_from_slice(&length.to_be_bytes());
    }
    Ok(())
}

/// Moves a start pc and length as local-variable ranges are written.
pub(crate) fn move_range(range: [u8; 4], pcs: &PcMap) -> Option<(u16, u16)> {
    let [start_high, start_low, length_high, length_low] = range;
    let start = usize::from(u16::from_be_bytes([start_high, start_low]));
    let end = start + usize::from(u16::from_be_bytes([length_high, length_low]));
    let (start, end) = (pcs.nearest(start)?, pcs.nearest(end)?);
    // `nearest` rises with the pc and stays within 65,535.
    Some((start as u16, (end - start) as u16))
}

/// Appends a table that is a count and rows of `N` bytes, and gives access to the copied rows.
fn copy_rows<'o, const N: usize>(data: &[u8], out: &'o mut Vec<u8>) -> Result<&'o mut [[u8; N]], Refusal> {
    let bad = Refusal::MalformedDebugTable;
    let count = crate::read::u16_at(data, 0).ok_or(bad)?;
    if data.len() != 2 + usize::from(count) * N {
        return Err(bad);
    }
    let start = out.len() + 2;
    out.extend_from_slice(data);
    let (rows, _) = out[start..].as_chunks_mut::<N>();
    Ok(rows)
}
