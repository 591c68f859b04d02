//! What HotSpot keeps of a method. Runs in signal handlers, each load may fail.

use super::compressed::{Encoding, Stream, line_of};
use super::layout::{MethodLayout, SourceIndex};
use agent_base::signals::SafeLoads;

/// A method's parts: addresses. They hold while a frame of the method is on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VmMethod {
    pub(super) address: usize,
    pub(super) constant: usize,
    pub(super) class_name: Symbol,
    pub(super) name: Symbol,
    pub(super) signature: Symbol,
    /// The name of the source file; `None` if it is not known.
    pub(super) source: Option<Symbol>,
    /// Where its bytecode begins, and how many bytes it has.
    pub(super) code: usize,
    pub(super) code_bytes: usize,
    pub(super) is_native: bool,
    has_lines: bool,
}

/// A text of the VM: where its bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Symbol {
    pub(super) address: usize,
    pub(super) body: usize,
    pub(super) length: u16,
    /// A number that the VM has drawn for it, so that another text at this address differs from it.
    pub(super) hash: u16,
}

const ACC_NATIVE: u16 = 0x100;
/// In the flags of a method's constant part.
const HAS_LINES: u16 = 1;
/// No name of a source file is longer.
pub(super) const MAX_SOURCE_NAME: u16 = 0x7fff;
/// No table of lines is longer.
const MAX_LINE_BYTES: usize = 1 << 20;

impl MethodLayout {
    /// The method at that address; `None` if there is none.
    pub(super) fn read(&self, loads: SafeLoads, address: usize) -> Option<VmMethod> {
        let word = |at: usize| loads.word(at).filter(|&address| is_object(address));
        if !is_object(address) {
            return None;
        }
        let constant = word(address + self.constant)?;
        let pool = word(constant + self.pool)?;
        let symbol = |index: u16| {
            let length = loads.u32(pool + self.pool_length)?;
            (u32::from(index) < length).then_some(())?;
            self.symbol(loads, loads.word(pool + self.pool_bytes + usize::from(index) * size_of::<usize>())?)
        };
        let holder = word(pool + self.pool_holder)?;
        let source = self.source.and_then(|at| match at {
            SourceIndex::Class(at) => loads.u16(holder + at),
            SourceIndex::Pool(at) => loads.u16(pool + at),
        });
        Some(VmMethod {
            address,
            constant,
            class_name: self.symbol(loads, loads.word(holder + self.class_name)?)?,
            name: symbol(loads.u16(constant + self.name)?)?,
            signature: symbol(loads.u16(constant + self.signature)?)?,
            // Without the attribute the index is 0.
            source: source.filter(|&index| index > 0).and_then(symbol).filter(|name| name.length <= MAX_SOURCE_NAME),
            code: constant + self.constant_bytes,
            code_bytes: usize::from(loads.u16(constant + self.code_bytes)?),
            is_native: loads.u16(address + self.access)? & ACC_NATIVE != 0,
            has_lines: loads.u16(constant + self.flags)? & HAS_LINES != 0,
        })
    }

    fn symbol(&self, loads: SafeLoads, address: usize) -> Option<Symbol> {
        if !is_object(address) {
            return None;
        }
        let length = loads.u16(address + self.symbol_length).filter(|&length| length > 0)?;
        let hash = loads.u16(address + self.symbol_hash)?;
        Some(Symbol { address, body: address + self.symbol_body, length, hash })
    }
}

/// Whether it can be the address of something of the VM's: aligned, and neither null nor of the kernel.
fn is_object(address: usize) -> bool {
    address.is_multiple_of(size_of::<usize>()) && (1 << 16..1 << 47).contains(&address)
}

impl VmMethod {
    /// The source line of a bytecode index; 0 if it is unknown.
    pub(super) fn line(&self, loads: SafeLoads, encoding: Encoding, bytecode_index: usize) -> u16 {
        if !self.has_lines || self.is_native {
            return 0;
        }
        let table = self.code + self.code_bytes;
        let table = Stream::new(loads, encoding, table, table + MAX_LINE_BYTES);
        line_of(table, bytecode_index as u32).unwrap_or(0)
    }

    /// The index of the bytecode at that address, if it is one of the method's.
    pub(super) fn index_of(&self, bytecode: usize) -> Option<usize> {
        bytecode.checked_sub(self.code).filter(|&index| index < self.code_bytes)
    }
}

#[cfg(test)]
impl VmMethod {
    /// One without code.
    pub(super) fn for_tests(address: usize, class_name: Symbol, name: Symbol, signature: Symbol) -> VmMethod {
        let (constant, code) = (address + 1, address + 2);
        VmMethod {
            address,
            constant,
            class_name,
            name,
            signature,
            source: None,
            code,
            code_bytes: 0,
            is_native: false,
            has_lines: false,
        }
    }
}
