//! From parameters to the job that is measured.

use stiction_core::{
    Action, CallFlags, Counted, Create, Job, Reserve, Seed, SizeMix, Sizes, SyncEvery, SyncKind,
    ThinkTime,
};

use super::options::{Before, SyncPolicy, WriteAmount, WriteAndFsyncParameters};
use crate::passes::whole_files;

/// The old program ends a write at each multiple of this.
pub(super) const CLASSIC_CUT_BYTES: u64 = 1 << 20;

/// Bytes of each file.
pub(super) fn file_bytes(parameters: &WriteAndFsyncParameters) -> Option<u64> {
    match parameters.amount {
        WriteAmount::Bytes(bytes) if parameters.classic => Some(bytes),
        WriteAmount::Bytes(bytes) => Some(bytes / parameters.chunk_bytes * parameters.chunk_bytes),
        WriteAmount::Writes(writes) => writes.checked_mul(parameters.chunk_bytes),
    }
}

/// The writes.
pub(super) fn write(parameters: &WriteAndFsyncParameters, file_bytes: u64, seed: Seed) -> Job {
    let cut = cut(parameters);
    let (sync_every, sync_at_end) = syncs(parameters.sync);
    Job {
        name: "write".to_owned(),
        action: Action::Write,
        block_size_bytes: cut.map_or(parameters.chunk_bytes, |(cut_bytes, _)| cut_bytes),
        sizes: cut.map(|(_, chunk)| Sizes::same(SizeMix::One(chunk))),
        cut_bytes: cut.map(|(cut_bytes, _)| cut_bytes),
        regions: whole_files(parameters.files, file_bytes),
        direct: parameters.direct,
        write_sync: parameters.write_sync,
        call_flags: CallFlags {
            dontcache: parameters.dontcache,
            ..CallFlags::default()
        },
        sync_every,
        sync_at_end,
        create: match parameters.before {
            Before::Written => Create::Open,
            Before::Nothing | Before::Reserved => Create::Truncate,
        },
        reserve: match parameters.before {
            Before::Reserved => Reserve::Native,
            Before::Nothing | Before::Written => Reserve::None,
        },
        data: parameters.data,
        think: (parameters.pause_ns > 0).then_some(ThinkTime {
            pause_ns: parameters.pause_ns,
            spin_ns: 0,
            every_operations: Some(1),
            counted: Counted::default(),
            every_ns: None,
            pace_waits: false,
        }),
        buffer_offset_bytes: parameters.buffer_offset_bytes,
        open_in_time: true,
        seed,
        ..Job::default()
    }
}

/// Where the old program of `-m` cuts, and the size of its other writes; `None` where
/// the writes come out even.
fn cut(parameters: &WriteAndFsyncParameters) -> Option<(u64, u64)> {
    let by_size = matches!(parameters.amount, WriteAmount::Bytes(_));
    let chunk = parameters.chunk_bytes;
    let uneven = parameters.classic && by_size && !CLASSIC_CUT_BYTES.is_multiple_of(chunk);
    uneven.then(|| (CLASSIC_CUT_BYTES, chunk.min(CLASSIC_CUT_BYTES)))
}

fn syncs(policy: SyncPolicy) -> (Option<SyncEvery>, Option<SyncKind>) {
    match policy {
        SyncPolicy::Never => (None, None),
        SyncPolicy::AtEnd(kind) => (None, Some(kind)),
        SyncPolicy::Every { writes, kind } => (Some(SyncEvery { writes, kind }), Some(kind)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{Data, WriteSync};

    const KIB: u64 = 1024;
    const MIB: u64 = 1024 * KIB;

    fn parameters(classic: bool, amount: WriteAmount, chunk_bytes: u64) -> WriteAndFsyncParameters {
        WriteAndFsyncParameters {
            classic,
            amount,
            chunk_bytes,
            sync: SyncPolicy::AtEnd(SyncKind::Fsync),
            files: 2,
            before: Before::Nothing,
            direct: false,
            write_sync: WriteSync::None,
            dontcache: false,
            buffer_offset_bytes: 0,
            pause_ns: 0,
            data: Data::Zeros,
            may_fill: false,
        }
    }

    #[test]
    fn amounts_are_whole_writes() {
        let bytes = |classic, amount, chunk| file_bytes(&parameters(classic, amount, chunk));
        assert_eq!(
            bytes(true, WriteAmount::Bytes(3 * MIB), 768 * KIB),
            Some(3 * MIB)
        );
        let even = bytes(false, WriteAmount::Bytes(3 * MIB), 2 * MIB);
        assert_eq!(even, Some(2 * MIB));
        assert_eq!(bytes(true, WriteAmount::Writes(5), 2 * MIB), Some(10 * MIB));
        assert_eq!(bytes(true, WriteAmount::Writes(u64::MAX), 2), None);
    }

    /// As tried with the old program: a chunk above 1 MiB is cut to that, and 768 KiB
    /// alternate with 256. Counted writes may be longer.
    #[test]
    fn the_old_program_cuts_at_each_mebibyte() {
        let size = WriteAmount::Bytes(4 * MIB);
        assert_eq!(
            cut(&parameters(true, size, 768 * KIB)),
            Some((MIB, 768 * KIB))
        );
        assert_eq!(cut(&parameters(true, size, 4 * MIB)), Some((MIB, MIB)));
        assert_eq!(cut(&parameters(true, size, 8 * KIB)), None);
        assert_eq!(cut(&parameters(false, size, 768 * KIB)), None);
        assert_eq!(
            cut(&parameters(true, WriteAmount::Writes(2), 4 * MIB)),
            None
        );
    }
}
