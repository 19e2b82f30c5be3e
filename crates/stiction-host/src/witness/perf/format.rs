//! Where the fields of a tracepoint are, from its `format` file
//! (`Documentation/trace/events.rst`).

/// Where one field is in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    offset: usize,
    size: usize,
}

impl Field {
    /// The field as a number without sign; 0 where the record is too short.
    pub(super) fn unsigned(self, record: &[u8]) -> u64 {
        let mut number = [0; 8];
        let bytes = self.bytes(record);
        let length = bytes.len().min(8);
        if cfg!(target_endian = "little") {
            number[..length].copy_from_slice(&bytes[..length]);
        } else {
            number[8 - length..].copy_from_slice(&bytes[..length]);
        }
        u64::from_ne_bytes(number)
    }

    /// The field as a number with sign.
    pub(super) fn signed(self, record: &[u8]) -> i64 {
        let unused = 64 - 8 * self.size.clamp(1, 8) as u32;
        (self.unsigned(record).cast_signed() << unused) >> unused
    }

    /// The field as text, up to its first zero.
    pub(super) fn text(self, record: &[u8]) -> &[u8] {
        let bytes = self.bytes(record);
        let end = bytes.iter().position(|byte| *byte == 0);
        &bytes[..end.unwrap_or(bytes.len())]
    }

    fn bytes(self, record: &[u8]) -> &[u8] {
        record
            .get(self.offset..self.offset + self.size)
            .unwrap_or(&[])
    }
}

/// A tracepoint's number and fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) id: u64,
    fields: Vec<(String, Field)>,
}

impl Format {
    /// Reads a `format` file; `None` when it is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"))?;
        Some(Self {
            id: id.trim().parse().ok()?,
            fields: text.lines().filter_map(field).collect(),
        })
    }

    /// Where the field `name` is.
    pub(super) fn field(&self, name: &str) -> Option<Field> {
        let found = self.fields.iter().find(|(own, _)| own == name);
        found.map(|(_, field)| *field)
    }
}

/// `field:char rwbs[10]; offset:34; size:10; signed:0;`, with tabs between.
fn field(line: &str) -> Option<(String, Field)> {
    let mut parts = line.trim().strip_prefix("field:")?.split(';');
    let declared = parts.next()?.trim();
    let mut value =
        |key: &str| -> Option<usize> { parts.next()?.trim().strip_prefix(key)?.parse().ok() };
    let (offset, size) = (value("offset:")?, value("size:")?);
    let name = declared.rsplit([' ', '*']).next()?;
    let name = name.split('[').next()?;
    (!name.is_empty()).then(|| (name.to_owned(), Field { offset, size }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of Linux 6.18.
    const ISSUE: &str = "name: block_rq_issue\nID: 2104\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n\
        \tfield:unsigned int bytes;\toffset:28;\tsize:4;\tsigned:0;\n\
        \tfield:unsigned short ioprio;\toffset:32;\tsize:2;\tsigned:0;\n\
        \tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n\
        \tfield:char comm[16];\toffset:44;\tsize:16;\tsigned:0;\n\
        \tfield:__data_loc char[] cmd;\toffset:60;\tsize:4;\tsigned:0;\n\n\
        print fmt: \"%d\", REC->dev\n";

    #[test]
    fn fields_are_found_by_name() {
        let format = Format::parse(ISSUE).unwrap();
        assert_eq!(format.id, 2104);
        let at = |name| format.field(name).map(|field| (field.offset, field.size));
        assert_eq!(at("dev"), Some((8, 4)));
        assert_eq!(at("sector"), Some((16, 8)));
        assert_eq!(at("rwbs"), Some((34, 10)));
        assert_eq!(at("comm"), Some((44, 16)));
        assert_eq!(at("cmd"), Some((60, 4)));
        assert_eq!(at("error"), None);
        assert!(Format::parse("nothing of the kind").is_none());
    }

    /// Linux 4.19 has neither an I/O priority nor ten letters.
    #[test]
    fn older_kernels_have_them_elsewhere() {
        let text = "name: block_rq_issue\nID: 1017\nformat:\n\
            \tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\
            \tfield:char rwbs[8];\toffset:32;\tsize:8;\tsigned:1;\n";
        let format = Format::parse(text).unwrap();
        let field = format.field("rwbs").unwrap();
        assert_eq!((field.offset, field.size), (32, 8));
    }

    #[test]
    fn numbers_and_text_are_read_at_their_size() {
        let mut record = [0u8; 24];
        record[8..12].copy_from_slice(&(254u32 << 20).to_ne_bytes());
        record[12..16].copy_from_slice(&(-5i32).to_ne_bytes());
        record[16..19].copy_from_slice(b"WS\0");
        let field = |offset, size| Field { offset, size };
        assert_eq!(field(8, 4).unsigned(&record), 254 << 20);
        assert_eq!(field(12, 4).signed(&record), -5);
        assert_eq!(field(12, 4).unsigned(&record), 0xffff_fffb);
        assert_eq!(field(16, 8).text(&record), b"WS");
        assert_eq!(field(22, 8).unsigned(&record), 0, "beyond the record");
    }
}
