#!/usr/bin/env bash
# Runs every check and every test, after installing what they need where that is
# possible (as root, with apt). Takes the options of `cargo xtask ci`.
set -euo pipefail
cd "$(dirname "$0")"

# The release of cargo-nextest that the tests are run with.
nextest=0.9.143

# A program that the tests call, and the Debian package that has it.
packages=()
need() {
    local program=$1 package=$2
    PATH="$PATH:/usr/sbin:/sbin" command -v "$program" >/dev/null || packages+=("$package")
}
need mkfs.ext4 e2fsprogs
need mkfs.xfs xfsprogs
need mkfs.btrfs btrfs-progs
need fusermount3 fuse3
need losetup mount
need findmnt util-linux
need fio fio
# A script of fio's that is given our reports.
/usr/bin/python3 -c 'import six' 2>/dev/null || packages+=(python3-six)
need bonnie++ bonnie++

if [ "${#packages[@]}" -gt 0 ]; then
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -q
        apt-get install -q -y --no-install-recommends "${packages[@]}"
    else
        echo "tests that need them will be left out; install: ${packages[*]}" >&2
    fi
fi

# The file system tools live where the PATH of a plain user may not look.
export PATH="$PATH:/usr/sbin:/sbin"

if ! cargo nextest --version >/dev/null 2>&1; then
    cargo install cargo-nextest --locked --version "$nextest"
fi

exec cargo xtask ci "$@"
