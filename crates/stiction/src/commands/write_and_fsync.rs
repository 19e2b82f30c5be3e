//! `stiction write-and-fsync`.

use stiction_core::{Data, SyncKind, WriteSync};
use stiction_report::Judged;
use stiction_report::ext3_tools::{millisecond_histogram, times, write_and_fsync};
use stiction_suite::write_and_fsync::{Before, SyncPolicy, WriteAmount};
use stiction_suite::{Place, WriteAndFsync, WriteAndFsyncOptions};

use super::meant::Meant;
use super::recorded::Recorded;
use super::sizes::{optional_bytes, size_bytes};
use super::time_read;
use crate::arguments::{Content, WriteAndFsyncArguments};
use crate::failure::Failure;

/// What the words mean.
///
/// # Errors
/// For a size that does not read.
pub(super) fn meant(typed: &WriteAndFsyncArguments) -> Result<Meant, Failure> {
    let directories = typed.directories.iter().cloned();
    let layout = time_read::time_layout(typed.time, typed.classic);
    let with_histogram = typed.histogram;
    Ok(Meant::new(
        WriteAndFsync {
            options: options(typed)?,
        },
        directories.map(Place::Directory).collect(),
        &typed.recording,
        command(typed),
        move |session, style| match layout {
            None => write_and_fsync(&Judged::examine(session), style),
            Some(layout) if with_histogram => {
                millisecond_histogram(session) + &times(session, layout)
            }
            Some(layout) => times(session, layout),
        },
    ))
}

fn options(typed: &WriteAndFsyncArguments) -> Result<WriteAndFsyncOptions, Failure> {
    let chunk_unit = if typed.kib { 1 << 10 } else { 1 };
    let amount = match (&typed.size, typed.count) {
        (Some(size), _) => Some(WriteAmount::Bytes(size_bytes(size, 1 << 20)?)),
        (None, Some(count)) => Some(WriteAmount::Writes(count)),
        (None, None) => None,
    };
    Ok(WriteAndFsyncOptions {
        classic: typed.classic,
        amount,
        chunk_bytes: optional_bytes(typed.chunk.as_ref(), chunk_unit)?,
        sync: sync(typed),
        files: typed.files,
        before: match (typed.overwrite, typed.reserve) {
            (true, _) => Before::Written,
            (false, true) => Before::Reserved,
            (false, false) => Before::Nothing,
        },
        direct: typed.direct,
        write_sync: match (typed.sync, typed.dsync) {
            (true, _) => WriteSync::Sync,
            (false, true) => WriteSync::DataSync,
            (false, false) => WriteSync::None,
        },
        dontcache: typed.dontcache,
        buffer_offset_bytes: typed.align.unwrap_or(0),
        pause_ns: u64::from(typed.pause.unwrap_or(0)) * 1000,
        data: typed.content.map(|content| match content {
            Content::Unique => Data::Unique,
            Content::Zeros => Data::Zeros,
        }),
        runs: typed.runs,
        quick: typed.quick,
        may_fill: typed.recording.may_fill,
    })
}

fn sync(typed: &WriteAndFsyncArguments) -> Option<SyncPolicy> {
    let kind = if typed.fdatasync {
        SyncKind::Fdatasync
    } else {
        SyncKind::Fsync
    };
    match typed.sync_every {
        Some(writes) => Some(SyncPolicy::Every { writes, kind }),
        None if typed.no_sync => Some(SyncPolicy::Never),
        None if typed.fsync || typed.fdatasync => Some(SyncPolicy::AtEnd(kind)),
        None => None,
    }
}

fn command(typed: &WriteAndFsyncArguments) -> Vec<String> {
    Recorded::new("write-and-fsync")
        .switch("--classic", typed.classic)
        .switch("--quick", typed.quick)
        .value("--size", typed.size.as_ref())
        .value("--count", typed.count)
        .value("--chunk", typed.chunk.as_ref())
        .switch("-k", typed.kib)
        .value("--files", typed.files)
        .value("--runs", typed.runs)
        .switch("--fsync", typed.fsync)
        .switch("--fdatasync", typed.fdatasync)
        .switch("--no-sync", typed.no_sync)
        .value("--sync-every", typed.sync_every)
        .switch("--direct", typed.direct)
        .switch("--sync", typed.sync)
        .switch("--dsync", typed.dsync)
        .switch("--dontcache", typed.dontcache)
        .switch("--overwrite", typed.overwrite)
        .switch("--reserve", typed.reserve)
        .value("--align", typed.align)
        .value("--pause", typed.pause)
        .switch("--content=zeros", typed.content == Some(Content::Zeros))
        .switch("--content=unique", typed.content == Some(Content::Unique))
        .switch("--may-fill", typed.recording.may_fill)
        .words()
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::arguments::{Arguments, Command};

    fn options(words: &str) -> WriteAndFsyncOptions {
        let words = format!("stiction write-and-fsync {words}");
        let parsed = Arguments::try_parse_from(words.split_whitespace()).unwrap();
        let Command::WriteAndFsync(typed) = parsed.command else {
            panic!("{words}");
        };
        super::options(&typed).unwrap()
    }

    /// The call of July 2002, and the one with its chunk in KiB.
    #[test]
    fn the_old_letters_mean_what_they_meant() {
        let meant = options("--classic -m 4000 -f -o -s -a 16 /mnt");
        assert_eq!(meant.amount, Some(WriteAmount::Bytes(4000 << 20)));
        assert_eq!(meant.sync, Some(SyncPolicy::AtEnd(SyncKind::Fsync)));
        assert_eq!((meant.direct, meant.write_sync), (true, WriteSync::Sync));
        assert_eq!(meant.buffer_offset_bytes, 16);
        assert_eq!(options("-n 10 -S 250").pause_ns, 250_000);
        let meant = options("-k -c 768 -n 10 -O");
        assert_eq!(meant.chunk_bytes, Some(768 << 10));
        assert_eq!(meant.amount, Some(WriteAmount::Writes(10)));
        assert_eq!((meant.before, meant.sync), (Before::Written, None));
    }

    #[test]
    fn sizes_with_units_are_what_they_say() {
        let meant = options("--size 2G --chunk 64K --sync-every 8 --fdatasync");
        assert_eq!(meant.amount, Some(WriteAmount::Bytes(2 << 30)));
        assert_eq!(meant.chunk_bytes, Some(64 << 10));
        let every = SyncPolicy::Every {
            writes: 8,
            kind: SyncKind::Fdatasync,
        };
        assert_eq!(meant.sync, Some(every));
    }
}
