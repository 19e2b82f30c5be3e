//! The user's repository: read, never changed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use stiction_core::Link;

use super::BisectError;

/// What git takes from its surroundings instead of from its arguments; a hook or an
/// alias of git's own has them set.
const SURROUNDINGS: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// Characters of what git says that are told.
const WORDS_MAX: usize = 400;

/// A repository of git.
#[derive(Clone, Debug)]
pub struct Repository {
    tree: PathBuf,
}

impl Repository {
    /// The repository that `tree` is in.
    ///
    /// # Errors
    /// When there is none, or no git.
    pub fn open(tree: &Path) -> Result<Self, BisectError> {
        let here = Self {
            tree: tree.to_owned(),
        };
        let top = match here.answer(["rev-parse", "--show-toplevel"]) {
            Ok(top) => top,
            // A bare repository has no work tree.
            Err(_) => here.answer(["rev-parse", "--absolute-git-dir"])?,
        };
        Ok(Self { tree: top.into() })
    }

    /// The top of its work tree; of a bare one the repository itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.tree
    }

    /// The full id of the commit that `revision` names.
    ///
    /// # Errors
    /// When it names none.
    pub fn commit(&self, revision: &str) -> Result<String, BisectError> {
        let commit = format!("{revision}^{{commit}}");
        self.answer([
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &commit,
        ])
        .map_err(|_| BisectError::Git {
            tree: self.tree.clone(),
            doing: "rev-parse".to_owned(),
            said: format!("`{revision}` names no commit"),
        })
    }

    /// The first line of a commit's message.
    ///
    /// # Errors
    /// When there is no such commit.
    pub fn subject(&self, commit: &str) -> Result<String, BisectError> {
        self.answer(["show", "--no-patch", "--format=%s", commit])
    }

    /// A commit with its parents.
    ///
    /// # Errors
    /// When there is no such commit.
    pub fn link(&self, commit: &str) -> Result<Link, BisectError> {
        let link = self.with_parents(&[commit])?.pop();
        link.ok_or_else(|| BisectError::Git {
            tree: self.tree.clone(),
            doing: "show".to_owned(),
            said: format!("it shows nothing of {commit}"),
        })
    }

    /// The commits after `good` up to and with `bad` that have `good` among their
    /// ancestors, by first parents, oldest first.
    ///
    /// # Errors
    /// When `good` is no ancestor of `bad`, or is `bad`.
    pub fn chain(&self, good: &str, bad: &str) -> Result<Vec<Link>, BisectError> {
        if good == bad {
            return Err(BisectError::Ends(
                "both ends are one commit; name two".to_owned(),
            ));
        }
        if !self.is_ancestor(good, bad)? {
            return Err(self.not_an_ancestor(good, bad));
        }
        let without_good = format!("^{good}");
        let mut links = self.links(["--first-parent", bad, &without_good])?;
        // Where `good` came in by a merge, what is older than that merge does not have
        // it. The newest has, and from some commit on all do.
        let (mut lacks, mut has) = (0, links.len().saturating_sub(1));
        while lacks < has {
            let middle = lacks.midpoint(has);
            if self.is_ancestor(good, &links[middle].commit)? {
                has = middle;
            } else {
                lacks = middle + 1;
            }
        }
        links.drain(..has);
        Ok(links)
    }

    fn is_ancestor(&self, older: &str, newer: &str) -> Result<bool, BisectError> {
        let output = self.run(["merge-base", "--is-ancestor", older, newer])?;
        match output.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(self.refused("merge-base", &output)),
        }
    }

    fn not_an_ancestor(&self, good: &str, bad: &str) -> BisectError {
        let base = self.answer(["merge-base", good, bad]);
        let advice = match base {
            Ok(base) if base == bad => "; it comes after it: change their places, and give \
                                        `--find better` where an improvement is looked for"
                .to_owned(),
            Ok(base) => format!("; their common ancestor is {base}: give that if it is good too"),
            Err(_) => String::new(),
        };
        BisectError::Ends(format!("{good} is no ancestor of {bad}{advice}"))
    }

    /// For each line of history that `merge` joined to the one that `before` is on, its
    /// own commits by first parents, oldest first, and the merge itself last.
    ///
    /// # Errors
    /// When git refuses.
    pub fn lines_of(&self, merge: &str, before: &str) -> Result<Vec<Vec<Link>>, BisectError> {
        let link = self.link(merge)?;
        // What is on a line that was searched already is not searched again.
        let mut known = vec![format!("^{before}")];
        let mut lines = Vec::new();
        for parent in &link.parents {
            let mut arguments = vec!["--first-parent", parent.as_str()];
            arguments.extend(known.iter().map(String::as_str));
            let mut line = self.links(arguments)?;
            known.push(format!("^{parent}"));
            if !line.is_empty() {
                line.push(link.clone());
                lines.push(line);
            }
        }
        Ok(lines)
    }

    fn links<'a>(
        &self,
        arguments: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<Link>, BisectError> {
        let start = ["rev-list", "--reverse", "--topo-order"];
        let text = self.answer(start.into_iter().chain(arguments))?;
        let commits: Vec<&str> = text.lines().collect();
        self.with_parents(&commits)
    }

    /// The commits with their parents as they are in the repository.
    fn with_parents(&self, commits: &[&str]) -> Result<Vec<Link>, BisectError> {
        let mut links = Vec::with_capacity(commits.len());
        // As many as fit a command line at 41 bytes each.
        for some in commits.chunks(1000) {
            let start = ["show", "--no-patch", "--format=%H %P"];
            let text = self.answer(start.into_iter().chain(some.iter().copied()))?;
            links.extend(text.lines().filter_map(|line| {
                let mut ids = line.split_whitespace().map(str::to_owned);
                Some(Link {
                    commit: ids.next()?,
                    parents: ids.collect(),
                })
            }));
        }
        Ok(links)
    }

    /// What git prints, without the end of the last line.
    fn answer<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<String, BisectError> {
        let arguments: Vec<S> = arguments.into_iter().collect();
        let name = arguments
            .first()
            .map(|first| first.as_ref().to_string_lossy().into_owned());
        let output = self.run(&arguments)?;
        if !output.status.success() {
            return Err(self.refused(&name.unwrap_or_default(), &output));
        }
        Ok(String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned())
    }

    fn run<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<Output, BisectError> {
        let mut command = git(&self.tree);
        command.args(arguments);
        command.output().map_err(|error| BisectError::Git {
            tree: self.tree.clone(),
            doing: "cannot be started".to_owned(),
            said: error.to_string(),
        })
    }

    fn refused(&self, doing: &str, output: &Output) -> BisectError {
        refused(&self.tree, doing, output)
    }
}

/// git in `directory`, whatever the surroundings say.
pub(super) fn git(directory: &Path) -> Command {
    let mut command = Command::new("git");
    for name in SURROUNDINGS {
        command.env_remove(name);
    }
    command
        .arg("-C")
        .arg(directory)
        .env("LC_ALL", "C")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null());
    command
}

/// What git said when it refused.
pub(super) fn refused(directory: &Path, doing: &str, output: &Output) -> BisectError {
    let said = String::from_utf8_lossy(&output.stderr);
    // Its hints are for a person in that directory, who is not there.
    let said: Vec<&str> = said
        .lines()
        .filter(|line| !line.starts_with("hint:"))
        .collect();
    let said: String = said.join("\n").trim().chars().take(WORDS_MAX).collect();
    BisectError::Git {
        tree: directory.to_owned(),
        doing: doing.to_owned(),
        said: match said.is_empty() {
            true => output.status.to_string(),
            false => said,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with commits named by letters, each on its parents.
    struct History {
        folder: tempfile::TempDir,
        ids: std::collections::BTreeMap<char, String>,
    }

    impl History {
        fn of(commits: &[(char, &str)]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let mut history = Self {
                folder,
                ids: std::collections::BTreeMap::new(),
            };
            history.git(&["init", "--quiet"]);
            let tree = history.git(&["write-tree"]);
            for (name, parents) in commits {
                let mut arguments = vec!["commit-tree".to_owned(), tree.clone()];
                arguments.extend(["-m".to_owned(), name.to_string()]);
                for parent in parents.chars() {
                    arguments.extend(["-p".to_owned(), history.ids[&parent].clone()]);
                }
                let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                let id = history.git(&arguments);
                history.ids.insert(*name, id);
            }
            history
        }

        fn git(&self, arguments: &[&str]) -> String {
            let output = git(self.folder.path())
                .args(["-c", "user.name=t", "-c", "user.email=t@t"])
                .args(arguments)
                .output()
                .unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        }

        fn repository(&self) -> Repository {
            Repository::open(self.folder.path()).unwrap()
        }

        fn names(&self, links: &[Link]) -> String {
            let name = |link: &Link| {
                let mut known = self.ids.iter();
                *known.find(|(_, id)| **id == link.commit).unwrap().0
            };
            links.iter().map(name).collect()
        }

        fn chain(&self, good: char, bad: char) -> Result<String, BisectError> {
            let links = self.repository().chain(&self.ids[&good], &self.ids[&bad])?;
            Ok(self.names(&links))
        }
    }

    /// a - b - c - M - d with the side line b - x - y joined at M.
    const MERGED: &[(char, &str)] = &[
        ('a', ""),
        ('b', "a"),
        ('c', "b"),
        ('x', "b"),
        ('y', "x"),
        ('M', "cy"),
        ('d', "M"),
    ];

    #[test]
    fn chains_go_by_first_parents_and_have_good_behind_them() {
        let history = History::of(MERGED);
        assert_eq!(history.chain('a', 'd').unwrap(), "bcMd");
        assert_eq!(history.chain('c', 'd').unwrap(), "Md");
        // `x` came in by the merge: neither `b` nor `c` has it.
        assert_eq!(history.chain('x', 'd').unwrap(), "Md");
        assert_eq!(history.chain('M', 'd').unwrap(), "d");
    }

    #[test]
    fn ends_that_are_no_ends_are_refused() {
        let history = History::of(MERGED);
        let error = history.chain('d', 'a').unwrap_err().to_string();
        assert!(error.contains("change their places"), "{error}");
        let error = history.chain('x', 'c').unwrap_err().to_string();
        assert!(error.contains(&history.ids[&'b']), "{error}");
        assert!(history.chain('a', 'a').is_err());
        let error = history.repository().commit("nosuch").unwrap_err();
        assert!(error.to_string().contains("`nosuch` names no commit"));
        let outside = tempfile::tempdir().unwrap();
        // Folders for temporary files may lie in a repository: this one is cut off from it.
        std::fs::write(outside.path().join(".git"), "no repository").unwrap();
        assert!(Repository::open(outside.path()).is_err());
    }

    #[test]
    fn a_merge_is_opened_into_the_lines_that_it_joined() {
        let history = History::of(MERGED);
        let lines = |merge: char, before: char| {
            let ids = (&history.ids[&merge], &history.ids[&before]);
            let lines = history.repository().lines_of(ids.0, ids.1).unwrap();
            lines
                .iter()
                .map(|line| history.names(line))
                .collect::<Vec<_>>()
        };
        assert_eq!(lines('M', 'c'), ["xyM"]);
        // With `x` before it, the rest of its own line and the other one are in question.
        assert_eq!(lines('M', 'x'), ["cM", "yM"]);
        let real = history
            .repository()
            .lines_of(&history.ids[&'M'], &history.ids[&'c']);
        assert_eq!(real.unwrap()[0].last().unwrap().parents.len(), 2);
    }

    #[test]
    fn what_git_has_in_its_surroundings_does_not_matter() {
        let history = History::of(MERGED);
        assert_eq!(
            history.repository().subject(&history.ids[&'d']).unwrap(),
            "d"
        );
        for name in SURROUNDINGS {
            assert!(
                git(Path::new("."))
                    .get_envs()
                    .any(|(key, value)| key == *name && value.is_none())
            );
        }
    }
}
