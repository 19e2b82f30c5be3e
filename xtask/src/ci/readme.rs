//! The commands of the README, run as they are written there.

use std::path::Path;
use std::process::{Command, Stdio};

use super::leftovers::Ground;
use crate::workspace;

/// The command that this run is itself a part of.
const OURSELVES: &str = "./test.sh";

/// What a terminal of the smallest usual width shows.
const COLUMNS_MAX: usize = 80;

/// Runs each command in the workspace's root, as its reader would.
pub(super) fn run(ground: &Ground) -> Result<(), String> {
    let path = workspace::root().join("README.md");
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    for command in commands(&text).filter(|&command| command != OURSELVES) {
        println!("$ {command}");
        let output = Command::new("bash")
            .args(["-c", command])
            .current_dir(workspace::root())
            .envs(ground.environment())
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("bash: {error}"))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        print!("{printed}");
        if !output.status.success() {
            return Err(format!("{command}: {}", output.status));
        }
        check_width(command, &printed)?;
    }
    left_in(&workspace::root())
}

/// An error if a directory that `quick` works in is still where it was made.
fn left_in(directory: &Path) -> Result<(), String> {
    let failed = |error| format!("{}: {error}", directory.display());
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if name.to_string_lossy().starts_with(".stiction") {
            return Err(format!("left behind: {}", directory.join(name).display()));
        }
    }
    Ok(())
}

/// The lines of the fenced console blocks that follow a prompt.
fn commands(text: &str) -> impl Iterator<Item = &str> {
    text.split("```console\n")
        .skip(1)
        .map(|rest| rest.split_once("\n```").map_or(rest, |(block, _)| block))
        .flat_map(str::lines)
        .filter_map(|line| line.strip_prefix("$ "))
}

fn check_width(command: &str, printed: &str) -> Result<(), String> {
    match printed
        .lines()
        .find(|line| line.chars().count() > COLUMNS_MAX)
    {
        None if printed.trim().is_empty() => Err(format!("{command}: printed nothing")),
        None => Ok(()),
        Some(line) => Err(format!("{command}: over {COLUMNS_MAX} columns: {line}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_what_follows_a_prompt_in_a_console_block() {
        let text = "\
Text with $ signs.

```console
$ stiction quick
disk  1 MB/s
$ stiction list
```

```sh
$ not this
```

```console
$ ./test.sh
```
";
        let found: Vec<&str> = commands(text).collect();
        assert_eq!(found, ["stiction quick", "stiction list", "./test.sh"]);
    }

    #[test]
    fn a_directory_left_behind_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("stiction")).unwrap();
        assert_eq!(left_in(directory.path()), Ok(()));
        std::fs::create_dir(directory.path().join(".stiction-x1")).unwrap();
        assert!(left_in(directory.path()).is_err());
    }

    #[test]
    fn wide_or_missing_output_is_an_error() {
        assert_eq!(check_width("x", &format!("{}\n", "a".repeat(80))), Ok(()));
        assert!(check_width("x", &"a".repeat(81)).is_err());
        assert!(check_width("x", "\n").is_err());
    }
}
