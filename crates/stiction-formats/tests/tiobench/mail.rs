//! What mail and narrow columns do to a report.

use stiction_core::CaveatCode;

use super::*;

/// The figures of every phase, by cell and phase.
fn figures(session: &ImportedSession) -> Vec<(String, String, [f64; 4])> {
    let of = |trial: &Trial| {
        let cell = trial.cell.to_string();
        trial
            .phases
            .iter()
            .map(|phase| (cell.clone(), phase.name.clone(), four(phase)))
            .collect::<Vec<_>>()
    };
    session.trials.iter().flat_map(of).collect()
}

/// Breaks lines before column 72 at a blank, as mail programs do.
fn wrap(text: &str) -> String {
    let mut wrapped = String::new();
    for line in text.lines() {
        let mut rest = line;
        while rest.len() > 72 {
            let at = rest[..72].rfind(' ').filter(|&at| at > 40).unwrap_or(72);
            wrapped.push_str(rest[..at].trim_end());
            wrapped.push('\n');
            rest = rest[at..].trim_start();
        }
        wrapped.push_str(rest);
        wrapped.push('\n');
    }
    wrapped
}

fn quote(text: &str, mark: &str) -> String {
    text.lines().map(|line| format!("{mark}{line}\n")).collect()
}

#[test]
fn broken_and_quoted_reports_give_the_same_figures() {
    let whole = figures(&session(V0_3_3));
    assert_eq!(whole.len(), 4);
    for text in [
        wrap(V0_3_3),
        quote(V0_3_3, "> "),
        quote(&wrap(V0_3_3), "> "),
        wrap(&quote(V0_3_3, ">> ")),
        quote(&quote(V0_3_3, "> "), "AB> "),
        V0_3_3.replace('\n', "\r\n"),
    ] {
        let imported = read(&text);
        assert_eq!(figures(&imported.sessions[0]), whole, "{text}");
    }
}

#[test]
fn a_quoted_part_of_a_report_is_read_with_the_rest() {
    let at = V0_3_3.find("2.5.62 ").unwrap();
    let text = format!("{}{}", &V0_3_3[..at], quote(&V0_3_3[at..], "> "));
    assert_eq!(figures(&session(&text)), figures(&session(V0_3_3)));
}

#[test]
fn quoted_printable_is_undone() {
    let mut encoded = String::from("Content-Transfer-Encoding: quoted-printable\n\n");
    for line in V0_3_3.lines() {
        let line = line.replace('=', "=3D");
        for (nth, part) in line.as_bytes().chunks(72).enumerate() {
            let part = std::str::from_utf8(part).unwrap();
            encoded.push_str(if nth == 0 { "" } else { "=\n" });
            encoded.push_str(part);
        }
        encoded.push('\n');
    }
    let imported = read(&encoded);
    assert_eq!(figures(&imported.sessions[0]), figures(&session(V0_3_3)));
}

#[test]
fn prose_between_rows_is_listed_and_does_no_harm() {
    let text = V0_3_3
        .replace(
            "\n2.5.62                        252   4096   10    7.93",
            "\nLook at this:\n2.5.62                        252   4096   10    7.93",
        )
        .replace(
            "per second\n",
            "per second\nNo size specified, using 200 MB\n",
        );
    let imported = read(&text);
    assert_eq!(figures(&imported.sessions[0]), figures(&session(V0_3_3)));
    let listed: Vec<_> = imported
        .unread
        .iter()
        .map(|unread| (unread.line, unread.text.as_str()))
        .collect();
    assert_eq!(
        listed,
        [
            (6, "No size specified, using 200 MB"),
            (17, "Look at this:")
        ]
    );
}

#[test]
fn shifted_heads_and_spoilt_words_are_known() {
    let text = V0_3_3
        .replace("   Avg      Maximum ", "\t Avg   Maximum\t")
        .replace(">2s", "&2s")
        .replace("Rate      = megabytes per second", "Rate  = MB/secd . -T");
    assert_eq!(figures(&session(&text)), figures(&session(V0_3_3)));
}

/// What the narrow columns leave of a number is not taken for the number.
#[test]
fn figures_that_lost_digits_are_unknown_and_never_zero() {
    let row = |rate: &str, cpu: &str| {
        let text = format!(
            "Random Reads\n2.5.62 252 4096 10 {rate} {cpu} 4.146 2841.36 0.00000 0.00000 186\n"
        );
        let session = session(&text);
        let phase = &session.trials[0].phases[0];
        let lost = phase
            .caveats
            .iter()
            .filter(|caveat| caveat.code == CaveatCode::DigitsLost)
            .count();
        (
            phase.value(&metrics::RATE).map(|rate| rate / MIB),
            phase.value(&metrics::CPU_PERCENT),
            lost,
        )
    };
    assert_eq!(row("7.93", "4.271%"), (Some(7.93), Some(4.271), 0));
    assert_eq!(row("7.93", "1.2e-%"), (Some(7.93), None, 1));
    assert_eq!(row("7.93", "#####%"), (Some(7.93), None, 1));
    assert_eq!(row("######", "4.271%"), (None, Some(4.271), 1));
    assert_eq!(row("195.3", "105.%"), (Some(195.3), Some(105.0), 1));
    assert_eq!(row("204.6", "110 %"), (Some(204.6), Some(110.0), 0));
}

/// `105.%` is anything from 105 up to 106.
#[test]
fn a_cut_share_is_a_range() {
    let text = "Random Reads\n2.5.62 252 4096 10 195.30 105.% 4.1 2.3 0.0 0.0 186\n";
    let session = session(text);
    let share = session.trials[0].phases[0].measurement(&metrics::CPU_PERCENT);
    assert_eq!(share.unwrap().printed_range(), (105.0, 106.0));
}

#[test]
fn rows_that_cannot_be_read_are_listed_with_the_reason() {
    let text = "\
2.5.62 252 4096 10 7.93 4.271% 4.146 2841.36 0.00000 0.00000 186
Sequential Reads
2.5.62 252 4096 10 7.93 4.271% 4.146 2841.36 0.00000 0.00000 186
2.5.63 252 4096 10 7.93 4.271% 4.146 2841.36
2.5.64 252 4096 10 7.93 4.271% 4.146 2841.36 0.00000 oops 186
10 7.93 4.271% 4.146 2841.36 0.00000 0.00000 186
";
    let imported = read(text);
    let trials = &imported.sessions[0].trials;
    assert_eq!(trials.len(), 1);
    assert_eq!(imported.sessions[0].caveats[0].code, CaveatCode::PartlyRead);
    let reasons: Vec<_> = imported
        .unread
        .iter()
        .map(|unread| (unread.line, unread.reason.as_str()))
        .collect();
    assert_eq!(
        reasons,
        [
            (1, "a row of tiobench under no title that names its phase"),
            (4, "a row of tiobench without all of its figures"),
            (5, "`oops` is no figure"),
            (6, "no head says what stands before the rate"),
        ]
    );
}

#[test]
fn an_edited_efficiency_is_seen() {
    let text = V0_3_3.replace("0.00000   186", "0.00000   286");
    let session = session(&text);
    let read = session.trials[1].phase("read").unwrap();
    assert_eq!(read.caveats[0].code, CaveatCode::Inconsistent);
}

/// 8 threads cannot use 5594 % of CPU: each counted the work of all.
#[test]
fn cpu_counted_by_every_thread_is_divided() {
    let text = "\
Sequential Reads
2.6.9-nptl 2000 4096 8 400.00 5594.% 0.078 241.36 0.00000 0.00000 7
2.6.9-nptl 2000 4096 4 400.00 320.0% 0.039 241.36 0.00000 0.00000 125
2.6.9-nptl 2000 4096 1 400.00 80.00% 0.010 241.36 0.00000 0.00000 500
";
    let session = session(text);
    let share = |nth: usize| {
        let phase = &session.trials[nth].phases[0];
        let is_counted = phase
            .caveats
            .iter()
            .any(|caveat| caveat.code == CaveatCode::CpuCountedPerThread);
        (value(phase, &metrics::CPU_PERCENT), is_counted)
    };
    assert_eq!(share(0), (5594.0 / 8.0, true));
    assert_eq!(share(1), (80.0, true));
    assert_eq!(share(2), (80.0, false));
    let efficiency = value(&session.trials[0].phases[0], &metrics::CPU_EFFICIENCY);
    assert_eq!(efficiency, 8.0 * 7.0 * MIB);
}
