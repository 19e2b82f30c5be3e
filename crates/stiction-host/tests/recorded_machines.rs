//! Machines that are not this one: what is found out of their files.

use std::path::Path;

use stiction_core::{Digest, Environment, LayerKind, TargetStack, Tool};
use stiction_host::{FactOptions, Roots, observe_environment_in, observe_target_in};
use testkit::machine::lay_out;

const KEEP: FactOptions = FactOptions {
    keep_serials: true,
    keep_host_name: true,
};

fn environment(machine: &str, targets: &[&str], options: FactOptions) -> Environment {
    let top = lay_out(machine);
    let targets: Vec<&Path> = targets.iter().map(Path::new).collect();
    observe_environment_in(&Roots::at(top.path()), &targets, Tool::default(), options)
}

fn stack(machine: &str, target: &str) -> TargetStack {
    let top = lay_out(machine);
    let options = FactOptions::default();
    observe_target_in(&Roots::at(top.path()), Path::new(target), options).unwrap()
}

fn names(stack: &TargetStack) -> Vec<&str> {
    stack
        .layers
        .iter()
        .map(|layer| layer.name.as_str())
        .collect()
}

fn devices(stack: &TargetStack) -> &[String] {
    &stack.filesystem.as_ref().unwrap().devices
}

#[test]
fn a_desktop_with_an_nvme_drive() {
    let found = environment(
        include_str!("machines/nvme-ext4.tree"),
        &["/home/ada"],
        FactOptions::default(),
    );
    let kernel = found.kernel.unwrap();
    assert_eq!(kernel.release, "6.1.0-28-amd64");
    assert_eq!(kernel.architecture, "x86_64");
    assert_eq!(kernel.tainted, Some(4097));
    assert_eq!(
        kernel.command_line,
        ["mitigations=off", "nvme.poll_queues=4"]
    );
    assert_eq!(kernel.config_digest, Some(Digest::of(b"CONFIG_64BIT=y\n")));

    let cpu = found.cpu.unwrap();
    assert_eq!(cpu.model, "Intel(R) Core(TM) i7-8700 CPU @ 3.20GHz");
    assert_eq!((cpu.online, cpu.allowed), (12, 4));
    assert_eq!(cpu.governor.as_deref(), Some("powersave"));
    assert_eq!(cpu.mitigations["meltdown"], "Vulnerable");
    let memory = found.memory.unwrap();
    assert_eq!(memory.total_bytes, 32_768_000 * 1024);
    assert_eq!(memory.transparent_huge_pages.as_deref(), Some("always"));
    assert_eq!(memory.writeback["dirty_ratio"], "20");

    // The smallest of the group and its parents; `memory.high` slows down earlier
    // than `memory.max` forbids.
    assert_eq!(found.limits.memory_bytes, Some(4 << 30));
    assert_eq!(found.limits.cpu_percent, Some(150));
    assert_eq!(found.limits.file_size_bytes, None);
    assert_eq!(found.limits.locked_memory_bytes, Some(8_388_608));
    let [limit] = &found.limits.io[..] else {
        panic!("{:?}", found.limits.io);
    };
    assert_eq!(limit.device_number, (259, 0));
    assert_eq!(limit.read_bytes_per_s, Some(100 << 20));
    assert_eq!(limit.write_operations_per_s, Some(1000));
    assert_eq!(
        limit.source,
        "io.max of /sys/fs/cgroup/user.slice/user-1000.slice"
    );

    assert_eq!(found.virtualisation.hypervisor, None);
    assert_eq!(found.virtualisation.container, None);
    assert_eq!(
        found.distribution.as_deref(),
        Some("Debian GNU/Linux 12 (bookworm)")
    );
    assert_eq!(found.host_name, None);

    let stack = &found.targets[0];
    let filesystem = stack.filesystem.as_ref().unwrap();
    assert_eq!(filesystem.kind, "ext4");
    assert_eq!(filesystem.filesystem_options, ["rw", "delalloc", "barrier"]);
    assert_eq!(filesystem.devices, ["nvme0n1p2"]);
    assert_eq!(names(stack), ["nvme0n1p2", "nvme0n1"]);
    let [partition, disk] = &stack.layers[..] else {
        panic!()
    };
    assert_eq!(partition.kind, LayerKind::Partition);
    assert_eq!(partition.physical_block_size_bytes, 4096);
    assert_eq!(disk.kind, LayerKind::Disk);
    assert_eq!(disk.size_bytes, 1_000_204_886_016);
    assert_eq!(disk.model.as_deref(), Some("Samsung SSD 970 EVO 1TB"));
    assert_eq!(disk.firmware.as_deref(), Some("2B2QEXE7"));
    assert_eq!(disk.serial, None, "kept only when asked for");
    assert_eq!(disk.link.as_deref(), Some("PCIe 8.0 GT/s x4"));
    // 8 GT/s x 4 lanes x 128/130 / 8 bits
    assert_eq!(disk.link_bytes_per_s, Some(3_938_461_538));
    assert_eq!(disk.scheduler.as_deref(), Some("none"));
    assert_eq!(disk.rotational, Some(false));
}

#[test]
fn serial_numbers_and_the_host_s_name_are_kept_when_asked_for() {
    let machine = include_str!("machines/nvme-ext4.tree");
    let found = environment(machine, &["/"], KEEP);
    assert_eq!(found.host_name.as_deref(), Some("desk"));
    let serial = found.targets[0].layers[1].serial.as_deref();
    assert_eq!(serial, Some("S5H9NS0N123456A"));
}

#[test]
fn nothing_private_is_kept_by_default() {
    let private = [
        "S5H9NS0N123456A",
        "eui.0025",
        "WD-WCC7K0123456",
        "naa.5001",
        "secret",
        "token",
        "desk\"",
        "10.0.0",
        "/var/lib/docker/overlay2",
        "/var/images",
        "CRYPT-LUKS2-0123",
    ];
    let machines = [
        (include_str!("machines/nvme-ext4.tree"), "/"),
        (include_str!("machines/crypt-lvm-nvme.tree"), "/home"),
        (include_str!("machines/md-raid1-sata.tree"), "/"),
        (include_str!("machines/loop-on-xfs.tree"), "/mnt"),
        (include_str!("machines/docker.tree"), "/"),
        (include_str!("machines/tmpfs-and-nfs.tree"), "/net"),
        (include_str!("machines/virtio-microvm.tree"), "/"),
    ];
    for (machine, target) in machines {
        let found = environment(machine, &[target], FactOptions::default());
        let text = serde_json::to_string(&found).unwrap();
        for word in private {
            assert!(!text.contains(word), "{word} in {text}");
        }
    }
}

#[test]
fn a_laptop_with_lvm_on_encryption() {
    let stack = stack(include_str!("machines/crypt-lvm-nvme.tree"), "/home/ada/x");
    assert_eq!(stack.filesystem.as_ref().unwrap().mount_point, "/home");
    assert_eq!(devices(&stack), ["dm-2"]);
    assert_eq!(names(&stack), ["dm-2", "dm-0", "nvme0n1p3", "nvme0n1"]);
    let targets: Vec<_> = stack
        .layers
        .iter()
        .map(|layer| layer.target.as_deref())
        .collect();
    assert_eq!(targets, [Some("lvm"), Some("crypt"), None, None]);
    assert_eq!(stack.layers[0].kind, LayerKind::DeviceMapper);
    assert_eq!(stack.layers[0].size_bytes, 400 << 30);
    assert_eq!(stack.layers[0].logical_block_size_bytes, 4096);
    assert_eq!(stack.layers[3].link.as_deref(), Some("PCIe 16.0 GT/s x4"));
}

#[test]
fn a_device_is_a_target_by_its_node_or_a_link_to_it() {
    let machine = include_str!("machines/crypt-lvm-nvme.tree");
    for node in ["/dev/dm-2", "/dev/mapper/vg-home"] {
        let stack = stack(machine, node);
        assert_eq!(stack.filesystem, None, "{node}");
        assert_eq!(names(&stack)[0], "dm-2", "{node}");
    }
}

#[test]
fn a_mirror_is_followed_by_both_its_disks() {
    let machine = include_str!("machines/md-raid1-sata.tree");
    let stack = stack(machine, "/srv");
    assert_eq!(names(&stack), ["md0", "sda", "sdb"]);
    assert_eq!(devices(&stack), ["md0"]);
    assert_eq!(stack.layers[0].kind, LayerKind::Raid);
    assert_eq!(stack.layers[0].target.as_deref(), Some("raid1"));
    let models: Vec<_> = stack.layers[1..]
        .iter()
        .map(|disk| disk.model.as_deref())
        .collect();
    assert_eq!(models, [Some("WDC WD40EFRX-68N"), Some("SEAGATE ST4000")]);
    let links: Vec<_> = stack.layers[1..]
        .iter()
        .map(|disk| disk.link_bytes_per_s)
        .collect();
    assert_eq!(links, [Some(600_000_000), Some(300_000_000)]);
    assert_eq!(stack.layers[1].scheduler.as_deref(), Some("cfq"));
    assert_eq!(stack.layers[1].rotational, Some(true));

    let found = environment(machine, &["/srv"], KEEP);
    let serial = found.targets[0].layers[1].serial.as_deref();
    assert_eq!(serial, Some("WD-WCC7K0123456"));
    assert_eq!(found.limits.memory_bytes, Some(256 << 20));
    assert_eq!(found.limits.cpu_percent, Some(50));
    let [limit] = &found.limits.io[..] else {
        panic!(
            "limits on devices that are not under the target: {:?}",
            found.limits.io
        );
    };
    assert_eq!(limit.device_number, (8, 0));
    assert_eq!(limit.read_bytes_per_s, Some(10 << 20));
    assert_eq!(limit.write_operations_per_s, Some(100));
    assert_eq!(limit.source, "blkio.throttle of /sys/fs/cgroup/blkio/batch");
}

#[test]
fn btrfs_lies_on_all_its_members() {
    let stack = stack(include_str!("machines/btrfs-two-devices.tree"), "/srv/data");
    assert_eq!(devices(&stack), ["sdb", "sdc"]);
    assert_eq!(names(&stack), ["sdb", "sdc"]);
    assert_eq!(stack.layers[0].link, None, "the port has not negotiated");
    assert_eq!(stack.layers[1].link.as_deref(), Some("USB 5000 Mbps"));
    assert_eq!(
        stack.layers[1].model.as_deref(),
        Some("Samsung Portable SSD T5")
    );
    let options = &stack.filesystem.unwrap().filesystem_options;
    assert!(
        options.contains(&"compress=zstd:3".to_owned()),
        "{options:?}"
    );
}

#[test]
fn a_loop_device_shows_what_its_file_lies_on() {
    let stack = stack(include_str!("machines/loop-on-xfs.tree"), "/mnt/x");
    assert_eq!(names(&stack), ["loop0"]);
    assert_eq!(stack.layers[0].kind, LayerKind::Loop);
    assert_eq!(stack.layers[0].loop_direct_io, Some(false));
    let backing = stack.layers[0].backing.as_ref().unwrap();
    assert_eq!(backing.path, "a.img");
    assert_eq!(backing.filesystem.as_ref().unwrap().kind, "xfs");
    assert_eq!(names(backing), ["vda"]);
    assert_eq!(backing.layers[0].link.as_deref(), Some("virtio"));
    assert_eq!(backing.layers[0].model, None);
}

#[test]
fn a_container_s_own_root_has_no_device_that_can_be_seen() {
    let machine = include_str!("machines/docker.tree");
    let root = stack(machine, "/work");
    assert!(root.layers.is_empty());
    assert!(
        root.missing
            .iter()
            .any(|reason| reason.contains("upper folder is not visible")),
        "{:?}",
        root.missing
    );

    let volume = stack(machine, "/data");
    assert_eq!(names(&volume), ["nvme0n1p1", "nvme0n1"]);

    let found = environment(machine, &["/data"], FactOptions::default());
    assert_eq!(found.virtualisation.container.as_deref(), Some("docker"));
    assert_eq!(found.virtualisation.hypervisor.as_deref(), Some("amazon"));
    assert_eq!(found.limits.memory_bytes, Some(2 << 30));
    assert_eq!(found.limits.cpu_percent, Some(200));
    assert_eq!(found.limits.io[0].write_bytes_per_s, Some(50 << 20));
}

#[test]
fn memory_and_networks_stand_on_no_device() {
    let machine = include_str!("machines/tmpfs-and-nfs.tree");
    for (target, kind) in [("/tmp", "tmpfs"), ("/net", "nfs4"), ("/ssh", "fuse.sshfs")] {
        let stack = stack(machine, target);
        assert_eq!(stack.filesystem.as_ref().unwrap().kind, kind);
        assert!(stack.layers.is_empty());
        assert!(
            !stack
                .missing
                .iter()
                .any(|reason| reason.contains("block device"))
        );
    }
    let pool = stack(machine, "/pool");
    assert!(
        pool.missing.iter().any(|reason| reason.contains("zpool")),
        "{:?}",
        pool.missing
    );
    let options = stack(machine, "/net")
        .filesystem
        .unwrap()
        .filesystem_options;
    assert!(
        options.contains(&"clientaddr=...".to_owned()),
        "{options:?}"
    );
}

#[test]
fn a_machine_without_sys_says_what_is_missing() {
    let found = environment(include_str!("machines/no-sys.tree"), &["/x"], KEEP);
    assert_eq!(found.kernel, None);
    assert_eq!(found.cpu, None);
    assert_eq!(found.memory, None);
    let facts: Vec<&str> = found
        .missing
        .iter()
        .map(|missing| missing.fact.as_str())
        .collect();
    for fact in [
        "kernel",
        "cpu",
        "memory",
        "resource limits",
        "control groups",
        "distribution",
        "host name",
    ] {
        assert!(facts.contains(&fact), "{fact} is not among {facts:?}");
    }
    let reason = &found.missing[0].reason;
    assert!(reason.contains("os error 2"), "{reason}");
    let stack = &found.targets[0];
    assert_eq!(stack.filesystem.as_ref().unwrap().kind, "ext4");
    assert!(stack.layers.is_empty());
    assert!(
        stack
            .missing
            .iter()
            .any(|reason| reason.contains("/sys/class/block")),
        "{:?}",
        stack.missing
    );
}

#[test]
fn a_machine_without_anything_still_gives_an_answer() {
    let found = environment("", &["/x"], KEEP);
    assert!(found.missing.len() >= 6, "{:?}", found.missing);
    assert!(found.targets[0].missing[0].contains("/proc/self/mountinfo"));
}

#[test]
fn a_virtual_machine_with_contradicting_signs() {
    let found = environment(
        include_str!("machines/virtio-microvm.tree"),
        &["/work"],
        FactOptions::default(),
    );
    let virtualisation = &found.virtualisation;
    assert_eq!(virtualisation.hypervisor.as_deref(), Some("unknown"));
    assert_eq!(virtualisation.container, None);
    assert!(
        virtualisation
            .evidence
            .iter()
            .any(|sign| sign.contains(".dockerenv"))
    );
    assert_eq!(
        found.limits.memory_bytes, None,
        "the largest number is no limit"
    );
    let kernel = found.kernel.unwrap();
    assert_eq!(
        kernel.command_line,
        ["mitigations=auto,no_guest_host", "psi=1"]
    );
    assert_eq!(kernel.config_digest, None);
    let missing: Vec<&str> = found
        .missing
        .iter()
        .map(|missing| missing.fact.as_str())
        .collect();
    assert!(missing.contains(&"kernel configuration") && missing.contains(&"frequency governor"));
    let disk = &found.targets[0].layers[0];
    assert_eq!(disk.size_bytes, 256 << 30);
    assert_eq!(disk.scheduler.as_deref(), Some("mq-deadline"));
}
