//! Sizes of blocks and numbers of threads that a column was too narrow for.
//!
//! The driver prints both as text and cuts what does not fit: a block size of
//! 131072 becomes `13107` in the five columns of 0.3.3, 1024 threads become `102`.

/// What a column says, once it is known how much of it was cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// As printed.
    Whole(u64),
    /// Cut, and restored from the command that stands in the text.
    Restored(u64),
    /// Cut, and nothing says what it was.
    Cut(u64),
}

impl Column {
    /// The value, where it is known.
    pub(super) fn known(&self) -> Option<u64> {
        match *self {
            Self::Whole(value) | Self::Restored(value) => Some(value),
            Self::Cut(_) => None,
        }
    }
}

/// A block size printed in `width` columns; `asked` are the sizes of the commands.
pub(super) fn block(printed: u64, width: usize, asked: &[u64]) -> Column {
    // Disks and page caches take multiples of 512; 13107 and 104857 are none.
    column(printed, width, asked, |digits| !digits.is_multiple_of(512))
}

/// A number of threads printed in three columns.
pub(super) fn threads(printed: u64, asked: &[u64]) -> Column {
    // 1024, 2048 and 4096 threads leave 102, 204 and 409.
    column(printed, 3, asked, |digits| {
        matches!(digits, 102 | 204 | 409 | 819)
    })
}

fn column(printed: u64, width: usize, asked: &[u64], is_odd: fn(u64) -> bool) -> Column {
    let text = printed.to_string();
    if text.len() != width || asked.contains(&printed) {
        return Column::Whole(printed);
    }
    let mut longer: Vec<u64> = asked
        .iter()
        .copied()
        .filter(|asked| {
            let asked = asked.to_string();
            asked.len() > width && asked.starts_with(&text)
        })
        .collect();
    longer.sort_unstable();
    longer.dedup();
    match longer[..] {
        [one] => Column::Restored(one),
        [] if !is_odd(printed) => Column::Whole(printed),
        _ => Column::Cut(printed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_blocks_are_restored_from_the_command_alone() {
        assert_eq!(block(13107, 5, &[4096, 131_072]), Column::Restored(131_072));
        assert_eq!(block(13107, 5, &[]), Column::Cut(13107));
        assert_eq!(block(104_857, 6, &[]), Column::Cut(104_857));
        assert_eq!(
            block(10485, 5, &[1_048_576, 10_485_760]),
            Column::Cut(10485)
        );
        for whole in [4096, 16384, 32768, 65536] {
            assert_eq!(block(whole, 5, &[]), Column::Whole(whole));
        }
        assert_eq!(block(16384, 5, &[163_840]), Column::Restored(163_840));
        assert_eq!(block(16384, 5, &[16384, 163_840]), Column::Whole(16384));
    }

    #[test]
    fn cut_threads_are_seen() {
        assert_eq!(threads(102, &[1024]), Column::Restored(1024));
        assert_eq!(threads(102, &[]), Column::Cut(102));
        assert_eq!(threads(128, &[]), Column::Whole(128));
        assert_eq!(threads(8, &[8, 16]), Column::Whole(8));
    }
}
