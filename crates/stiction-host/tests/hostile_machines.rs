//! Whatever the kernel's files hold, reading them gives an answer.

use proptest::prelude::*;
use stiction_core::{Environment, Tool};
use stiction_host::{FactOptions, Roots, observe_environment_in};
use testkit::machine::lay_out;

/// Text made of the pieces that the kernel's files are made of.
fn kernel_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just(" ".to_owned()),
        Just("\n".to_owned()),
        Just(":".to_owned()),
        Just("-".to_owned()),
        Just("/".to_owned()),
        Just("\\040".to_owned()),
        Just("max".to_owned()),
        Just("8:0".to_owned()),
        Just("rbps=1".to_owned()),
        Just("cpu".to_owned()),
        Just("18446744073709551615".to_owned()),
        any::<u64>().prop_map(|number| number.to_string()),
        "[a-z0-9,.=()]{0,6}",
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// The files that are read without regard to their form.
const FILES: &[&str] = &[
    "proc/cmdline",
    "proc/cpuinfo",
    "proc/meminfo",
    "proc/self/cgroup",
    "proc/self/limits",
    "proc/self/mountinfo",
    "proc/self/status",
    "proc/sys/kernel/osrelease",
    "proc/swaps",
    "sys/devices/system/cpu/online",
    "sys/fs/cgroup/cpu.max",
    "sys/fs/cgroup/io.max",
    "sys/fs/cgroup/memory.max",
    "sys/class/block/sda/dev",
    "sys/class/block/sda/size",
    "etc/os-release",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_environment_is_observed_of_any_files(
        texts in prop::collection::vec(kernel_text(), FILES.len()),
    ) {
        let top = lay_out("/sys/dev/block/8:0 -> ../../class/block/sda\n");
        for (file, text) in FILES.iter().zip(&texts) {
            let path = top.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let roots = Roots::at(top.path());
        let targets = [std::path::Path::new("/"), std::path::Path::new("/dev/sda")];
        let found = observe_environment_in(&roots, &targets, Tool::default(), FactOptions::default());
        let text = serde_json::to_string(&found).unwrap();
        let back: Environment = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(back, found);
    }
}
