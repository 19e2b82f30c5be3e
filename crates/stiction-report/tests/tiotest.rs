//! tiotest's two tables and its terse lines, byte for byte, as the program printed
//! them.

mod build;

use build::{Counted, cell, session, trial};
use stiction_core::Session;
use stiction_report::tiobench::{TiotestOptions, tiotest_terse, tiotest_verbose};

/// The run that is shown in the reference of tiotest's layouts.
fn tiotest_run() -> Session {
    let item = |amount_mib, rate, usr, sys, mean_ms, max_ms| {
        let time_s: f64 = amount_mib / rate;
        Counted {
            amount_mib,
            time_s,
            user_s: usr / 100.0 * time_s,
            system_s: sys / 100.0 * time_s,
            operations: amount_mib * 256.0,
            mean_ms,
            max_ms,
            over_2s_percent: 0.0,
            over_10s_percent: 0.0,
        }
    };
    let mut session = session();
    let phases = vec![
        item(32.0, 206.951, 0.0, 99.1, 0.030, 16.042).phase("write"),
        item(8.0, 268.961, 0.0, 51.3, 0.006, 5.897).phase("random_write"),
        item(32.0, 2926.651, 7.7, 177.8, 0.002, 4.061).phase("read"),
        item(8.0, 1899.465, 6.6, 112.2, 0.002, 2.021).phase("random_read"),
    ];
    session.trials = vec![trial(cell(2, 4096, 32), 0, phases)];
    session
}

#[test]
fn tiotests_tables_are_as_printed() {
    let expected = "\
Tiotest results for 2 concurrent io threads:
,----------------------------------------------------------------------.
| Item                  | Time     | Rate         | Usr CPU  | Sys CPU |
+-----------------------+----------+--------------+----------+---------+
| Write          32 MBs |    0.2 s | 206.951 MB/s |   0.0 %  |  99.1 % |
| Random Write    8 MBs |    0.0 s | 268.961 MB/s |   0.0 %  |  51.3 % |
| Read           32 MBs |    0.0 s | 2926.651 MB/s |   7.7 %  | 177.8 % |
| Random Read     8 MBs |    0.0 s | 1899.465 MB/s |   6.6 %  | 112.2 % |
`----------------------------------------------------------------------'
Tiotest latency results:
,-------------------------------------------------------------------------.
| Item         | Average latency | Maximum latency | % >2 sec | % >10 sec |
+--------------+-----------------+-----------------+----------+-----------+
| Write        |        0.030 ms |       16.042 ms |  0.00000 |   0.00000 |
| Random Write |        0.006 ms |        5.897 ms |  0.00000 |   0.00000 |
| Read         |        0.002 ms |        4.061 ms |  0.00000 |   0.00000 |
| Random Read  |        0.002 ms |        2.021 ms |  0.00000 |   0.00000 |
|--------------+-----------------+-----------------+----------+-----------|
| Total        |        0.014 ms |       16.042 ms |  0.00000 |   0.00000 |
`--------------+-----------------+-----------------+----------+-----------'

";
    assert_eq!(
        tiotest_verbose(&tiotest_run(), TiotestOptions::default()),
        expected
    );
    let first_frame: String = expected.split_inclusive('\n').take(9).collect();
    assert_eq!(
        tiotest_verbose(&tiotest_run(), TiotestOptions { latency: false }),
        first_frame
    );
}

/// Eight threads on a striped pool, as posted: the fields grow and break the frame.
#[test]
fn tiotests_fields_grow() {
    let mut session = session();
    let write = Counted {
        user_s: 0.374 * 1600.0 / 502.596,
        system_s: 12.901 * 1600.0 / 502.596,
        time_s: 1600.0 / 502.596,
        ..Counted {
            amount_mib: 1600.0,
            ..Counted::rate(1.0, 0.0)
        }
    };
    session.trials = vec![trial(cell(8, 4096, 1600), 0, vec![write.phase("write")])];
    let text = tiotest_verbose(&session, TiotestOptions::default());
    assert!(
        text.contains(
            "\n| Write        1600 MBs |    3.2 s | 502.596 MB/s |  37.4 %  | 1290.1 % |\n"
        )
    );
    assert!(
        !text.contains("| Read"),
        "a phase that did nothing has no row"
    );
    assert!(text.contains("\n| Total        |"));
}

#[test]
fn terse_lines_are_comma_separated_with_five_decimals() {
    let mut session = session();
    let write = Counted {
        amount_mib: 32.0,
        time_s: 0.15625,
        user_s: 0.0,
        system_s: 0.154,
        operations: 8192.0,
        mean_ms: 0.030_25,
        max_ms: 16.042,
        over_2s_percent: 0.012_207_031_25,
        over_10s_percent: 0.0,
    };
    let read = Counted {
        time_s: 0.01,
        mean_ms: 0.002,
        max_ms: 4.061,
        over_2s_percent: 0.0,
        ..write
    };
    let phases = vec![write.phase("write"), read.phase("read")];
    session.trials = vec![trial(cell(2, 4096, 32), 0, phases)];
    assert_eq!(
        tiotest_terse(&session),
        "\
write:32.00000,0.15625,0.00000,0.15400,0.03025,16.04200,0.01221,0.00000
rwrite:0.00000,0.00000,0.00000,0.00000,0.00000,0.00000,0.00000,0.00000
read:32.00000,0.01000,0.00000,0.15400,0.00200,4.06100,0.00000,0.00000
rread:0.00000,0.00000,0.00000,0.00000,0.00000,0.00000,0.00000,0.00000
total:0.01613,16.04200,0.00610,0.00000
"
    );
}

/// C prints halves to even on the binary value: 0.5 as 0, 1.5 as 2, 2.5 as 2.
#[test]
fn amounts_are_rounded_as_c_rounds() {
    for (amount_mib, text) in [(0.5, "   0"), (1.5, "   2"), (2.5, "   2"), (31.25, "  31")] {
        let counted = Counted {
            amount_mib,
            ..Counted::rate(1.0, 0.0)
        };
        let mut session = session();
        let phases = vec![counted.phase("random_write")];
        session.trials = vec![trial(cell(2, 4096, 32), 0, phases)];
        let table = tiotest_verbose(&session, TiotestOptions::default());
        assert!(
            table.contains(&format!("| Random Write {text} MBs |")),
            "{amount_mib}"
        );
    }
}
