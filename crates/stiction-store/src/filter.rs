//! Which sessions a list is about.

/// Which sessions to list. Each condition that is set narrows the list; none
/// lists everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The label, exactly.
    pub label: Option<String>,
    /// What ran, exactly: `quick`, `tiobench`, or the layout of an imported table.
    pub workload: Option<String>,
    /// The beginning of the kernel's release: `6.18` finds `6.18.44`.
    pub kernel: Option<String>,
    /// A filesystem that one of the targets lies on: `ext4`.
    pub filesystem: Option<String>,
    /// Sessions that began at this time or later.
    pub since: Option<jiff::Timestamp>,
    /// Sessions that began before this time.
    pub until: Option<jiff::Timestamp>,
    /// So many of the latest ones at most.
    pub limit: Option<u32>,
}
