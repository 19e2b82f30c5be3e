//! Lines of a job file into sections and settings, each with its place.

use std::sync::Arc;

use super::error::{FioError, Place};
use super::substitute::substitute;

/// What this machine is to job files that ask: `$ncpus`, `$pagesize`, `$mb_memory`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// CPUs online.
    pub cpus: u64,
    /// Bytes of a page of memory.
    pub page_size_bytes: u64,
    /// Memory, MiB.
    pub memory_mib: u64,
}

/// An included file: (the path of the file that includes it, the name as written) to its
/// path and text, or the reason why not.
pub type Include<'a> = dyn Fn(&str, &str) -> Result<(String, String), String> + 'a;

/// All that reading a job file needs from outside.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Included files.
    pub include: &'a Include<'a>,
    /// The value of an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// For `$ncpus` and its like.
    pub machine: Machine,
}

/// A job file: sections in their order, included ones in place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobFile {
    /// `[global]` and job sections.
    pub sections: Vec<Section>,
    /// Settings of the command line that every job takes on, after its own.
    pub overrides: Vec<Setting>,
}

/// A section: a job, or defaults for the jobs that follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The name between the brackets, without outer blanks.
    pub name: String,
    /// Where the bracket stands.
    pub place: Place,
    /// In their order.
    pub settings: Vec<Setting>,
}

impl Section {
    /// Whether it gives defaults to the jobs after it, and is no job.
    #[must_use]
    pub fn is_global(&self) -> bool {
        self.name.eq_ignore_ascii_case("global")
    }
}

/// One option as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The name as written, which may be an alias.
    pub name: String,
    /// The value after substitution; `None` where no `=` was written.
    pub value: Option<String>,
    /// Where the name stands.
    pub place: Place,
    /// Where the value stands.
    pub value_place: Place,
}

/// Includes inside includes that are followed.
const MAX_INCLUDE_DEPTH: usize = 16;
/// Includes that are followed in all: files that each include the next one several times
/// would otherwise go on for ever.
const MAX_INCLUDES: usize = 1000;
/// Settings that a job file may have, all includes counted.
const MAX_SETTINGS: usize = 1_000_000;

/// Reads the text of `file`, whose name is for messages.
///
/// # Errors
/// The first line that cannot be read, an include that fails, or a variable
/// without a value.
pub fn parse(file: &str, text: &str, around: &Surroundings<'_>) -> Result<JobFile, FioError> {
    let mut reader = Reader {
        around,
        job_file: JobFile::default(),
        settings: 0,
        includes: 0,
    };
    reader.read(file, text, 0)?;
    Ok(reader.job_file)
}

struct Reader<'a> {
    around: &'a Surroundings<'a>,
    job_file: JobFile,
    settings: usize,
    includes: usize,
}

impl Reader<'_> {
    fn read(&mut self, file: &str, text: &str, depth: usize) -> Result<(), FioError> {
        let name: Arc<str> = file.into();
        for (index, line) in text.lines().enumerate() {
            let content = line.trim_start();
            let indent = line.chars().count() - content.chars().count();
            let place = Place::at(Some(Arc::clone(&name)), index, indent);
            let content = without_comment(content);
            if content.is_empty() {
                continue;
            }
            if content.starts_with('[') {
                self.section(content, place)?;
            } else if let Some(file) = included(content) {
                self.include(file, &place, depth)?;
            } else {
                self.setting(content, &place)?;
            }
        }
        Ok(())
    }

    fn section(&mut self, content: &str, place: Place) -> Result<(), FioError> {
        let inside = content
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'));
        match inside {
            Some((name, "")) if !name.trim().is_empty() => {
                self.job_file.sections.push(Section {
                    name: name.trim().to_owned(),
                    place,
                    settings: Vec::new(),
                });
                Ok(())
            }
            _ => Err(FioError::Syntax {
                place,
                what: format!("`{content}` is not a section"),
                advice: "write a name between brackets and nothing after it: [name]".to_owned(),
            }),
        }
    }

    fn include(&mut self, file: &str, place: &Place, depth: usize) -> Result<(), FioError> {
        let file = substitute(file, place, self.around)?;
        let failed = |reason: String| FioError::Include {
            place: place.clone(),
            file: file.clone(),
            reason,
        };
        if depth == MAX_INCLUDE_DEPTH {
            return Err(failed(format!(
                "includes go deeper than {MAX_INCLUDE_DEPTH}; does a file include itself?"
            )));
        }
        self.includes += 1;
        if self.includes > MAX_INCLUDES {
            return Err(failed(format!(
                "more than {MAX_INCLUDES} files are included"
            )));
        }
        let from = place.file.clone().unwrap_or_default();
        let (path, text) = (self.around.include)(&from, &file).map_err(failed)?;
        self.read(&path, &text, depth + 1)
    }

    fn setting(&mut self, content: &str, place: &Place) -> Result<(), FioError> {
        self.settings += 1;
        let syntax = |what: String, advice: &str| FioError::Syntax {
            place: place.clone(),
            what,
            advice: advice.to_owned(),
        };
        if self.settings > MAX_SETTINGS {
            return Err(syntax(
                format!("more than {MAX_SETTINGS} options"),
                "split the job file",
            ));
        }
        let setting = read_setting(content, place, self.around)?;
        let Some(section) = self.job_file.sections.last_mut() else {
            return Err(syntax(
                format!("`{content}` stands before the first section"),
                "write [global] or [name of a job] above it",
            ));
        };
        section.settings.push(setting);
        Ok(())
    }
}

/// The file of an `include` line.
fn included(content: &str) -> Option<&str> {
    let rest = content.strip_prefix("include")?;
    let file = rest.trim();
    (rest.starts_with([' ', '\t']) && !file.is_empty() && !file.starts_with('=')).then_some(file)
}

/// A line without its comment: fio ends every line at the first `;` or `#`,
/// inside values too.
fn without_comment(line: &str) -> &str {
    line.split([';', '#']).next().unwrap_or("").trim_end()
}

/// Reads `name=value` or `name` that stands at `place`.
pub(super) fn read_setting(
    content: &str,
    place: &Place,
    around: &Surroundings<'_>,
) -> Result<Setting, FioError> {
    let syntax = |what: String, advice: String| FioError::Syntax {
        place: place.clone(),
        what,
        advice,
    };
    let (name, value) = match content.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (content, None),
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || !name.trim_end().chars().all(is_name) {
        return Err(syntax(
            format!("`{content}` is neither an option, a section nor a comment"),
            "write option=value".to_owned(),
        ));
    }
    // fio 3.33 reads `bs= 4k` as 4 bytes and refuses `rw = read`.
    if name.ends_with([' ', '\t']) || value.is_some_and(|value| value.starts_with([' ', '\t'])) {
        return Err(syntax(
            format!("`{content}` has blanks around its `=`, which fio misreads"),
            format!("write {}={}", name.trim(), value.unwrap_or("").trim()),
        ));
    }
    let value_place = place.moved(name.chars().count() + 1);
    Ok(Setting {
        name: name.to_owned(),
        value: value
            .map(|value| substitute(value, &value_place, around))
            .transpose()?,
        place: place.clone(),
        value_place,
    })
}
