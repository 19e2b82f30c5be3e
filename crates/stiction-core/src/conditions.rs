//! What a trial's files and data are to be like: settings that act through the workload,
//! not through the machine.

use std::fmt;
use std::str::FromStr;

use crate::{Applied, Data, Job, Layout, Setting};

/// What the files are like that the first measured phase finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileState {
    /// Written whole before: each block has its place and holds data.
    Overwritten,
    /// Their blocks are reserved and were never written (`fallocate`).
    Preallocated,
    /// As long as they are to be, without a block (`ftruncate`).
    Holes,
}

impl FileState {
    const ALL: [(Self, &'static str); 3] = [
        (Self::Overwritten, "overwritten"),
        (Self::Preallocated, "preallocated"),
        (Self::Holes, "holes"),
    ];

    /// What `layout` shows, in words: one of the states, or the shares of each.
    #[must_use]
    pub fn found_in(layout: &Layout) -> String {
        let whole = layout.file_bytes;
        // What is reserved beyond the end of a file is none of its bytes.
        let unwritten = layout.unwritten_bytes.min(whole);
        let found = match (layout.hole_bytes, unwritten) {
            (0, 0) => Some(Self::Overwritten),
            (0, unwritten) if unwritten == whole => Some(Self::Preallocated),
            (holes, _) if holes == whole => Some(Self::Holes),
            _ => None,
        };
        found.map_or_else(
            || {
                let holes = layout.hole_bytes;
                format!("{unwritten} bytes of {whole} never written, {holes} holes")
            },
            |state| state.to_string(),
        )
    }
}

impl fmt::Display for FileState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, name) = Self::ALL
            .iter()
            .find(|(state, _)| state == self)
            .expect("all are there");
        f.pad(name)
    }
}

impl FromStr for FileState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(_, name)| *name == text);
        found.map(|(state, _)| *state).ok_or_else(|| {
            let names = Self::ALL.map(|(_, name)| name).join(", ");
            format!("`{text}` is no state of files: there are {names}")
        })
    }
}

/// What a trial's files and data are to be like, where the workload is not to choose; the
/// default leaves all of it to the workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    file_state: Option<FileState>,
    compress_percent: Option<u8>,
    settings: Vec<Setting>,
}

impl Conditions {
    /// The factor whose levels are [`FileState`]s.
    pub const FILE_STATE: &str = "file_state";
    /// The factor whose levels are percentages of [`DataShape`](crate::DataShape).
    pub const COMPRESSIBILITY: &str = "compressibility";
    /// Names of all factors that act so.
    pub const FACTORS: [&str; 2] = [Self::FILE_STATE, Self::COMPRESSIBILITY];

    /// Takes what is a condition out of `settings`, and returns the others too.
    ///
    /// # Errors
    /// What is wrong with which of them.
    pub fn read(settings: &[Setting]) -> Result<(Self, Vec<Setting>), String> {
        let mut read = Self::default();
        let mut others = Vec::new();
        for setting in settings {
            let of_factor = |problem| format!("{}: {problem}", setting.factor);
            match setting.factor.as_str() {
                Self::FILE_STATE => {
                    read.file_state = Some(setting.level.parse().map_err(of_factor)?);
                }
                Self::COMPRESSIBILITY => {
                    read.compress_percent = Some(percent(&setting.level).map_err(of_factor)?);
                }
                _ => {
                    others.push(setting.clone());
                    continue;
                }
            }
            read.settings.push(setting.clone());
        }
        Ok((read, others))
    }

    /// In which state files are to be found.
    #[must_use]
    pub fn file_state(&self) -> Option<FileState> {
        self.file_state
    }

    /// How far written data are to be compressible, 0 to 100 %: what is left when they
    /// are compressed is the rest.
    #[must_use]
    pub fn compress_percent(&self) -> Option<u8> {
        self.compress_percent
    }

    /// What was asked for, in that order.
    #[must_use]
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// Gives the job's data the compressibility that was asked for. Data that tell their
    /// place, and a pattern of the user's, stay what they are.
    pub fn shape_data(&self, job: &mut Job) {
        let Some(percent) = self.compress_percent else {
            return;
        };
        if job.action.writes() && matches!(job.data, Data::Unique | Data::Zeros) {
            job.data = Data::Unique;
            job.shape.compress_percent = percent;
        }
    }

    /// What was asked for, and found in the phases' `jobs` and the `layout` of the files
    /// as they were laid down.
    #[must_use]
    pub fn applied<'a>(
        &self,
        jobs: impl IntoIterator<Item = &'a Job>,
        layout: Option<&Layout>,
    ) -> Vec<Applied> {
        let data = found_data(jobs);
        let found = |setting: &Setting| match setting.factor.as_str() {
            Self::FILE_STATE => layout.map(FileState::found_in),
            // In the words of the level where they mean the same: `50%`, `50`.
            _ if data.is_some() && data == self.compress_percent.map(of_percent) => {
                Some(setting.level.clone())
            }
            _ => data.clone(),
        };
        let settings = self.settings.iter();
        settings
            .map(|setting| Applied {
                found: found(setting),
                asked: setting.clone(),
                also_changed: Vec::new(),
            })
            .collect()
    }
}

/// How compressible the data are that `jobs` write; `None` when none of them writes.
fn found_data<'a>(jobs: impl IntoIterator<Item = &'a Job>) -> Option<String> {
    let writing = jobs.into_iter().filter(|job| job.action.writes());
    let each = writing.map(|job| match job.data {
        Data::Unique => of_percent(job.shape.compress_percent),
        Data::Stamped => of_percent(0),
        Data::Zeros => of_percent(100),
        Data::Pattern => "a pattern".to_owned(),
    });
    let mut each: Vec<String> = each.collect();
    each.sort_unstable();
    each.dedup();
    (!each.is_empty()).then(|| each.join(" and "))
}

fn of_percent(percent: u8) -> String {
    format!("{percent}%")
}

/// `50` or `50%`.
fn percent(text: &str) -> Result<u8, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    let number = number.parse().ok().filter(|percent| *percent <= 100);
    number.ok_or_else(|| format!("`{text}` is no percentage: give 0 to 100"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, DataShape};

    fn conditions(settings: &[(&str, &str)]) -> Result<(Conditions, Vec<Setting>), String> {
        let settings: Vec<Setting> = settings
            .iter()
            .map(|(factor, level)| Setting::new(*factor, *level))
            .collect();
        Conditions::read(&settings)
    }

    #[test]
    fn conditions_are_told_from_settings_of_the_machine() {
        let (read, others) = conditions(&[
            ("scheduler", "none"),
            ("file_state", "holes"),
            ("compressibility", "30%"),
        ])
        .unwrap();
        assert_eq!(read.file_state(), Some(FileState::Holes));
        assert_eq!(read.compress_percent(), Some(30));
        assert_eq!(read.settings().len(), 2);
        assert_eq!(others, [Setting::new("scheduler", "none")]);
        for (factor, level) in [
            ("file_state", "old"),
            ("compressibility", "101"),
            ("compressibility", "-1"),
            ("compressibility", ""),
        ] {
            let error = conditions(&[(factor, level)]).unwrap_err();
            assert!(
                error.starts_with(&format!("{factor}: `{level}`")),
                "{error}"
            );
        }
    }

    #[test]
    fn data_that_are_written_get_the_shape_and_others_stay() {
        let (read, _) = conditions(&[("compressibility", "40")]).unwrap();
        let shaped = |action, data| {
            let mut job = Job {
                action,
                data,
                ..Job::default()
            };
            read.shape_data(&mut job);
            (job.data, job.shape.compress_percent)
        };
        assert_eq!(shaped(Action::Write, Data::Zeros), (Data::Unique, 40));
        assert_eq!(shaped(Action::Write, Data::Unique), (Data::Unique, 40));
        assert_eq!(shaped(Action::Write, Data::Stamped), (Data::Stamped, 0));
        assert_eq!(shaped(Action::Read, Data::Unique), (Data::Unique, 0));
    }

    #[test]
    fn what_was_written_is_found() {
        let (read, _) = conditions(&[("compressibility", "40")]).unwrap();
        let writing = |compress_percent| Job {
            action: Action::Write,
            shape: DataShape {
                compress_percent,
                ..DataShape::default()
            },
            ..Job::default()
        };
        let found = |jobs: &[Job]| read.applied(jobs, None).remove(0);
        assert!(found(&[writing(40), Job::default()]).is_in_force());
        assert_eq!(found(&[Job::default()]).found, None);
        let mixed = found(&[writing(40), writing(0)]);
        assert_eq!(mixed.found.as_deref(), Some("0% and 40%"));
        assert!(!mixed.is_in_force());
    }

    #[test]
    fn a_layout_shows_its_state() {
        let layout = |hole_bytes, unwritten_bytes| Layout {
            file_bytes: 100,
            hole_bytes,
            unwritten_bytes,
            ..Layout::default()
        };
        let found = |holes, unwritten| FileState::found_in(&layout(holes, unwritten));
        assert_eq!(found(0, 0), "overwritten");
        assert_eq!(found(0, 100), "preallocated");
        assert_eq!(found(0, 128), "preallocated");
        assert_eq!(found(100, 0), "holes");
        assert_eq!(found(40, 10), "10 bytes of 100 never written, 40 holes");
    }
}
