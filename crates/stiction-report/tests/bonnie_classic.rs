//! Bonnie's layouts, byte for byte. Expected lines are those that the programs printed,
//! or follow by hand from their formulas; no expectation comes from this crate.

mod build;

use build::{session, trial, with};
use proptest::prelude::*;
use serde_json::json;
use stiction_core::{Cell, Phase, PhaseKind, Plan, Provenance, Seed, Session, metrics};
use stiction_report::bonnie::{
    Version, bonnie, bonnie_64, csv, html_plus_plus, html_row, is_shown, plus_plus,
};

/// A phase of so many bytes and operations in this time, with its CPU time and its
/// greatest latency.
fn phase(name: &str, bytes: u64, operations: u64, elapsed_s: f64, cpu_s: f64, max_s: f64) -> Phase {
    let mut phase = Phase::new(name, PhaseKind::Measure);
    phase.elapsed_ns = (elapsed_s * 1e9) as u64;
    with(
        phase,
        &[
            (metrics::RATE, bytes as f64 / elapsed_s, operations),
            (
                metrics::OPERATION_RATE,
                operations as f64 / elapsed_s,
                operations,
            ),
            (metrics::OPERATIONS, operations as f64, operations),
            (metrics::CPU_PERCENT, 100.0 * cpu_s / elapsed_s, 1),
            (metrics::LATENCY_MAX, max_s * 1e9, operations),
        ],
    )
}

const SIZE: u64 = 300 << 20;

/// 300 MiB, 4096 files; the block phases are too fast to be shown.
fn measured() -> Session {
    let mut session = session();
    session.header.plan = Some(Plan {
        workload: "bonnie".to_owned(),
        parameters: json!({"machine": "testbox", "seekers": 3}),
        seed: Seed(42),
        preparation: stiction_core::Preparation::default(),
        trials: Vec::new(),
    });
    let cell = Cell::new()
        .with("file_size_bytes", SIZE)
        .with("block_size_bytes", 8192u32)
        .with("threads", 1u32)
        .with("files", "4:2000:100/3");
    let files = |name, elapsed_s, cpu_s, max_s| phase(name, 0, 4096, elapsed_s, cpu_s, max_s);
    session.trials = vec![trial(
        cell,
        0,
        vec![
            phase("putc", SIZE, 38_400, 3.0, 1.119, 0.0999),
            phase("put_block", SIZE, 38_400, 0.49, 0.2, 0.1),
            phase("rewrite", SIZE, 38_400, 5.0, 0.5, 120.0),
            phase("getc", SIZE, 38_400, 3.1, 3.099, 0.000_001),
            phase("get_block", SIZE, 38_400, 0.3, 0.29, 0.001),
            phase("seeks", 4000 * 8192, 4000, 32.0, 0.32, 99.9),
            files("create_sequential", 3.0, 0.9, 0.012),
            files("stat_sequential", 0.1, 0.09, 0.001),
            files("delete_sequential", 2.0, 0.2, 0.000_5),
            files("create_random", 4.096, 1.0, 0.15),
            files("stat_random", 0.2, 0.1, 0.001),
            files("delete_random", 8.0, 0.81, 0.03),
        ],
    )];
    session
}

/// A table that was read, as a session.
fn imported(text: &str) -> Session {
    let imported = stiction_formats::read(text);
    assert_eq!(imported.unread, [], "{text}");
    let [read] = &imported.sessions[..] else {
        panic!("{} sessions", imported.sessions.len());
    };
    let mut session = session();
    session.header.provenance = Provenance::Imported {
        file: "a".to_owned(),
        layout: read.layout.clone(),
    };
    session.header.environment.kernel = None;
    session.trials = read.trials.clone();
    session
}

const HEAD_1996: &str = concat!(
    "              -------Sequential Output-------- ---Sequential Input-- --Random--\n",
    "              -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --Seeks---\n",
    "Machine    MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU  /sec %CPU\n",
);

/// 300 MiB are 307,200 KiB: in 3 s 102,400 a second and 1.119 s of CPU 37.3 %, in 0.49 s
/// 626,938.78, in 5 s 61,440, in 3.1 s 99,096.77, in 0.3 s 1,024,000; 4000 seeks in 32 s
/// are 125.
#[test]
fn bonnie_prints_what_was_measured_however_short() {
    assert_eq!(
        bonnie(&measured()).strip_prefix(HEAD_1996).unwrap(),
        "testbox   300 102400 37.3 626938 40.8 61440 10.0 99096 100.0 1024000 96.7 125.0  1.0\n"
    );
}

/// The 64-bit release: 300 MiB are 0 GB, rates are MiB a second.
#[test]
fn the_64_bit_release_has_its_own_units() {
    let report = bonnie_64(&measured());
    let lines: Vec<&str> = report.lines().collect();
    assert_eq!(
        lines[0],
        "\t\t-------Sequential Output-------- ---Sequential Input-- --Random--"
    );
    assert!(lines[2].ends_with("%CPU\t /sec %CPU"), "{}", lines[2]);
    assert_eq!(
        lines[3],
        "testbox     0 100.0 37.3 612.2 40.8  60.0 10.0  96.8 100.0 1000.0 96.7   125  1.0"
    );
}

/// The table in a mail of 2002, with the empty column of the machine in front: five
/// characters of it were cut off there.
#[test]
fn a_table_of_1996_goes_in_and_comes_out() {
    let row = "         1000  7197 27.4  8557 12.0  4273  7.3  8049 40.6  9049  8.0 111.5  1.3\n";
    let posted = format!("{HEAD_1996}{row}");
    assert_eq!(bonnie(&imported(&posted)), posted);
}

/// The report of 1.03e as it prints itself.
const REPORT_1_03: &str = "\
Version 1.03e       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
testbox        300M 97466  37 +++++ +++ +++++ +++ 136631  46 +++++ +++ +++++ +++
                    ------Sequential Create------ --------Random Create--------
                    -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                  4  1390  37 +++++ +++ +++++ +++   469  32 +++++ +++ +++++ +++
";
const CSV_1_03: &str = "testbox,300M,97466,37,+++++,+++,+++++,+++,136631,46,+++++,+++,+++++,+++,\
                        4,1390,37,+++++,+++,+++++,+++,469,32,+++++,+++,+++++,+++\n";

#[test]
fn text_and_csv_of_1_03_are_each_others() {
    let from_text = imported(REPORT_1_03);
    assert_eq!(plus_plus(&from_text, Version::V103e), REPORT_1_03);
    assert_eq!(csv(&from_text, Version::V103e), CSV_1_03);
    let from_csv = imported(CSV_1_03);
    assert_eq!(plus_plus(&from_csv, Version::V103e), REPORT_1_03);
    assert_eq!(csv(&from_csv, Version::V103e), CSV_1_03);
}

/// 2.00a for 300 MiB and 4096 files: its text, its line, and what `bon_csv2txt` should
/// make of it. The program itself prints 4096 in the place of each rate of files.
const REPORT_2_00: &str = "\
Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
testbox        300M  620k  31  259m  26 +++++ +++  955k  30 +++++ +++ +++++ +++
Latency             32715us   16149us   20058us   36873us   54256us   34174us
Version 2.00a       ------Sequential Create------ --------Random Create--------
testbox             -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
files:max:min        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
         4:2000:100  5350  22 +++++ +++   260   1   698  37 +++++ +++   281   1
Latency             24087us   20079us     151ms   60127us   24149us   20046us
";
const CSV_2_00: &str = "1.98,2.00a,testbox,1,1796073546,300M,,8192,5,620,31,264780,26,+++++,+++,\
                        955,30,+++++,+++,+++++,+++,4,2000,100,,,5350,22,+++++,+++,260,1,698,37,\
                        +++++,+++,281,1,32715us,16149us,20058us,36873us,54256us,34174us,24087us,\
                        20079us,151ms,60127us,24149us,20046us\n";

#[test]
fn a_line_of_2_00_becomes_its_report_and_a_line_again() {
    let session = imported(CSV_2_00);
    let report = plus_plus(&session, Version::V200a);
    assert_eq!(report, REPORT_2_00);
    let line = csv(&session, Version::V200a);
    let (ours, theirs): (Vec<&str>, Vec<&str>) =
        (line.split(',').collect(), CSV_2_00.split(',').collect());
    assert_eq!((ours.len(), theirs.len()), (50, 50));
    for (place, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        match place {
            1 => assert_eq!(*ours, "stiction"),
            // The seed and the seeks are of the run, not of its figures.
            4 | 7 => assert_eq!(*ours, ""),
            _ => assert_eq!(ours, theirs, "field {}", place + 1),
        }
    }
}

/// By hand, as for Bonnie; below half a second nothing is shown. 0.0999 s are 99,900 us,
/// 0.1 s 100 ms, 120 s 120 s. 4096 files in 3 s are 1365.3 a second.
#[test]
fn a_measured_session_has_every_column_of_each_version() {
    assert_eq!(
        plus_plus(&measured(), Version::V196),
        "\
Version  1.96       ------Sequential Output------ --Sequential Input- --Random-
Concurrency   1     -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
testbox        300M 102400  37 +++++ +++ 61440  10 99096  99 +++++ +++ 125.0   1
Latency             99900us     100ms      120s       1us    1000us   99900ms
Version  1.96       ------Sequential Create------ --------Random Create--------
testbox             -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
files:max:min        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
       4:2000:100/3  1365  30 +++++ +++  2048  10  1000  24 +++++ +++   512  10
Latency             12000us    1000us     500us     150ms    1000us   30000us
"
    );
    assert_eq!(
        csv(&measured(), Version::V196),
        "1.96,stiction,testbox,1,42,300M,,102400,37,+++++,+++,61440,10,99096,99,+++++,+++,125.0,1,\
         4,2000,100,3,,1365,30,+++++,+++,2048,10,1000,24,+++++,+++,512,10,\
         99900us,100ms,120s,1us,1000us,99900ms,12000us,1000us,500us,150ms,1000us,30000us\n"
    );
    let line = csv(&measured(), Version::V200a);
    assert_eq!(line.split(',').count(), 50);
    assert!(
        line.starts_with("1.98,stiction,testbox,1,42,300M,,4000,3,102400,37,"),
        "{line}"
    );
    assert_eq!(csv(&measured(), Version::V103e).split(',').count(), 27);
    let scaled = plus_plus(&measured(), Version::V200a);
    let row = scaled.lines().nth(3).unwrap();
    assert_eq!(
        row,
        "testbox        300M  100m  37 +++++ +++ 60.0m  10 96.8m  99 +++++ +++ 125.0   1"
    );
}

/// What was exported is read back to the last digit that was printed.
#[test]
fn our_own_lines_are_read_back() {
    for version in [Version::V103e, Version::V196, Version::V200a] {
        let line = csv(&measured(), version);
        let again = csv(&imported(&line), version);
        let seed = |line: &str| {
            line.replace(",42,300M,,4000,3,", ",,300M,,,3,")
                .replace(",42,", ",,")
        };
        assert_eq!(again, seed(&line), "{version:?}");
    }
}

#[test]
fn other_chunks_and_files_are_in_their_columns() {
    let mut session = measured();
    let cell = &mut session.trials[0].cell;
    *cell = cell
        .clone()
        .with("block_size_bytes", 16_384u32)
        .with("file_size_bytes", 4u64 << 30)
        .with("files", "16:link");
    let report = plus_plus(&session, Version::V103e);
    let lines: Vec<&str> = report.lines().collect();
    assert!(
        lines[2].starts_with("Machine   Size:chnk K/sec"),
        "{}",
        lines[2]
    );
    assert!(lines[3].starts_with("testbox      4G:16k "), "{}", lines[3]);
    assert!(lines[7].starts_with("            16:link "), "{}", lines[7]);
    assert!(lines[6].starts_with("              files "), "{}", lines[6]);
    let line = csv(&session, Version::V196);
    assert!(line.contains(",4G,16k,102400,"), "{line}");
    assert!(line.contains(",16,link,,,,1365,"), "{line}");
    let line = csv(&session, Version::V103e);
    assert!(line.starts_with("testbox,4G:16k,102400,"), "{line}");
    assert!(line.contains(",16:link,1365,"), "{line}");
}

#[test]
fn a_part_that_did_not_run_is_not_there() {
    let mut session = measured();
    session.trials[0].phases.drain(..6);
    let report = plus_plus(&session, Version::V103e);
    let lines: Vec<&str> = report.lines().collect();
    assert_eq!(
        lines[0],
        "Version 1.03e       ------Sequential Create------ --------Random Create--------"
    );
    assert!(lines[1].starts_with("testbox             -Create--"));
    assert_eq!(lines.len(), 4);
    assert_eq!(csv(&session, Version::V196).split(',').count(), 48);
    session.trials[0].phases.clear();
    assert!(!is_shown(&session));
    assert_eq!(plus_plus(&session, Version::V200a), "");
}

#[test]
fn html_has_a_cell_for_each_figure() {
    let row = html_row(&measured());
    assert_eq!(row.matches("<TD>").count(), 14);
    assert!(row.starts_with("<TR><TD>testbox</TD><TD>300</TD><TD>102400</TD><TD>37.3</TD>"));

    let one = html_plus_plus(&measured());
    assert!(
        !one.contains("bgcolor"),
        "a single run has no best and no worst"
    );
    let mut two = measured();
    let mut slower = two.trials[0].clone();
    slower.repetition = 1;
    slower.phases[0] = phase("putc", SIZE, 38_400, 12.0, 1.119, 0.0999);
    two.trials.push(slower);
    let page = html_plus_plus(&two);
    assert!(page.contains("<td bgcolor=\"#00FF00\">100</td>"), "{page}");
    assert!(page.contains("<td bgcolor=\"#FF0000\">25</td>"), "{page}");
    two.trials[0].phases.retain(|phase| phase.name == "putc");
    two.trials.truncate(1);
    let page = html_plus_plus(&two);
    assert_eq!(
        page.matches("<th colspan=\"2\">").count(),
        1,
        "empty columns are hidden"
    );
}

proptest! {
    /// Whatever was measured: the line is read back, and says the same again. Text does
    /// so too, where nothing in it is known to be wrong.
    #[test]
    fn lines_and_tables_invert(
        figures in prop::collection::vec(
            (0.5f64..1e4, 0u64..1 << 24, 0.0f64..2.0, 1e-7f64..200.0),
            12,
        ),
    ) {
        let mut session = measured();
        for (phase, (elapsed_s, chunks, cpu, max_s)) in
            session.trials[0].phases.iter_mut().zip(&figures)
        {
            let name = phase.name.clone();
            let operations = chunks + 1;
            *phase = self::phase(
                &name,
                operations * 8192,
                operations,
                *elapsed_s,
                cpu * elapsed_s,
                *max_s,
            );
        }
        for version in [Version::V103e, Version::V196, Version::V200a] {
            let line = csv(&session, version);
            let again = csv(&imported(&line), version);
            let fields = |line: &str| -> Vec<String> {
                line.split(',').map(str::to_owned).collect()
            };
            for (place, (first, second)) in fields(&line).iter().zip(fields(&again)).enumerate() {
                // The seed and the number of seeks are of the run, not of its figures.
                let is_of_the_run = version > Version::V103e && [4, 7].contains(&place);
                if !is_of_the_run || version == Version::V196 && place == 7 {
                    prop_assert_eq!(first, &second, "field {} of {}", place + 1, line);
                }
            }
        }
        let table = plus_plus(&session, Version::V103e);
        prop_assert_eq!(plus_plus(&imported(&table), Version::V103e), table);
        let table = bonnie(&session);
        prop_assert_eq!(bonnie(&imported(&table)), table);
    }
}
