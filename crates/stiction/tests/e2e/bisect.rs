//! `bisect` in repositories that are made here: the benchmark prints a number that a
//! commit changes, with noise from a file, and nothing is timed.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::json;
use crate::lab::{Lab, assert_fits, squeezed};

const METRIC: &str = "ticks[count,less]=/ticks: ([0-9.]+)/";

/// A repository with a benchmark in it.
struct Tree {
    folder: TempDir,
    commits: Vec<String>,
}

impl Tree {
    /// Commit number i (from 0) has the cost `costs[i]`; those in `broken` do not build.
    fn new(costs: &[u32], broken: &[usize]) -> Self {
        let mut tree = Self::empty();
        for (number, &cost) in costs.iter().enumerate() {
            let commit = tree.commit(&number.to_string(), cost, !broken.contains(&number));
            tree.commits.push(commit);
        }
        tree
    }

    fn empty() -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let tree = Self {
            folder,
            commits: Vec::new(),
        };
        fs::create_dir(tree.repository()).unwrap();
        tree.git(&["init", "--quiet", "-b", "main"]);
        tree.write_noise(0.01);
        tree
    }

    fn repository(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    /// Normal noise with this deviation, the same in every run of the test.
    fn write_noise(&self, deviation: f64) {
        let mut lines = String::new();
        let mut state = 20_021_130_u64;
        let mut uniform = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
        };
        for _ in 0..2000 {
            let radius = (-2.0 * uniform().ln()).sqrt();
            let normal = radius * (std::f64::consts::TAU * uniform()).cos();
            lines += &format!("{}\n", deviation * normal);
        }
        fs::write(self.folder.path().join("noise"), lines).unwrap();
    }

    /// What is measured: the cost with the next noise of its commit, whatever runs
    /// before it; nothing where it is not built.
    fn run(&self) -> String {
        let folder = self.folder.path().display();
        format!(
            "test -e built && drawn={folder}/drawn-$(git rev-parse HEAD) && \
             n=$(($(cat $drawn 2>/dev/null || echo 0) + 1)) && echo $n > $drawn && \
             awk -v n=$(((n + 37 * $(ls | wc -l)) % 2000 + 1)) -v cost=$(cat cost) \
             'NR == n {{ printf \"ticks: %.6f\\n\", cost * exp($1) }}' {folder}/noise"
        )
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(self.repository())
            .args(["-c", "user.name=t", "-c", "user.email=t@t"])
            .args(arguments)
            .output()
            .expect("git");
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn commit(&self, name: &str, cost: u32, builds: bool) -> String {
        let repository = self.repository();
        fs::write(repository.join("cost"), format!("{cost}\n")).unwrap();
        let build = if builds {
            "touch built"
        } else {
            "echo no such type >&2; exit 2"
        };
        fs::write(repository.join("build.sh"), format!("{build}\n")).unwrap();
        fs::write(repository.join(format!("file-{name}")), name).unwrap();
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "-m", &format!("change {name}")]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// `bisect COMMAND` with the repository.
    fn words(&self, command: &str, more: &[&str]) -> Vec<String> {
        let mut words = vec!["bisect".to_owned(), command.to_owned(), "--tree".to_owned()];
        words.push(self.repository().display().to_string());
        words.extend(more.iter().map(|&word| word.to_owned()));
        words
    }

    /// The same with the whole question, from the first commit to the last.
    fn question(&self, command: &str, more: &[&str]) -> Vec<String> {
        let (good, bad) = (&self.commits[0], self.commits.last().unwrap());
        let run = self.run();
        let mut words = self.words(command, &[good, bad, "--run", &run, "--metric", METRIC]);
        words.extend(["--build", "sh build.sh", "--blocks", "8"].map(str::to_owned));
        words.extend(more.iter().map(|&word| word.to_owned()));
        words
    }
}

/// `count` commits of which those from `slow` on cost a tenth more.
fn costs(count: usize, slow: usize) -> Vec<u32> {
    (0..count)
        .map(|n| if n < slow { 1000 } else { 1100 })
        .collect()
}

/// The last paragraph.
fn answer(text: &str) -> String {
    squeezed(text.rsplit("\n\n").next().unwrap_or_default())
}

/// The journal of the only search of a store.
fn journal(lab: &Lab) -> PathBuf {
    let entries = fs::read_dir(lab.store().join("bisect")).unwrap();
    let mut journals = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|suffix| suffix == "jsonl"));
    let journal = journals.next().expect("a journal");
    assert!(journals.next().is_none());
    journal
}

fn clones(lab: &Lab) -> usize {
    let entries = fs::read_dir(lab.store().join("bisect")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name());
    names
        .filter(|name| name.to_string_lossy().starts_with(".stiction-"))
        .count()
}

#[test]
fn auto_finds_a_commit_among_some_that_do_not_build_and_confirms_it() {
    let lab = Lab::new();
    let tree = Tree::new(&costs(24, 13), &[6, 11, 17]);
    fs::write(tree.repository().join("cost"), "unsaved work\n").unwrap();
    let text = lab.output(tree.question("auto", &[]), 0);
    let last = answer(&text);
    assert!(last.starts_with("first bad commit, confirmed: "), "{text}");
    assert!(
        last.contains(&tree.commits[13][..12]) && last.contains("change 13"),
        "{text}"
    );
    assert!(text.contains("WORSE"), "{text}");
    assert_fits(&text);

    // The user's repository is as it was.
    assert_eq!(tree.git(&["status", "--porcelain"]), "M cost");
    assert_eq!(tree.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(clones(&lab), 0);

    // Every block is in an ordinary session.
    let log = lab.json(tree.words("log", &[]), 0);
    json::check(&log, "stiction-bisect");
    let metric = &log["metrics"][0];
    assert_eq!(metric["state"], "found");
    assert_eq!(metric["found"]["commit"], tree.commits[13]);
    assert_eq!(metric["found"]["confirmed"], true);
    assert_eq!(metric["likeliest"][0]["commit"], tree.commits[13]);
    assert!(lab.output(["list"], 0).contains("bisect"));

    // Asked again, nothing is measured again.
    let before = fs::read(journal(&lab)).unwrap();
    assert_eq!(lab.output(tree.words("auto", &[]), 0), text);
    assert_eq!(fs::read(journal(&lab)).unwrap(), before);

    let forgotten = lab.output(tree.words("reset", &[]), 0);
    assert!(forgotten.contains("stay in the store"), "{forgotten}");
    lab.output(tree.words("log", &[]), 2);
}

#[test]
fn git_bisect_run_finds_it_by_probes() {
    let lab = Lab::new();
    let tree = Tree::new(&costs(24, 9), &[12]);
    let text = lab.output(tree.question("check", &[]), 0);
    assert!(
        text.contains("git bisect run stiction bisect probe"),
        "{text}"
    );
    let (good, bad) = (&tree.commits[0], tree.commits.last().unwrap());
    tree.git(&["bisect", "start", bad, good]);
    let probe = lab.process(["bisect", "probe"]);
    let program = probe.get_program().to_owned();
    let mut git = Command::new("git");
    git.current_dir(tree.repository())
        .args(["bisect", "run"])
        .arg(program)
        .args(["bisect", "probe"])
        .env("STICTION_STORE", lab.store())
        .stdin(Stdio::null());
    let output = git.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let first_bad = format!("{} is the first bad commit", tree.commits[9]);
    assert!(said.contains(&first_bad), "{said} {output:?}");

    // What git found is confirmed, and a neighbour is not.
    let text = lab.output(tree.words("bracket", &[&tree.commits[9]]), 0);
    assert!(
        answer(&text).starts_with("first bad commit, confirmed: "),
        "{text}"
    );
    let document = lab.json(tree.words("bracket", &[&tree.commits[9]]), 0);
    json::check(&document, "stiction-bisect-bracket");
    let text = lab.output(tree.words("bracket", &[&tree.commits[8]]), 3);
    assert!(text.contains("against its parent: SAME"), "{text}");

    // auto goes on from the blocks of the probes.
    let text = lab.output(tree.words("auto", &["--no-bracket"]), 0);
    assert!(text.contains(&tree.commits[9][..12]), "{text}");
}

/// 0 - 1 - 2 - 5 = merge of 4 - 6, and 1 - 3 - 4 with the slow commit 4.
#[test]
fn a_commit_that_a_merge_brought_is_found_in_its_line() {
    let lab = Lab::new();
    let mut tree = Tree::empty();
    for name in ["0", "1", "2"] {
        let commit = tree.commit(name, 1000, true);
        tree.commits.push(commit);
    }
    tree.git(&["checkout", "--quiet", "-b", "side", &tree.commits[1]]);
    tree.commit("3", 1000, true);
    let slow = tree.commit("4", 1100, true);
    tree.commit("4b", 1100, true);
    tree.git(&["checkout", "--quiet", "main"]);
    tree.git(&["merge", "--quiet", "--no-ff", "-m", "merge side", "side"]);
    let last = tree.commit("6", 1100, true);
    tree.commits.push(last);
    let text = lab.output(tree.question("auto", &[]), 0);
    let line = answer(&text);
    assert!(
        line.contains(&slow[..12]) && line.contains("confirmed"),
        "{text}"
    );
}

#[test]
fn the_commit_that_made_it_better_is_found_too() {
    let lab = Lab::new();
    let costs: Vec<u32> = (0..12).map(|n| if n < 5 { 1100 } else { 1000 }).collect();
    let tree = Tree::new(&costs, &[]);
    let text = lab.output(
        tree.question("auto", &["--find", "better", "--no-bracket"]),
        3,
    );
    let last = answer(&text);
    assert!(
        last.contains("best guess") && last.contains("change 5"),
        "{text}"
    );
    assert!(text.contains("BETTER"), "{text}");
    let text = lab.output(tree.words("bracket", &[]), 0);
    assert!(text.contains("first better commit, confirmed"), "{text}");
}

#[test]
fn ends_that_do_not_differ_are_refused_with_what_it_takes() {
    let lab = Lab::new();
    let tree = Tree::new(&[1000, 1000, 1035], &[]);
    tree.write_noise(0.04);
    let text = lab.output(tree.question("check", &[]), 3);
    let last = answer(&text);
    assert!(
        last.contains("no search: BAD is not WORSE than GOOD; about"),
        "{text}"
    );
    // A search that is refused asks for nothing, and more blocks are added to the first.
    let before = fs::read(journal(&lab)).unwrap();
    lab.output(tree.words("auto", &[]), 3);
    assert_eq!(fs::read(journal(&lab)).unwrap(), before);
    lab.output(tree.words("check", &["--blocks", "10"]), 3);
    let log = lab.json(tree.words("log", &[]), 0);
    assert_eq!(log["metrics"][0]["ends"]["blocks_count"], 10);
    // git must not take it for an answer.
    lab.output(tree.words("probe", &[]), 255);
}

#[test]
fn what_is_no_answer_ends_gits_search() {
    let lab = Lab::new();
    let tree = Tree::new(&costs(6, 3), &[]);
    assert!(
        lab.talk(tree.words("probe", &[]), 255)
            .contains("there is no search")
    );
    lab.output(["bisect", "probe", "--no-such-option"], 255);
    lab.output(["bisect", "probe", "--tree", "/nowhere"], 255);
    lab.output(tree.question("check", &[]), 0);
    lab.output(tree.words("probe", &[&tree.commits[1]]), 0);
    lab.output(tree.words("probe", &[&tree.commits[4]]), 1);
    // The benchmark's own ground is gone: no commit is to blame.
    fs::rename(
        tree.folder.path().join("noise"),
        tree.folder.path().join("gone"),
    )
    .unwrap();
    let said = lab.talk(tree.words("probe", &[&tree.commits[2]]), 255);
    assert!(said.contains("the benchmark fails in"), "{said}");
    fs::rename(
        tree.folder.path().join("gone"),
        tree.folder.path().join("noise"),
    )
    .unwrap();
    lab.output(tree.words("probe", &[&tree.commits[2]]), 0);
}

#[test]
fn a_build_cannot_push_into_the_repository() {
    let lab = Lab::new();
    let tree = Tree::new(&costs(2, 1), &[]);
    let (good, bad, run) = (&tree.commits[0], &tree.commits[1], tree.run());
    let push = "sh build.sh && ! git push --quiet origin HEAD:refs/heads/stray";
    let mut words = tree.words("check", &[good, bad, "--run", &run, "--metric", METRIC]);
    words.extend(["--build", push, "--blocks", "8"].map(str::to_owned));
    lab.output(words, 0);
    assert_eq!(tree.git(&["branch", "--list", "stray"]), "");
}

#[test]
fn a_commit_that_fails_is_skipped_with_what_was_said() {
    let lab = Lab::new();
    let tree = Tree::new(&costs(6, 3), &[2]);
    lab.output(tree.question("check", &[]), 0);
    let said = lab.talk(tree.words("probe", &[&tree.commits[2]]), 125);
    assert!(said.contains("no such type"), "{said}");
    // Known, and not built again.
    let before = fs::read(journal(&lab)).unwrap();
    lab.output(tree.words("probe", &[&tree.commits[2]]), 125);
    assert_eq!(fs::read(journal(&lab)).unwrap(), before);
    let log = lab.json(tree.words("log", &[]), 0);
    assert_eq!(log["untestable"][0]["step"], "build");
}

#[test]
fn wrong_questions_are_refused() {
    let lab = Lab::new();
    let tree = Tree::new(&costs(4, 2), &[]);
    let swapped = [&tree.commits[3][..], &tree.commits[0], "--run", "true"];
    assert!(
        lab.talk(tree.words("check", &swapped), 2)
            .contains("is no ancestor of")
    );
    let nothing = [&tree.commits[0][..], &tree.commits[3]];
    assert!(lab.talk(tree.words("check", &nothing), 2).contains("--run"));
    let unknown = [&tree.commits[0][..], "nosuch", "--run", "true"];
    assert!(
        lab.talk(tree.words("check", &unknown), 2)
            .contains("`nosuch`")
    );
    assert!(
        lab.talk(tree.words("auto", &[]), 2)
            .contains("no search to go on with")
    );
    lab.output(tree.question("check", &[]), 0);
    let mut other = tree.question("check", &[]);
    other.extend(["--find", "better"].map(str::to_owned));
    assert!(lab.talk(other, 2).contains("--find differs"));
    // An end that does not build ends it.
    let broken = Tree::new(&costs(4, 2), &[3]);
    let lab = Lab::new();
    let text = lab.output(broken.question("auto", &[]), 2);
    assert!(answer(&text).contains("does not build"), "{text}");
}

/// Killed with no warning as soon as its journal has so many lines, a search goes on
/// from them, and `clean` removes the clones.
#[test]
fn a_killed_search_goes_on_where_it_was() {
    let tree = Tree::new(&costs(16, 10), &[]);
    for lines in [1, 5, 12] {
        let lab = Lab::new();
        let mut child = lab
            .process(tree.question("auto", &["--no-bracket"]))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for_lines(&lab, lines, &mut child);
        child.kill().unwrap();
        child.wait().unwrap();
        let kept = fs::read(journal(&lab)).unwrap();
        let whole = kept
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |end| end + 1);
        let text = lab.output(tree.question("auto", &["--no-bracket"]), 3);
        let last = answer(&text);
        assert!(
            last.contains("best guess") && last.contains("change 10"),
            "{text}"
        );
        assert!(fs::read(journal(&lab)).unwrap().starts_with(&kept[..whole]));
        lab.output(["clean"], 0);
        assert_eq!(clones(&lab), 0, "killed after {lines} lines");
    }
}

/// Returns as soon as the journal has that many lines; each event says a line on stderr
/// when it has been written, so nothing is polled for but the first.
fn wait_for_lines(lab: &Lab, lines: usize, child: &mut std::process::Child) {
    use std::io::{BufRead as _, BufReader};
    let said = BufReader::new(child.stderr.take().unwrap());
    let written = || {
        let folder = lab.store().join("bisect");
        let Ok(entries) = fs::read_dir(folder) else {
            return 0;
        };
        let texts = entries.filter_map(|entry| fs::read(entry.ok()?.path()).ok());
        texts
            .map(|text| text.iter().filter(|&&byte| byte == b'\n').count())
            .max()
            .unwrap_or(0)
    };
    for line in said.lines() {
        line.unwrap();
        if written() >= lines {
            return;
        }
    }
    panic!("the search ended before its journal had {lines} lines");
}

/// Several metrics have a verdict each, from the same blocks.
#[test]
fn each_metric_has_a_culprit_of_its_own() {
    let lab = Lab::new();
    let mut tree = Tree::empty();
    // A counter without noise that another commit changes.
    let weigh = |weight: &str| fs::write(tree.repository().join("weight"), weight).unwrap();
    weigh("50");
    let mut commits = vec![tree.commit("12", 1000, true)];
    for (name, cost, weight) in [("13", 1000, "50"), ("14", 1100, "50"), ("15", 1100, "60")] {
        weigh(weight);
        commits.push(tree.commit(name, cost, true));
    }
    tree.commits = commits;
    let run = format!("{} && echo weight: $(cat weight)", tree.run());
    let (good, bad) = (&tree.commits[0], &tree.commits[3]);
    let mut words = tree.words("auto", &[good, bad, "--run", &run, "--metric", METRIC]);
    let weight = "weight[count,less]=/weight: ([0-9]+)/";
    let more = [
        "--metric",
        weight,
        "--build",
        "sh build.sh",
        "--blocks",
        "8",
    ];
    words.extend(more.map(str::to_owned));
    let log = lab.json(words, 0);
    assert_eq!(log["metrics"][0]["found"]["commit"], tree.commits[2]);
    assert_eq!(log["metrics"][1]["metric"], "weight");
    assert_eq!(log["metrics"][1]["found"]["commit"], tree.commits[3]);
}
