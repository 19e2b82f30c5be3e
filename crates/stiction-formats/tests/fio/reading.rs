//! Lines, sections, includes, substitution, command lines.

use stiction_formats::fio::{Amount, Bytes, CommandLine, JobFile, parse, resolve};

use crate::{all, around, one, refused, with, wrong};

#[test]
fn globals_count_for_the_jobs_after_them_and_later_settings_win() {
    let resolved = all("\
[global]
size=1m
bs=4k
[a]
[b]
bs=8k
[global]
bs=16k
iodepth=3
[c]
iodepth=4
iodepth=5
")
    .unwrap();
    let jobs: Vec<_> = resolved
        .jobs
        .iter()
        .map(|resolved| {
            let job = &resolved.job;
            let block = job.block.size.read.least_bytes();
            (job.name.as_str(), block, job.depth.in_flight)
        })
        .collect();
    assert_eq!(jobs, [("a", 4096, 1), ("b", 8192, 1), ("c", 16384, 5)]);
}

#[test]
fn comments_end_lines_and_blanks_do_not_matter() {
    let job = one(
        "; a comment\n# another\n\n  [ spaced name ]  ; c\n\t size=1m # c\n  description=a b\n",
    );
    assert_eq!(job.name, "spaced name");
    assert_eq!(job.extent.size, Some(Amount::Bytes(Bytes(1 << 20))));
    assert_eq!(job.description.as_deref(), Some("a b"));
}

#[test]
fn a_comment_sign_ends_values_too_as_in_fio() {
    assert_eq!(with("filename=/tmp/a;b").targets.names, ["/tmp/a"]);
}

#[test]
fn carriage_returns_are_blanks() {
    assert_eq!(
        one("[x]\r\nsize=1m\r\nbs=8k\r\n")
            .block
            .size
            .read
            .least_bytes(),
        8192
    );
}

#[test]
fn every_message_names_file_line_and_column() {
    assert_eq!(
        wrong("[x]\nsize=1m\n  iodeph=4\n"),
        "t.fio:3:3: `iodeph` is no option of fio; did you mean `iodepth`?"
    );
    assert_eq!(
        wrong("[x]\nsize=1m\n  iodepth=many\n"),
        "t.fio:3:11: iodepth=many: a number is missing; write a whole number from 1 to 65536"
    );
    assert_eq!(
        wrong("size=1m\n"),
        "t.fio:1:1: `size=1m` stands before the first section; \
         write [global] or [name of a job] above it"
    );
    assert!(wrong("[x\n").starts_with("t.fio:1:1: `[x` is not a section"));
    assert!(wrong("[]\n").starts_with("t.fio:1:1: `[]` is not a section"));
    assert!(refused("what is this").starts_with("t.fio:3:1: `what is this` is neither"));
    assert!(refused("bs= 4k").contains("blanks around its `=`, which fio misreads; write bs=4k"));
    assert!(refused("rw = read").contains("write rw=read"));
}

#[test]
fn a_file_without_jobs_is_an_error() {
    assert_eq!(
        wrong("[global]\nbs=4k\n"),
        "t.fio has no job: write a section [name] that is not [global]"
    );
    assert!(wrong("").contains("has no job"));
}

#[test]
fn all_mistakes_are_told_at_once_and_those_of_globals_once() {
    let told = wrong("[global]\nbogus=1\n[a]\nbs=0\n[b]\ndirect=yes\n");
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 3, "{told}");
    assert!(lines[0].starts_with("t.fio:2:1: `bogus`"));
    assert!(lines[1].starts_with("t.fio:4:4: bs=0: it is too small"));
    assert!(lines[2].starts_with("t.fio:6:8: direct=yes: it is neither 0 nor 1"));
}

#[test]
fn includes_stand_in_place() {
    let resolved = all("include common.inc\n[mine]\nsize=2m\n").unwrap();
    let names: Vec<_> = resolved.jobs.iter().map(|r| r.job.name.as_str()).collect();
    assert_eq!(names, ["included", "mine"]);
    assert_eq!(resolved.jobs[1].job.block.size.read.least_bytes(), 65536);
    let place = resolved.jobs[1].place_of("bs").to_string();
    assert_eq!(place, "common.inc:2:1");
    assert_eq!(one("[x]\nsize=1m\ninclude bare.inc\n").depth.in_flight, 7);
}

#[test]
fn includes_that_fail_or_turn_in_circles_are_errors() {
    assert_eq!(
        wrong("[x]\ninclude gone.inc\n"),
        "t.fio:2:1: cannot include gone.inc: no such file (asked for by t.fio)"
    );
    assert!(wrong("include self.inc\n").contains("does a file include itself?"));
    assert_eq!(
        wrong("include outer.inc\n"),
        "sub/outer.inc:1:1: cannot include gone.inc: no such file (asked for by sub/outer.inc)"
    );
    assert!(wrong("include 0\n").contains("more than 1000 files"));
}

#[test]
fn variables_and_the_machine_are_put_in() {
    let job = with("filename=${DEVICE}1\nnumjobs=$ncpus\nbs=$pagesize\nio_size=8*$mb_memory");
    assert_eq!(job.targets.names, ["/dev/sdz1"]);
    assert_eq!(job.clones, 6);
    assert_eq!(job.block.size.read.least_bytes(), 16384);
    assert_eq!(job.extent.io, Some(Amount::Bytes(Bytes(24_000))));
    assert_eq!(
        with("filename_format=$jobname.$jobnum")
            .targets
            .name_format
            .as_deref(),
        Some("$jobname.$jobnum")
    );
    assert_eq!(
        refused("filename=/dev/${DISK}"),
        "t.fio:3:15: the environment variable DISK is not set; set it before the run"
    );
    assert!(refused("filename=${DISK").contains("a `${` is not closed"));
}

#[test]
fn arithmetic_is_computed() {
    let job = with("numjobs=(1+2)*2\nio_size=(4*1k)+(1m/2)\nruntime=(2*30)");
    assert_eq!(job.clones, 6);
    assert_eq!(
        job.extent.io,
        Some(Amount::Bytes(Bytes(4096 + (512 << 10))))
    );
    assert_eq!(job.time.limit.map(|limit| limit.0), Some(60_000_000_000));
}

fn line(arguments: &[&str]) -> CommandLine {
    let arguments: Vec<String> = arguments.iter().map(|&a| a.to_owned()).collect();
    CommandLine::parse(&arguments, &around()).unwrap()
}

#[test]
fn command_lines_start_a_job_at_each_name() {
    let line = line(&[
        "--size=1m",
        "--direct=1",
        "--name=a",
        "--rw=randread",
        "--name=b",
        "--bs=8k",
        "--direct=0",
        "--iodepth",
        "9",
        "--group_reporting",
        "--output-format=json",
        "--output",
        "o.json",
    ]);
    let program: Vec<_> = line
        .program
        .iter()
        .map(|setting| (setting.name.as_str(), setting.value.as_deref()))
        .collect();
    assert_eq!(
        program,
        [("output-format", Some("json")), ("output", Some("o.json"))]
    );
    let resolved = resolve(&JobFile::default().with(line)).unwrap();
    let [a, b] = &resolved.jobs[..] else {
        panic!("two jobs")
    };
    assert!(a.job.direct && !b.job.direct);
    assert_eq!((a.job.name.as_str(), b.job.name.as_str()), ("a", "b"));
    assert_eq!(b.job.depth.in_flight, 9);
    assert!(b.job.report.by_group && !a.job.report.by_group);
    assert_eq!(b.place_of("bs").to_string(), "argument 6, character 3");
}

#[test]
fn the_command_line_beats_the_file() {
    let line = line(&["--bs=32k", "file.fio"]);
    assert_eq!(line.files, ["file.fio"]);
    let file = parse(
        "file.fio",
        "[global]\nbs=4k\n[a]\nsize=1m\nbs=8k\n",
        &around(),
    )
    .unwrap();
    let resolved = resolve(&file.with(line)).unwrap();
    assert_eq!(resolved.jobs[0].job.block.size.read.least_bytes(), 32768);
}

#[test]
fn sections_are_chosen_by_name() {
    let text = "[global]\nsize=1m\n[a]\n[b]\n[c]\n";
    let file = parse("t.fio", text, &around()).unwrap();
    let chosen = file
        .clone()
        .only(&["c".to_owned(), "a".to_owned()])
        .unwrap();
    let names: Vec<_> = resolve(&chosen)
        .unwrap()
        .jobs
        .into_iter()
        .map(|r| r.job.name)
        .collect();
    assert_eq!(names, ["a", "c"]);
    let error = file.only(&["d".to_owned()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the selection `d` has no job: the jobs are a, b, c"
    );
}
