//! fio's job files, read as fio reads them.
//!
//! ```text
//! text --parse--> JobFile --resolve--> Resolved --convert--> our own job text
//!                                          |----lint-------> what will really happen
//! ```
//!
//! Where fio reads something other than what stands there, without a word, this
//! reads nothing and says so: `1.5g` (fio: 1 byte), `1m30s` (1 microsecond),
//! `bs= 4k` (4 bytes). An unknown option is an error with its line; an option that
//! is known and not honoured is an error with its reason; one that changes nothing
//! is listed. Files, variables and the machine come from the caller.
//!
//! ```
//! use stiction_formats::fio::{Machine, Surroundings, parse, resolve};
//!
//! let around = Surroundings {
//!     include: &|_, name| Err(format!("{name} is not there")),
//!     variable: &|_| None,
//!     machine: Machine { cpus: 2, page_size_bytes: 4096, memory_mib: 1024 },
//! };
//! let file = parse("a.fio", "[reads]\nrw=randread\nsize=64m\niodepth=32", &around)?;
//! let resolved = resolve(&file).map_err(|mut errors| errors.remove(0))?;
//! let job = &resolved.jobs[0].job;
//! assert_eq!(job.depth.in_flight, 32);
//! assert_eq!(job.effective_depth(), 1, "psync does one at a time");
//! # Ok::<(), stiction_formats::fio::FioError>(())
//! ```

mod arithmetic;
mod command_line;
mod convert;
mod error;
mod ini;
pub mod job;
pub mod lint;
pub mod options;
mod program;
mod resolve;
mod settings;
mod substitute;
mod trace;
mod units;

pub use command_line::CommandLine;
pub use convert::{from_toml, to_toml};
pub use error::{FioError, Place};
pub use ini::{Include, JobFile, Machine, Section, Setting, Surroundings, parse};
pub use job::FioJob;
pub use program::{Found, Nodes, ProgramGround, TraceRead, program};
pub use resolve::{DefaultInForce, Misread, Resolved, ResolvedJob, Set, WithoutEffect, resolve};
pub use trace::{TRACE_STEPS_MAX, Trace, TraceReader};
pub use units::{Amount, Bytes, KbBase, Nanoseconds};
