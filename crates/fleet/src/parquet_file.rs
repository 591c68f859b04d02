//! Rows as a Parquet file: zstd, one row group after the other, the same bytes for the same rows.

use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use crate::columns::{Cells, Rows, Value};
use crate::schema::{Kind, Table};

/// As many rows are a row group: what a reader takes at once.
pub const ROW_GROUP: usize = 1 << 17;

/// Writes rows of a table.
pub struct RowWriter<W: Write + Send> {
    writer: SerializedFileWriter<W>,
}

impl<W: Write + Send> RowWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(out: W, table: &Table) -> Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(Default::default()))
            .set_created_by("martini".to_owned())
            .build();
        Ok(RowWriter { writer: SerializedFileWriter::new(out, schema(table)?, Arc::new(properties))? })
    }

    /// Writes rows, as one row group or several.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, rows: &Rows) -> Result<()> {
        for from in (0..rows.len()).step_by(ROW_GROUP) {
            let part = from..rows.len().min(from + ROW_GROUP);
            let mut group = self.writer.next_row_group()?;
            for cells in rows.columns() {
                let part = part.clone();
                match cells {
                    Cells::Int(cells) => write_column::<Int64Type, _>(&mut group, &cells[part], |value| *value)?,
                    Cells::Double(cells) => write_column::<DoubleType, _>(&mut group, &cells[part], |value| *value)?,
                    Cells::Text(cells) => {
                        write_column::<ByteArrayType, _>(&mut group, &cells[part], |text| ByteArray::from(&**text))?;
                    }
                }
            }
            group.close()?;
        }
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(self) -> Result<W> {
        self.writer.into_inner()
    }
}

fn write_column<T: DataType, C>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    cells: &[Option<C>],
    value: impl Fn(&C) -> T::T,
) -> Result<()> {
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.iter().flatten().map(value).collect();
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("a column too many".to_owned()));
    };
    column.typed::<T>().write_batch(&values, Some(&levels), None)?;
    column.close()
}

fn schema(table: &Table) -> Result<TypePtr> {
    let field = |name, kind| {
        let (physical, logical) = match kind {
            Kind::Int => (PhysicalType::INT64, None),
            Kind::Double => (PhysicalType::DOUBLE, None),
            Kind::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Time => (PhysicalType::INT64, Some(LogicalType::timestamp(true, TimeUnit::MICROS))),
        };
        let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
        field.with_logical_type(logical).build().map(Arc::new)
    };
    let fields = table.columns.iter().map(|column| field(column.name, column.kind)).collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(Type::group_type_builder(table.name).with_fields(fields).build()?))
}

/// Reads rows of a table, a row group at a time. Columns that a file of an older version does not have are null.
pub struct RowReader {
    path: PathBuf,
    table: &'static Table,
    reader: SerializedFileReader<File>,
    next: usize,
}

impl RowReader {
    /// Begins to read a file.
    ///
    /// # Errors
    /// It cannot be read, or is damaged.
    pub fn open(path: &Path, table: &'static Table) -> Result<RowReader> {
        let file = File::open(path)?;
        let reader = unpanicked(|| SerializedFileReader::new(file))?;
        Ok(RowReader { path: path.to_owned(), table, reader, next: 0 })
    }

    /// Which file it reads.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The rows of the next row group; `None` behind the last. With `wanted` of these columns only; the others are null.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn next(&mut self, wanted: Option<&[&str]>) -> Result<Option<Rows>> {
        if self.next == self.reader.num_row_groups() {
            return Ok(None);
        }
        self.next += 1;
        unpanicked(|| self.row_group(self.next - 1, wanted)).map(Some)
    }

    fn row_group(&self, number: usize, wanted: Option<&[&str]>) -> Result<Rows> {
        let group = self.reader.get_row_group(number)?;
        let length = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let names: Vec<String> =
            group.metadata().columns().iter().map(|column| column.column_path().string()).collect();
        let mut columns = Vec::new();
        for column in self.table.columns {
            let is_wanted = wanted.is_none_or(|wanted| wanted.contains(&column.name));
            let found = names.iter().position(|name| name == column.name).filter(|_| is_wanted);
            columns.push(match found {
                Some(at) => read_column(group.get_column_reader(at)?, length)?,
                None => vec![Value::None; length],
            });
        }
        let mut rows = Rows::new(self.table);
        let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
        for _ in 0..length {
            rows.push(columns.iter_mut().map(|column| column.next().unwrap_or(Value::None)));
        }
        Ok(rows)
    }
}

/// Reads what may be damaged: `parquet` panics at some offsets and lengths that cannot be.
fn unpanicked<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    let panicked = |_| Err(ParquetError::General("an offset or a length cannot be".to_owned()));
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(panicked)
}

fn read_column(reader: ColumnReader, length: usize) -> Result<Vec<Value>> {
    match reader {
        ColumnReader::Int64ColumnReader(column) => read_values(column, length, Value::Int),
        ColumnReader::DoubleColumnReader(column) => read_values(column, length, Value::Double),
        ColumnReader::ByteArrayColumnReader(column) => {
            read_values(column, length, |bytes| Value::Text(Rc::from(String::from_utf8_lossy(bytes.data()))))
        }
        _ => Err(ParquetError::General("a column is of a type that Martini does not write".to_owned())),
    }
}

fn read_values<T: DataType>(
    mut column: ColumnReaderImpl<T>,
    length: usize,
    value: impl Fn(T::T) -> Value,
) -> Result<Vec<Value>> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    column.read_records(length, Some(&mut levels), None, &mut values)?;
    let mut values = values.into_iter();
    Ok(levels
        .into_iter()
        .map(|level| if level > 0 { values.next().map_or(Value::None, &value) } else { Value::None })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::row;
    use crate::schema::CLASS;

    static OLDER: Table = Table { columns: CLASS.columns.split_at(1).0, ..CLASS };

    #[test]
    fn columns_that_an_older_file_does_not_have_are_null() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut writer = RowWriter::new(file.reopen().unwrap(), &OLDER).unwrap();
        let mut rows = Rows::new(&OLDER);
        rows.push(row![7_i64]);
        writer.write(&rows).unwrap();
        writer.finish().unwrap();
        let mut reader = RowReader::open(file.path(), &CLASS).unwrap();
        let read = reader.next(None).unwrap().unwrap();
        assert_eq!(read.row(0).collect::<Vec<_>>(), [Value::Int(7), Value::None, Value::None]);
        assert!(reader.next(None).unwrap().is_none());
    }

    /// Whatever byte is another one, and wherever the file ends.
    #[test]
    fn a_damaged_file_is_an_error_or_rows() {
        let mut rows = Rows::new(&CLASS);
        (0..40_i64).for_each(|id| rows.push(row![id, id, format!("shop.Class{id}")]));
        let mut writer = RowWriter::new(Vec::new(), &CLASS).unwrap();
        writer.write(&rows).unwrap();
        let whole = writer.finish().unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        let read = |bytes: &[u8]| -> Result<usize> {
            std::fs::write(file.path(), bytes)?;
            let (mut reader, mut rows) = (RowReader::open(file.path(), &CLASS)?, 0);
            while let Some(next) = reader.next(None)? {
                rows += next.len();
            }
            Ok(rows)
        };
        assert_eq!(read(&whole).unwrap(), 40);
        for at in 0..whole.len() {
            assert!(read(&whole[..at]).is_err(), "{at}");
            for change in [0x01, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= change;
                // It may be a byte of a name, or one that nobody reads.
                let _ = read(&bytes);
            }
        }
    }
}
