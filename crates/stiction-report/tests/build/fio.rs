//! Job files of fio for tests.
#![allow(dead_code, clippy::unwrap_used)]

use stiction_formats::fio::lint::{Lint, lint};
use stiction_formats::fio::{FioError, Machine, Resolved, Surroundings, parse, resolve};

/// A job that little is said about.
pub(crate) const RING: &str = "\
[global]
ioengine=io_uring
direct=1
[reads]
rw=randread
bs=4k
size=64m
numjobs=2
iodepth=8
runtime=30
";

const MACHINE: Machine = Machine {
    cpus: 6,
    page_size_bytes: 4096,
    memory_mib: 3000,
};

/// The jobs of `jobs.fio` with this text.
pub(crate) fn read(text: &str) -> Result<Resolved, Vec<FioError>> {
    let around = Surroundings {
        include: &|_, name| Err(format!("{name} is not there")),
        variable: &|_| None,
        machine: MACHINE,
    };
    let file = parse("jobs.fio", text, &around).map_err(|error| vec![error])?;
    resolve(&file)
}

/// The same with what is said about them.
pub(crate) fn linted(text: &str) -> (Resolved, Lint) {
    let resolved = read(text).unwrap();
    let lint = lint(&resolved, MACHINE);
    (resolved, lint)
}
