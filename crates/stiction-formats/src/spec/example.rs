//! A specification that says what may stand in one.

/// A commented specification. Lines that begin with `#: ` read as well without that.
pub const EXAMPLE: &str = r#"# What `stiction run FILE` runs: every workload in every configuration once in
# each block, in an order that is drawn, so that no drift can take sides. The
# first configuration is the baseline. What may be left out stands behind `#: `.
#
#   stiction plan FILE      what it would do, write and change
#   stiction schema         what may stand in it, for editors

# Where. Several `targets` in place of it: everything is run in each.
directory = "."

# How many blocks, and what ends it sooner.
#: blocks = 10                     # below 6 there is no verdict
#: order = "random"                # or "abba"
#: until_precise = 1.5             # percent; true: half the smallest effect
#: budget = "20m"                  # no block begins that would not fit
#: looks = false                   # true: look at 8, 12, 16, 24 and 32 blocks
#: seed = 4711
#: label = "filesystems"
#: witness = "light"               # "full": each request, a profile; or "none"

# Around each trial, untimed, by a shell:
#: prepare = "sync"
#: conclude = "true"

# For commands of yours, in place of workloads of stiction's:
#: metrics = ['tps[/s,more]=/tps = ([0-9.]+)/']
#: shell = false                   # whether commands are lines for a shell
#: warmup = 1                      # untimed runs before each timed one
#: drop_caches = false
#: fresh_directory = false         # run in an empty directory of its own
#: ignore_failure = false
#: limit = "10m"                   # a command that takes longer has failed

# Settings of the machine are tried on scratch space of this size, or on a whole
# device that is handed over and DESTROYED:
#: scratch_size = "1GiB"
#: scratch = { device = "/dev/sdx", serial = "S4EW" }

# What is done before trials; docs/preparation.md says more.
#: [preparation]
#: purge = true                    # discard: a granted device or scratch space
#: precondition = "4GiB"           # true: a whole device, 1GiB in a directory
#: precondition_max = "10m"
#: cache = "cold"                  # or "warm", before each measured phase
#: settle = "30s"                  # until the device is idle
#: spoilers = "wait"               # other I/O, scrubs, load; "warn", "refuse"
#: canary = 4                      # a short run every 4 blocks

# What is measured: a benchmark of stiction's, ...
[[workload]]
name = "threads"
run = "tiobench"
arguments = "--size 64M --threads 1,8"

# ... one job in the words of fio, ...
[[workload]]
name = "commit"
[workload.job]
rw = "randwrite"
bs = "8k"
size = "64M"
fdatasync = 1
number_ios = 500

# ... a job file of fio's (`fio = "jobs.fio"`), or a command of yours, which is
# timed and whose figures are read from what it prints:
#: [[workload]]
#: name = "own"
#: command = "./bench --short"

# Every combination of these levels is a configuration. Settings of the machine
# are made for each trial on scratch space in the directory, are checked, and
# put back; `workload.NAME` is an option that all workloads have. See
# docs/factors.md for all of them.
[factors]
filesystem = ["ext4", "xfs"]
mount_options = ["", "noatime"]
#: workload.size = ["32M", "64M"]

# Combinations that are left out, and some more; a factor that is not named is
# at any level here, and at its first there.
[[exclude]]
filesystem = "xfs"
mount_options = "noatime"
#: [[include]]
#: filesystem = "btrfs"
"#;
