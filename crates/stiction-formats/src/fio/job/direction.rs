//! One value for each direction.

use serde::{Deserialize, Serialize, Serializer};

/// One value for reads, one for writes, one for trims; in text one alone where all
/// are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(
    from = "DirectionText<T>",
    bound(deserialize = "T: Clone + Deserialize<'de>")
)]
pub struct PerDirection<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
    /// For trims.
    pub trim: T,
}

/// [`PerDirection`] as it is written.
#[derive(Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum DirectionText<T> {
    Each { read: T, write: T, trim: T },
    Same(T),
}

impl<T: Clone> From<DirectionText<T>> for PerDirection<T> {
    fn from(text: DirectionText<T>) -> Self {
        match text {
            DirectionText::Each { read, write, trim } => Self { read, write, trim },
            DirectionText::Same(value) => Self::same(value),
        }
    }
}

impl<T: Serialize + PartialEq> Serialize for PerDirection<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.read == self.write && self.write == self.trim {
            return self.read.serialize(serializer);
        }
        let Self { read, write, trim } = self;
        DirectionText::Each { read, write, trim }.serialize(serializer)
    }
}

impl PerDirection<u8> {
    /// 100 for each.
    pub(super) const ALL: Self = Self {
        read: 100,
        write: 100,
        trim: 100,
    };
}

impl<T: Clone> PerDirection<T> {
    /// The same for each.
    pub fn same(value: T) -> Self {
        Self {
            read: value.clone(),
            write: value.clone(),
            trim: value,
        }
    }
}

impl<T> PerDirection<T> {
    /// Each through `change`.
    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> PerDirection<U> {
        PerDirection {
            read: change(self.read),
            write: change(self.write),
            trim: change(self.trim),
        }
    }

    /// Reads, writes, trims.
    #[must_use]
    pub fn each(&self) -> [&T; 3] {
        [&self.read, &self.write, &self.trim]
    }
}
