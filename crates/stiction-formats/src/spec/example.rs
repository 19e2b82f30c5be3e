//! A specification that says what may stand in one.

/// A commented specification. Lines that begin with `#: ` read as well without that.
pub const EXAMPLE: &str = r#"# What `stiction run FILE` runs: every configuration once in each block, in an
# order that is drawn, so that no drift can take sides. The first configuration
# is the baseline. What may be left out stands behind `#: `.

# The measuring command of all configurations, and its arguments. Words are
# split as a shell would; a list takes them as they are: ["--size", "1G"].
workload = "tiobench"
arguments = "--size 1G --threads 1,8"

# How many blocks, and what ends it sooner.
#: blocks = 10
#: order = "random"                # or "abba"
#: until_precise = 1.5             # percent; true: half the smallest effect
#: budget = "20m"                  # no block begins that would not fit
#: looks = false                   # true: look at 8, 12, 16, 24 and 32 blocks
#: seed = 4711
#: label = "schedulers"
#: witness = "light"               # full: each request, a profile; none: nothing

# Around each trial, untimed, by a shell; a configuration may have its own.
#: prepare = "sync"
#: conclude = "true"

# For configurations that have a `command` in place of a workload:
#: metrics = ['tps[/s,more]=/tps = ([0-9.]+)/']
#: shell = false                   # whether commands are lines for a shell
#: warmup = 1                      # untimed runs before each timed one
#: drop_caches = false
#: fresh_directory = false         # run in an empty directory of its own
#: ignore_failure = false
#: limit = "10m"                   # a command that takes longer has failed

# What is done before trials; docs/preparation.md says more.
#   [preparation]
#   purge = true                    # discard: a granted device or scratch space
#   precondition = "4GiB"           # true: a whole device, 1GiB in a directory
#   precondition_max = "10m"
#   cache = "cold"                  # or "warm", before each measured phase
#   settle = "30s"                  # until the device is idle
#   spoilers = "wait"               # other I/O, scrubs, load; "warn", "refuse"
#   canary = 4                      # a short run every 4 blocks

# Settings of the machine in place of several configurations: every combination
# is one. They are set for each trial on scratch space in the directory, are
# checked, and put back.
#   scratch_size = "2GiB"           # above, beside `blocks`
#   scratch = { device = "/dev/sdx", serial = "S4EW" }   # or a disk, DESTROYED
#   [factors]
#   filesystem = ["ext4", "xfs"]
#   scheduler = ["none", "mq-deadline"]
#   mount_options = ["", "noatime"]
#   [[exclude]]
#   filesystem = "xfs"
#   scheduler = "none"

[[configuration]]
name = "mq-deadline"
directory = "/mnt/data"
prepare = "echo mq-deadline > /sys/block/vda/queue/scheduler"

[[configuration]]
name = "none"
directory = "/mnt/data"
arguments = "--nofrag"
prepare = "echo none > /sys/block/vda/queue/scheduler"
conclude = "echo mq-deadline > /sys/block/vda/queue/scheduler"
"#;
