//! The comma-separated lines of Bonnie++, of every version that has a known order.

use stiction_core::{CaveatCode, Cell, Phase};

use super::figures::{FILE_PHASES, IO_PHASES, Source, add_latency, is_figure};
use super::version::Version;
use crate::harvest::{Harvest, Row};
use crate::number::{decimal, integer, split_unit};
use crate::page::Page;

/// Fields of a line without a version, which is of 0.99 to 1.03.
const FIELDS_1_03: usize = 27;
/// Fields of 1.96, and of 1.96 without the phases of one file, which lacks one.
const FIELDS_1_96: usize = 48;
/// Fields of the format 1.98, which 2.00 prints too.
const FIELDS_1_98: usize = 50;
/// Figures of each part.
const FIGURES: usize = 12;

/// Reads every line of CSV.
pub(super) fn read(page: &mut Page, harvest: &mut Harvest) {
    for index in 0..page.len() {
        if !page.is_open(index) || page.text(index).matches(',').count() < FIELDS_1_03 - 1 {
            continue;
        }
        let text = page.text(index).trim().to_owned();
        let fields: Vec<&str> = text.split(',').map(str::trim).collect();
        if is_head(&fields) {
            page.claim(index);
            continue;
        }
        match Line::parse(&fields) {
            None => {}
            Some(Err(reason)) => page.refuse(index, reason),
            Some(Ok(line)) => {
                line.add(page.number(index), harvest);
                page.claim(index);
            }
        }
    }
}

/// Whether these are names of fields: what `-x` prints above its lines.
fn is_head(fields: &[&str]) -> bool {
    fields[0] == "format_version" || (fields[0] == "name" && fields[1] == "file_size")
}

/// One line, in parts.
struct Line<'a> {
    version: Option<Version>,
    machine: &'a str,
    concurrency: u64,
    size: &'a str,
    chunk: &'a str,
    seeks: &'a str,
    seekers: &'a str,
    io: &'a [&'a str],
    /// `16`, `16:link`, `8:20000:100/4`.
    files: String,
    of_files: &'a [&'a str],
    /// None in the old format.
    latencies: &'a [&'a str],
}

impl<'a> Line<'a> {
    /// The line that these fields are; `None` when they are none of Bonnie++'s.
    fn parse(fields: &'a [&'a str]) -> Option<Result<Self, String>> {
        let format = Version::parse(fields[0]);
        match (format, fields.len()) {
            (None, FIELDS_1_03) => Self::old(fields).map(Ok),
            (Some(_), 47..=FIELDS_1_98) if fields[0].starts_with("1.9") => Some(
                Self::new(fields).ok_or_else(|| {
                    format!(
                        "a line of Bonnie++'s format {} has 48 fields, or 50 since 1.98; here are {}",
                        fields[0],
                        fields.len()
                    )
                }),
            ),
            (Some(_), _) if fields[0].starts_with("1.9") => Some(Err(format!(
                "the order of the fields of Bonnie++'s format {} is not known",
                fields[0]
            ))),
            _ => None,
        }
    }

    fn old(fields: &'a [&'a str]) -> Option<Self> {
        let (size, chunk) = fields[1].split_once(':').unwrap_or((fields[1], ""));
        let line = Self {
            version: None,
            machine: fields[0],
            concurrency: 1,
            size,
            chunk,
            seeks: "",
            seekers: "",
            io: &fields[2..14],
            files: fields[14].to_owned(),
            of_files: &fields[15..],
            latencies: &[],
        };
        line.has_figures().then_some(line)
    }

    fn new(fields: &'a [&'a str]) -> Option<Self> {
        let has_seeks = fields.len() == FIELDS_1_98;
        // 1.96 forgets a field where nothing was done on one file.
        let forgotten = usize::from(fields.len() == FIELDS_1_96 - 1);
        if !has_seeks && fields.len() + forgotten != FIELDS_1_96 {
            return None;
        }
        let io = if has_seeks { 9 } else { 7 };
        let files = io + FIGURES - forgotten;
        let of_files = files + 5;
        let line = Self {
            version: Version::parse(fields[1]),
            machine: fields[2],
            concurrency: integer(fields[3])?,
            size: fields[5],
            chunk: fields[6],
            seeks: if has_seeks { fields[7] } else { "" },
            seekers: if has_seeks { fields[8] } else { "" },
            io: &fields[io..files],
            files: joined(&fields[files..files + 4]),
            of_files: &fields[of_files..of_files + FIGURES],
            latencies: &fields[of_files + FIGURES..],
        };
        line.has_figures().then_some(line)
    }

    fn has_figures(&self) -> bool {
        let all = || self.io.iter().chain(self.of_files);
        all().all(|field| field.is_empty() || is_figure(field))
            && all().any(|field| !field.is_empty())
            && (self.size.is_empty() || bytes(self.size).is_some())
    }

    fn add(&self, number: usize, harvest: &mut Harvest) {
        let label = (!self.machine.is_empty()).then(|| self.machine.to_owned());
        let source = self.source();
        let latency_of = |place: usize| self.latencies.get(place).copied().unwrap_or("");
        let mut cell = Cell::new();
        if let Some(size) = source.size_bytes {
            cell = cell.with("file_size_bytes", size);
        }
        if let Some(chunk) = bytes(self.chunk) {
            cell = cell.with("block_size_bytes", chunk);
        }
        if let Some(seekers) = source.seekers {
            cell = cell.with("seekers", seekers);
        }
        let files = Cell::new().with("files", self.files.as_str());
        let parts = [
            (IO_PHASES, self.io, cell, 0),
            (FILE_PHASES, self.of_files, files, 6),
        ];
        for (names, figures, cell, first) in parts {
            for (place, (name, pair)) in names.iter().zip(figures.chunks(2)).enumerate() {
                let [rate, cpu] = pair else { continue };
                let Some(mut phase) = source.phase(name, rate, cpu) else {
                    continue;
                };
                add_latency(&mut phase, latency_of(first + place));
                self.add_phase(number, label.clone(), cell.clone(), phase, harvest);
            }
        }
        if self.concurrency > 1 && self.version.is_some() {
            harvest.doubt(
                CaveatCode::FactorNotApplied,
                format!(
                    "line {number} says a concurrency of {}, and Bonnie++ starts no second \
                     worker for it",
                    self.concurrency
                ),
            );
        }
    }

    fn add_phase(
        &self,
        line: usize,
        label: Option<String>,
        cell: Cell,
        phase: Phase,
        harvest: &mut Harvest,
    ) {
        // What stiction printed itself has workers for its concurrency.
        let cell = if self.concurrency > 1 && self.version.is_none() {
            cell.with("threads", self.concurrency)
        } else {
            cell
        };
        harvest.add(
            "bonnie++-csv",
            Row {
                line,
                label,
                cell,
                phase,
            },
        );
    }

    fn source(&self) -> Source {
        Source {
            version: self.version,
            rate_unit: 1024.0,
            size_bytes: bytes(self.size),
            files: self.files.split([':', '/']).next().and_then(decimal),
            seeks: decimal(self.seeks),
            seekers: integer(self.seekers),
            is_text: false,
        }
    }
}

/// Count, greatest and least size and directories, as reports join them.
fn joined(fields: &[&str]) -> String {
    let [count, max, min, directories] = fields else {
        return String::new();
    };
    let mut text = (*count).to_owned();
    for part in [max, min] {
        if !part.is_empty() {
            text.push(':');
            text.push_str(part);
        }
    }
    if !directories.is_empty() {
        text.push('/');
        text.push_str(directories);
    }
    text
}

/// `300M`, `4G`, `16k`, or MiB without a unit for sizes.
fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = split_unit(text);
    let shift = match unit {
        "k" => 10,
        "" | "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return None,
    };
    integer(number)?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use stiction_core::{CaveatCode, metrics};

    use crate::{Imported, read};

    /// What 2.00a printed for 300 MiB and 4096 files of 100 to 2000 bytes in three
    /// directories, on a loaded machine.
    const LINE_2_00: &str = "1.98,2.00a,testbox,1,1796073546,300M,,8192,5,620,31,264780,26,\
        +++++,+++,955,30,+++++,+++,777.5,26,4,2000,100,,3,5350,22,+++++,+++,260,1,698,37,\
        +++++,+++,281,1,32715us,16149us,20058us,36873us,54256us,34174us,24087us,20079us,\
        151ms,60127us,24149us,20046us";
    /// The spec's line of 1.03e, from its text report.
    const LINE_1_03: &str = "testbox,300M,97466,37,+++++,+++,+++++,+++,136631,46,+++++,+++,\
        +++++,+++,4,1390,37,+++++,+++,+++++,+++,469,32,+++++,+++,+++++,+++";

    fn text(line: &str) -> String {
        line.replace(char::is_whitespace, "")
    }

    fn only(text: &str) -> Imported {
        let imported = read(text);
        assert_eq!(imported.unread, [], "{text}");
        imported
    }

    #[test]
    fn fields_of_2_00_are_told_apart() {
        let imported = only(&text(LINE_2_00));
        let session = &imported.sessions[0];
        assert_eq!(session.layout, "bonnie++-csv");
        let [io, files] = &session.trials[..] else {
            panic!("{:?}", session.trials);
        };
        let putc = io.phase("putc").unwrap();
        assert_eq!(putc.value(&metrics::RATE), Some(620.0 * 1024.0));
        assert_eq!(putc.value(&metrics::CPU_PERCENT), Some(31.0));
        assert_eq!(putc.value(&metrics::LATENCY_MAX), Some(32_715_000.0));
        let seeks = io.phase("seeks").unwrap();
        assert_eq!(seeks.value(&metrics::OPERATION_RATE), Some(777.5));
        let cpu = seeks.measurement(&metrics::CPU_PERCENT).unwrap();
        assert_eq!(cpu.value, 5.2, "26 % are of five seekers");
        assert!(cpu.corrected.as_ref().unwrap().contains("divided by 5"));
        let deleted = files.phase("delete_sequential").unwrap();
        assert_eq!(deleted.value(&metrics::OPERATION_RATE), Some(260.0));
        assert_eq!(deleted.value(&metrics::LATENCY_MAX), Some(151e6));
        assert_eq!(files.cell.get("files").unwrap().to_string(), "4:2000:100");
    }

    #[test]
    fn a_line_without_a_version_is_of_1_03() {
        let imported = only(&text(LINE_1_03));
        let io = &imported.sessions[0].trials[0];
        assert_eq!(
            io.cell.to_string(),
            "configuration=testbox file_size_bytes=314572800"
        );
        let block = io.phase("put_block").unwrap();
        // 300 MiB in less than 0.5 s.
        assert_eq!(block.value(&metrics::RATE), Some(600.0 * 1_048_576.0));
        assert_eq!(block.caveats[0].code, CaveatCode::TooShort);
    }

    #[test]
    fn heads_are_skipped_and_1_96_may_lack_a_field() {
        let line = "1.96,1.96,testbox,1,1334567890,,,,,,,,,,,,,,16,,,,,\
            1390,37,+++++,+++,3001,20,469,32,+++++,+++,2500,9,\
            ,,,,,,22ms,1234us,5ms,30ms,1200us,6ms";
        assert_eq!(line.replace(' ', "").split(',').count(), 47);
        let head = "format_version,bonnie_version,name,concurrency,seed,file_size,io_chunk_size,\
            putc,putc_cpu,put_block,put_block_cpu,rewrite,rewrite_cpu,getc,getc_cpu,get_block,\
            get_block_cpu,seeks,seeks_cpu,num_files,max_size,min_size,num_dirs,file_chunk_size,\
            seq_create,seq_create_cpu,seq_stat,seq_stat_cpu";
        let imported = only(&format!("{}\n{}\n", text(head), text(line)));
        let files = &imported.sessions[0].trials[0];
        assert_eq!(files.phases.len(), 6);
        let created = files.phase("create_sequential").unwrap();
        assert_eq!(created.value(&metrics::OPERATION_RATE), Some(1390.0));
        assert_eq!(created.value(&metrics::LATENCY_MAX), Some(22e6));
    }

    #[test]
    fn an_unknown_order_is_refused_and_other_lists_are_left() {
        let imported = read(&format!("1.93,1.93c,{}", ["1"; 40].join(",")));
        assert!(imported.sessions.is_empty());
        assert!(imported.unread[0].reason.contains("is not known"));
        let imported = read(&["a"; 27].join(","));
        assert!(imported.sessions.is_empty());
    }
}
