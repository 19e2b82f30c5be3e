//! `stiction sync-methods`, and beside what pg_test_fsync prints.

use crate::lab::{Lab, assert_empty, assert_fits, assert_says, words};

#[test]
fn every_call_is_measured_and_nothing_is_left() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let short = ["--seconds", "10ms"];
    let typed = words([&"sync-methods", &short[0], &short[1], &directory.path()]);
    let text = lab.output(typed, 0);
    assert_fits(&text);
    let calls = [
        "fsync",
        "fdatasync",
        "open_sync",
        "rwf_dsync",
        "syncfs",
        "not: sync_file_range",
        "write_close_fsync",
    ];
    assert_says(&text, &calls);
    assert_says(&text, &["16 x 1 KiB", "durable writes of 8 KiB: "]);
    let json = lab.json(["show", "latest"], 0);
    let phases = json["results"][0]["phases"].as_array().unwrap();
    // The file, eight calls once and twice, four sizes, another four, two orders of
    // closing, and none at all.
    assert_eq!(phases.len(), 1 + 2 * 8 + 4 + 4 + 2 + 1);
    assert!(phases[1]["witnesses"]["layout"]["extents"].as_u64() >= Some(1));
    assert_empty(directory.path());
}

/// Lines without their figures: labels, units and where they stand.
fn skeleton(text: &str) -> Vec<String> {
    let blanked = text.lines().map(|line| match line.find(" ops/sec") {
        Some(at) => format!("{}{}", &line[..38], &line[at..at + 8]),
        None => line.to_owned(),
    });
    blanked.collect()
}

/// What pg_test_fsync 15.18 printed on an ext4, from the second line on.
const THEIRS: &str = "\
O_DIRECT supported on this platform for open_datasync and open_sync.

Compare file sync methods using one 8kB write:
(in wal_sync_method preference order, except fdatasync is Linux's default)
        open_datasync                       130.008 ops/sec    7692 usecs/op
        fdatasync                            61.692 ops/sec   16210 usecs/op
        fsync                                57.721 ops/sec   17325 usecs/op
        fsync_writethrough                              n/a
        open_sync                            44.613 ops/sec   22415 usecs/op

Compare file sync methods using two 8kB writes:
(in wal_sync_method preference order, except fdatasync is Linux's default)
        open_datasync                        31.823 ops/sec   31424 usecs/op
        fdatasync                            60.818 ops/sec   16443 usecs/op
        fsync                                56.413 ops/sec   17726 usecs/op
        fsync_writethrough                              n/a
        open_sync                             2.630 ops/sec  380168 usecs/op

Compare open_sync with different write sizes:
(This is designed to compare the cost of writing 16kB in different write
open_sync sizes.)
         1 * 16kB open_sync write             3.973 ops/sec  251706 usecs/op
         2 *  8kB open_sync writes            1.832 ops/sec  545990 usecs/op
         4 *  4kB open_sync writes           44.369 ops/sec   22538 usecs/op
         8 *  2kB open_sync writes           18.258 ops/sec   54769 usecs/op
        16 *  1kB open_sync writes            7.472 ops/sec  133828 usecs/op

Test if fsync on non-write file descriptor is honored:
(If the times are similar, fsync() can sync data written on a different
descriptor.)
        write, fsync, close                 123.298 ops/sec    8110 usecs/op
        write, close, fsync                 126.623 ops/sec    7897 usecs/op

Non-sync'ed 8kB writes:
        write                            648984.048 ops/sec       2 usecs/op
";

/// Its layout to the letter, but for figures; on a device with blocks of 512 bytes, as
/// theirs, so that the small direct writes run as well.
#[test]
fn root_the_classic_report_is_that_of_pg_test_fsync() {
    testkit::require_root!();
    let lab = Lab::new();
    let filesystem = testkit::LoopFilesystem::new(testkit::LoopKind::Ext4, 64 << 20);
    let typed = ["sync-methods", "--classic", "--seconds", "10ms"];
    let typed = typed.map(std::ffi::OsString::from).into_iter();
    let ours = lab.output(typed.chain([filesystem.path().into()]), 0);
    let (first, rest) = ours.split_once('\n').unwrap();
    assert_eq!(first, "0 seconds per test");
    assert_eq!(skeleton(rest), skeleton(THEIRS));
}
