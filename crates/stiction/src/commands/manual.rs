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
    let closing = command
        .get_after_long_help()
        .or_else(|| command.get_after_help())
        .map(ToString::to_string);
    let bare = command.clone().after_help(None).after_long_help(None);
    let mut text = Vec::new();
    Man::new(bare).render(&mut text)?;
    let mut page = String::from_utf8_lossy(&text).into_owned();
    if let Some(closing) = closing {
        page.push_str(&as_laid_out("EXAMPLES AND NOTES", &closing));
    }
    Ok(page)
}

/// A section of paragraphs. Those with columns keep their lines, from the left edge on, so
/// that 80 columns hold them; the others are filled.
fn as_laid_out(heading: &str, text: &str) -> String {
    let mut section = format!(".SH \"{heading}\"\n");
    for paragraph in text.split("\n\n") {
        let has_columns = paragraph.lines().any(|line| line.starts_with(' '));
        let (before, after) = if has_columns {
            (".PP\n.in 0\n.nf\n", ".fi\n.in\n")
        } else {
            (".PP\n", "")
        };
        section.push_str(before);
        for line in paragraph.lines() {
            let line = line.replace('\\', "\\e").replace('-', "\\-");
            // A dot or a quote at the start of a line would be a request.
            let guard = if line.starts_with(['.', '\'']) {
                "\\&"
            } else {
                ""
            };
            section.push_str(&format!("{guard}{line}\n"));
        }
        section.push_str(after);
    }
    section
}

/// Writes the completion script of a shell.
pub(super) fn completions(shell: Shell, console: &Console) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "stiction", &mut text);
    console.data(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_columns_keeps_its_lines_and_no_line_is_a_request() {
        assert_eq!(
            as_laid_out("NOTES", "  a --b   c\\d\n.e\n'f\n\nplain\n.text"),
            ".SH \"NOTES\"\n\
             .PP\n.in 0\n.nf\n  a \\-\\-b   c\\ed\n\\&.e\n\\&'f\n.fi\n.in\n\
             .PP\nplain\n\\&.text\n"
        );
    }
}
