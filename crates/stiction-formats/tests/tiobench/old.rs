//! The report of 0.29 to 0.3.2, whose rows include the rows before them.

use stiction_core::CaveatCode;

use super::*;

const HEAD: &str = "\
Size is MB, BlkSz is Bytes, Read, Write, and Seeks are MB/secd . -T

         File   Block  Num  Seq Read    Rand Read   Seq Write  Rand Write
  Dir    Size   Size   Thr Rate (CPU%) Rate (CPU%) Rate (CPU%) Rate (CPU%)
------- ------ ------- --- ----------- ----------- ----------- -----------
";

/// Rates and shares of one phase as the driver prints them when the true rates are
/// `rates` and the true CPU seconds per second `shares`: running means, cut.
fn cumulative(rates: [f64; 4], shares: [f64; 4]) -> [(String, String); 4] {
    let (mut time, mut cpu) = (0.0, 0.0);
    std::array::from_fn(|nth| {
        time += 1.0 / rates[nth];
        cpu += shares[nth] / rates[nth];
        let text = |value: f64, width: usize| {
            let text = format!("{value}");
            text[..text.len().min(width)].to_owned()
        };
        (
            text((nth + 1) as f64 / time, 5),
            text(100.0 * cpu / time, 4),
        )
    })
}

fn report(size_mib: u64) -> String {
    let pairs = cumulative([10.0, 2.5, 5.0, 8.0], [0.5, 0.25, 0.2, 0.4]);
    let mut text = HEAD.to_owned();
    for ((rate, share), threads) in pairs.iter().zip([1, 2, 4, 8]) {
        let pair = format!("{rate} {share}%");
        text += &format!("   .     {size_mib}   4096    {threads}  {pair} {pair} {pair} {pair}\n");
    }
    text
}

fn rates(session: &ImportedSession, name: &str) -> Vec<f64> {
    let phases = session
        .trials
        .iter()
        .map(|trial| trial.phase(name).unwrap());
    phases
        .map(|phase| value(phase, &metrics::RATE) / MIB)
        .collect()
}

#[test]
fn a_row_is_four_phases() {
    let text = format!(
        "{HEAD}   .     2000   4096    1  58.87 54.9% 5.615 5.03% 44.40 44.2% 4.534 8.41%\n"
    );
    let session = session(&text);
    assert_eq!(session.layout, "tiobench-old");
    assert_eq!(session.stated["directory"], ".");
    let trial = trial(
        &session,
        "block_size_bytes=4096 file_size_bytes=2097152000 threads=1",
    );
    for (name, rate, share) in [
        ("read", 58.87, 54.9),
        ("random_read", 5.615, 5.03),
        ("write", 44.40, 44.2),
        ("random_write", 4.534, 8.41),
    ] {
        let phase = trial.phase(name).unwrap();
        assert_close(&[value(phase, &metrics::RATE) / MIB], &[rate]);
        assert_eq!(value(phase, &metrics::CPU_PERCENT), share);
        assert_eq!(phase.caveats, []);
    }
}

/// True rates of 10 and 2.5 print as 10 and 4.
#[test]
fn cumulative_rows_are_told_apart_when_that_is_certain() {
    let text = report(2048);
    assert!(
        text.contains("1  10 50%") && text.contains("2  4 30.0%"),
        "{text}"
    );
    let session = session(&text);
    let found = rates(&session, "read");
    for (found, truth) in found.iter().zip([10.0, 2.5, 5.0, 8.0]) {
        assert!((found / truth - 1.0).abs() < 0.01, "{found} is not {truth}");
    }
    let second = session.trials[1].phase("read").unwrap();
    assert!((value(second, &metrics::CPU_PERCENT) - 25.0).abs() < 1e-9);
    let rate = second.measurement(&metrics::RATE).unwrap();
    assert_eq!(rate.printed.as_deref(), Some("4"));
    assert!(
        rate.corrected
            .as_ref()
            .unwrap()
            .contains("mean over 2 rows")
    );
    assert_eq!(second.caveats[0].code, CaveatCode::CumulativeRows);
    // How many random operations a row did is not said, so they stay as printed.
    assert_eq!(rates(&session, "random_read")[1], 4.0);
    let with_command = format!("./tiobench.pl --size 2048\n{text}");
    assert!((rates(&super::session(&with_command), "random_read")[1] - 2.5).abs() < 0.01);
}

#[test]
fn cumulative_rows_stay_as_printed_when_it_is_not() {
    // 2643 MB are no whole number of MB for 2, 4 and 8 threads: amounts differ.
    let differing = session(&report(2643));
    assert_eq!(rates(&differing, "read")[1], 4.0);
    let codes = |nth: usize| {
        let caveats = &differing.trials[nth].phase("read").unwrap().caveats;
        caveats.iter().map(|caveat| caveat.code).collect::<Vec<_>>()
    };
    assert_eq!(codes(0), []);
    assert_eq!(codes(1), [CaveatCode::CumulativeRows]);
    // Without the row of one thread the first row may have had others before it.
    let text = report(2048);
    let first_row = text.lines().nth(5).unwrap();
    let cut = text.replace(&format!("{first_row}\n"), "");
    assert_eq!(rates(&session(&cut), "read")[0], 4.0);
    assert!(rates(&session(&cut), "read")[1] > 4.0);
}

#[test]
fn cut_figures_are_ranges() {
    let text = format!(
        "{HEAD}   .     2000   4096    1  1352. 105.% 5.615 5.03% 44.40 44.2% 4.534 8.41%\n"
    );
    let session = session(&text);
    let read = session.trials[0].phase("read").unwrap();
    let rate = read.measurement(&metrics::RATE).unwrap().printed_range();
    assert_eq!((rate.0 / MIB, rate.1 / MIB), (1352.0, 1353.0));
    assert_eq!(read.caveats[0].code, CaveatCode::DigitsLost);
}

#[test]
fn broken_rows_are_joined_and_half_ones_listed() {
    let text = format!(
        "{HEAD}   .     2000   4096    1  58.87 54.9% 5.615 5.03% 44.40\n44.2% 4.534 8.41%\n\
         \n   .     2000   4096    2  58.87 54.9% 5.615\n"
    );
    let imported = read(&text);
    assert_eq!(imported.sessions[0].trials.len(), 1);
    assert_eq!(imported.unread.len(), 1);
    assert_eq!(imported.unread[0].line, 9);
}

#[test]
fn several_directories_tell_rows_apart() {
    let row = "2000   4096    1  58.87 54.9% 5.615 5.03% 44.40 44.2% 4.534 8.41%";
    let session = session(&format!("{HEAD}  /a     {row}\n  /b     {row}\n"));
    let directories: Vec<_> = session
        .trials
        .iter()
        .map(|trial| trial.cell.get("directory").unwrap().to_string())
        .collect();
    assert_eq!(directories, ["/a", "/b"]);
}
