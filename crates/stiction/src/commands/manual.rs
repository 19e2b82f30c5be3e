//! Manual pages and completions, from the definitions that parse the arguments.

use std::fs;
use std::path::Path;

use clap::CommandFactory as _;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::arguments::Arguments;
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

/// Writes the main page to stdout, or every page into a directory.
pub(super) fn pages(directory: Option<&Path>, console: &Console) -> Result<Exit, Failure> {
    let mut command = Arguments::command();
    command.build();
    match directory {
        None => console.data(&page(&command)?)?,
        Some(directory) => {
            let failed = |path: &Path, error: std::io::Error| {
                Failure::new(format!("cannot write {}: {error}", path.display()))
            };
            fs::create_dir_all(directory).map_err(|error| failed(directory, error))?;
            write_tree(&command, "stiction", &mut |name, text| {
                let path = directory.join(format!("{name}.1"));
                fs::write(&path, text).map_err(|error| failed(&path, error))?;
                console.data(&path.to_string_lossy())
            })?;
        }
    }
    Ok(Exit::Done)
}

/// The page of a command and of each command below it.
fn write_tree(
    command: &clap::Command,
    name: &str,
    write: &mut impl FnMut(&str, &str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    write(name, &page(command)?)?;
    for below in command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
    {
        write_tree(below, &format!("{name}-{}", below.get_name()), write)?;
    }
    Ok(())
}

fn page(command: &clap::Command) -> Result<String, Failure> {
    let mut text = Vec::new();
    Man::new(command.clone()).render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Writes the completion script of a shell.
pub(super) fn completions(shell: Shell, console: &Console) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "stiction", &mut text);
    console.data(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}
