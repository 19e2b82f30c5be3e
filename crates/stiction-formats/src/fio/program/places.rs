//! Where the I/O of jobs goes: files of our own, files that were there, devices.

use std::collections::BTreeMap;

use stiction_core::{ProgramPlace, ProgramTarget, Region, Seed};

use super::super::job::Engine;
use super::super::units::Amount;
use super::trace::Extent;
use super::{Desk, Found, ProgramGround, files};

/// How names begin that are kept for ourselves: the marker of a directory of our own is
/// one, and without it the directory could not be told from the user's.
const OUR_PREFIX: &str = ".stiction-";

/// Files that a trace needs are made in multiples of this.
const PAGE_BYTES: u64 = 4096;

/// Where one job works.
#[derive(Default)]
pub(super) struct WhereTo {
    /// Files and devices, each once.
    pub(super) targets: Vec<ProgramTarget>,
    /// A region for each clone and file, all files of a clone together.
    pub(super) regions: Vec<Region>,
    /// Numbers of the targets by place and name.
    known: BTreeMap<(u32, String), usize>,
}

/// The places of a program, as far as its jobs have named them.
pub(super) struct Places<'a> {
    ground: &'a ProgramGround<'a>,
    listed: Vec<ProgramPlace>,
}

/// A file or device that a job names.
struct Named {
    place: u32,
    name: String,
    /// How long it is; `None` for a file that is still to be made.
    length_bytes: Option<u64>,
    /// Its path, for messages.
    path: String,
}

impl<'a> Places<'a> {
    pub(super) fn new(ground: &'a ProgramGround<'a>) -> Self {
        Self {
            ground,
            listed: Vec::new(),
        }
    }

    pub(super) fn listed(self) -> Vec<ProgramPlace> {
        self.listed
    }

    /// Where a job works; `None` where it cannot, which the desk then says.
    pub(super) fn of(&mut self, desk: &mut Desk<'_>, seed: Seed) -> Option<WhereTo> {
        let mut found = WhereTo::default();
        for clone in 0..desk.job().clones {
            for file in 0..files_of(desk) {
                let named = self.named(desk, clone, file)?;
                let (offset_bytes, length_bytes) = region(desk, (clone, file), &named, seed)?;
                let target = found.target(&named, offset_bytes.saturating_add(length_bytes));
                found.regions.push(Region {
                    target,
                    offset_bytes,
                    length_bytes,
                });
            }
        }
        Some(found)
    }

    /// File number `file` of clone number `clone`.
    fn named(&mut self, desk: &mut Desk<'_>, clone: u32, file: u32) -> Option<Named> {
        let targets = &desk.job().targets;
        let directory = match targets.directories.len() {
            0 => self.ground.directory.to_owned(),
            count => joined(
                self.ground.directory,
                &targets.directories[clone as usize % count],
            ),
        };
        let own = |name: String, places: &mut Self| Named {
            place: places.number_of(ProgramPlace::Directory {
                path: directory.clone(),
            }),
            path: joined(&directory, &name),
            name,
            length_bytes: None,
        };
        if let Some(name) = targets.names.get(file as usize) {
            let name = name.clone();
            if desk.job().engine == Engine::Null {
                return Some(own(name, self));
            }
            let action = desk.job().pattern.action;
            let changes = action.writes() || action.trims();
            return self.look(desk, "filename", joined(&directory, &name), changes);
        }
        let name = match &targets.name_format {
            Some(format) => format
                .replace("$jobname", &desk.job().name)
                .replace("$clientuid", "")
                .replace("$jobnum", &clone.to_string())
                .replace("$filenum", &file.to_string()),
            None => format!("{}.{clone}.{file}", desk.job().name),
        };
        // A job's name may be a path to fio; here all files lie in one directory.
        let name = name.replace('/', "_");
        is_free(desk, &name).then(|| own(name, self))
    }

    /// What a name in the job file leads to.
    fn look(
        &mut self,
        desk: &mut Desk<'_>,
        option: &str,
        path: String,
        changes: bool,
    ) -> Option<Named> {
        let allowed = (self.ground.may_overwrite)(&path);
        let (place, length_bytes) = match (self.ground.look)(&path) {
            Found::Nothing => return self.new_file(desk, option, path),
            Found::Directory => {
                let what = format!("{path} is a directory");
                desk.conflict(option, what, "name a file in it, or set directory");
                return None;
            }
            Found::Other(what) => {
                let what = format!("{path} is {what}");
                desk.conflict(option, what, "name a file or a block device");
                return None;
            }
            Found::File(_) if changes && !allowed => {
                let what = format!("{path} was there before, and this job would overwrite it");
                let advice = format!("allow that by --may-overwrite {path}, or name another");
                desk.conflict(option, what, advice);
                return None;
            }
            Found::Device(_) if changes && !allowed => {
                let what = format!("this job would destroy what {path} holds");
                let advice = format!(
                    "hand the device over by --scratch {path}=SERIAL, with the serial that \
                     `lsblk -o NAME,SERIAL` shows"
                );
                desk.conflict(option, what, advice);
                return None;
            }
            Found::File(bytes) => (
                ProgramPlace::File {
                    path: path.clone(),
                    may_write: changes,
                },
                bytes,
            ),
            Found::Device(bytes) => (
                ProgramPlace::Device {
                    path: path.clone(),
                    may_write: changes,
                },
                bytes,
            ),
        };
        Some(Named {
            place: self.number_of(place),
            name: String::new(),
            length_bytes: Some(length_bytes),
            path,
        })
    }

    /// A file that is not there: it is made in a directory of our own beside the place
    /// where the job file wants it.
    fn new_file(&mut self, desk: &mut Desk<'_>, option: &str, path: String) -> Option<Named> {
        let (parent, name) = match path.rsplit_once('/') {
            Some(("", name)) => ("/", name),
            Some((parent, name)) => (parent, name),
            None => (".", path.as_str()),
        };
        let is_device_folder = parent == "/dev" || parent.starts_with("/dev/");
        if is_device_folder || (self.ground.look)(parent) != Found::Directory {
            let what = if is_device_folder {
                format!("{path} is not there")
            } else {
                format!("{parent} is no directory")
            };
            desk.conflict(option, what, "name one that is there");
            return None;
        }
        if !desk.job().layout.may_create {
            desk.conflict(
                "allow_file_create",
                format!("{path} is not there and may not be made"),
                "name a file that is there",
            );
            return None;
        }
        if !is_free(desk, name) {
            return None;
        }
        Some(Named {
            place: self.number_of(ProgramPlace::Directory {
                path: parent.to_owned(),
            }),
            name: name.to_owned(),
            length_bytes: None,
            path,
        })
    }

    /// A file or device of a trace. What the job redirects to is what lies there; so is a
    /// device that the trace names. Any other name is one of a file of our own.
    pub(super) fn traced(
        &mut self,
        desk: &mut Desk<'_>,
        (number, name): (usize, &str),
        redirected: bool,
        extent: Extent,
    ) -> Option<ProgramTarget> {
        let directories = &desk.job().targets.directories;
        let directory = match directories.first() {
            None => self.ground.directory.to_owned(),
            Some(first) => joined(self.ground.directory, first),
        };
        let is_device = name.starts_with("/dev/");
        let option = if redirected {
            "replay_redirect"
        } else {
            "read_iolog"
        };
        let named = if redirected || is_device {
            self.look(desk, option, joined(&directory, name), extent.changes)?
        } else {
            let last = name.rsplit('/').next().unwrap_or_default();
            let job = desk.job().name.replace('/', "_");
            let name = format!("{job}.{number}.{last}");
            if !is_free(desk, &name) {
                return None;
            }
            Named {
                path: joined(&directory, &name),
                place: self.number_of(ProgramPlace::Directory { path: directory }),
                name,
                length_bytes: None,
            }
        };
        let Named { path, .. } = &named;
        if named
            .length_bytes
            .is_some_and(|length| length < extent.end_bytes)
        {
            let what = format!("the trace reaches to byte {} of {path}", extent.end_bytes);
            desk.conflict(
                option,
                what,
                "set replay_scale, or replay_redirect to more room",
            );
            return None;
        }
        if named.length_bytes.is_some() && extent.trims && path.starts_with("/dev/") {
            let what = format!("the trace trims {path}, and only files are trimmed");
            desk.conflict(option, what, "set replay_skip=trim");
            return None;
        }
        // Whole pages, so that the end of a file can be read directly.
        let made_bytes = extent.end_bytes.max(1).next_multiple_of(PAGE_BYTES);
        Some(ProgramTarget {
            place: named.place,
            name: named.name,
            length_bytes: named.length_bytes.unwrap_or(made_bytes),
        })
    }

    /// The number of a place; what one job may do to it is kept for all.
    fn number_of(&mut self, place: ProgramPlace) -> u32 {
        let known = self.listed.iter_mut().position(|known| {
            let same = known.path() == place.path();
            if let (
                true,
                ProgramPlace::File { may_write, .. } | ProgramPlace::Device { may_write, .. },
                ProgramPlace::File {
                    may_write: also, ..
                }
                | ProgramPlace::Device {
                    may_write: also, ..
                },
            ) = (same, known, &place)
            {
                *may_write |= *also;
            }
            same
        });
        let number = known.unwrap_or_else(|| {
            self.listed.push(place);
            self.listed.len() - 1
        });
        u32::try_from(number).unwrap_or(u32::MAX)
    }
}

/// Whether a file of this name can be made in a directory of our own; if not, the desk
/// says so.
fn is_free(desk: &mut Desk<'_>, name: &str) -> bool {
    let is_free = !name.starts_with(OUR_PREFIX);
    if !is_free {
        desk.conflict(
            "filename",
            format!("names that begin with {OUR_PREFIX} are kept for what marks our directories"),
            "choose another",
        );
    }
    is_free
}

impl WhereTo {
    /// The number of a target, which reaches at least to `end_bytes`.
    fn target(&mut self, named: &Named, end_bytes: u64) -> u32 {
        let targets = &mut self.targets;
        let key = (named.place, named.name.clone());
        let number = *self.known.entry(key).or_insert_with(|| {
            targets.push(ProgramTarget {
                place: named.place,
                name: named.name.clone(),
                length_bytes: named.length_bytes.unwrap_or(0),
            });
            targets.len() - 1
        });
        let length_bytes = &mut self.targets[number].length_bytes;
        *length_bytes = (*length_bytes).max(end_bytes);
        u32::try_from(number).unwrap_or(u32::MAX)
    }
}

/// Files of each clone.
fn files_of(desk: &Desk<'_>) -> u32 {
    desk.job().targets.files.max(1)
}

/// Offset and length of the region that a clone has in a file.
fn region(
    desk: &mut Desk<'_>,
    (clone, file): (u32, u32),
    named: &Named,
    seed: Seed,
) -> Option<(u64, u64)> {
    let extent = &desk.job().extent;
    let least = smallest_block(desk);
    let start = offset(desk, clone, named, least)?;
    let rest = named.length_bytes.map(|bytes| bytes.saturating_sub(start));
    let length = match (extent.file_size, extent.size) {
        (Some((least_size, most)), _) if least_size == most => most.0.saturating_sub(start),
        (Some((least_size, most)), _) => {
            files::drawn((least_size.0, most.0), seed, (clone, file), least)
        }
        (None, Some(Amount::Bytes(bytes))) => files::share(bytes.0, files_of(desk)),
        (None, size) => {
            let (Some(whole), Some(rest)) = (named.length_bytes, rest) else {
                let what = format!("{} does not exist, so it has no size yet", named.path);
                desk.conflict("size", what, "set size, in bytes");
                return None;
            };
            let share = size.map_or(rest, |size| size.of_bytes(whole).min(rest));
            share - share % least.max(1)
        }
    };
    let action = desk.job().pattern.action;
    let end = start.saturating_add(length);
    let Some(whole) = named.length_bytes.filter(|&whole| end > whole) else {
        return Some((start, length));
    };
    let is_file = !named.path.starts_with("/dev/");
    if is_file && !action.reads() && action.writes() {
        return Some((start, length));
    }
    desk.conflict(
        "size",
        format!(
            "the region ends at byte {end}, and {} has {whole}",
            named.path
        ),
        "make size or offset smaller",
    );
    None
}

/// Where the region of a clone begins. A share of the file is rounded up to whole
/// blocks (fio's manual, `offset_align`).
fn offset(desk: &mut Desk<'_>, clone: u32, named: &Named, least: u64) -> Option<u64> {
    let extent = &desk.job().extent;
    let steps = u64::from(clone);
    let in_bytes = |amount: Option<Amount>| match (amount, named.length_bytes) {
        (None, _) => Some(0),
        (Some(Amount::Bytes(bytes)), _) => Some(bytes.0),
        (Some(share), Some(whole)) => Some(share.of_bytes(whole)),
        (Some(_), None) => None,
    };
    let (Some(start), Some(step)) = (in_bytes(extent.offset), in_bytes(extent.offset_step)) else {
        let what = format!("{} does not exist, so it has no size yet", named.path);
        desk.conflict("offset", what, "give offsets in bytes");
        return None;
    };
    let start = start.saturating_add(step.saturating_mul(steps));
    let is_share = matches!(extent.offset, Some(Amount::Percent(_)));
    let align = extent.offset_align.map_or(least, |align| align.0).max(1);
    Some(if is_share {
        start.next_multiple_of(align)
    } else {
        start
    })
}

/// The smallest block of the directions that occur.
fn smallest_block(desk: &Desk<'_>) -> u64 {
    let action = desk.job().pattern.action;
    let size = &desk.job().block.size;
    [
        (action.reads(), &size.read),
        (action.writes(), &size.write),
        (action.trims(), &size.trim),
    ]
    .into_iter()
    .filter(|(occurs, _)| *occurs)
    .map(|(_, size)| size.least_bytes())
    .min()
    .unwrap_or(4096)
}

/// `name` in `directory`; a name that starts at the root stands for itself.
fn joined(directory: &str, name: &str) -> String {
    if name.starts_with('/') || directory.is_empty() {
        name.to_owned()
    } else {
        format!("{}/{name}", directory.trim_end_matches('/'))
    }
}
