//! An option of a workload at another level: the words of the command with it.

use crate::arguments::Arguments;

/// The words of a measuring command with `option` at `level` in place of what they say of
/// it.
///
/// # Errors
/// When the command has no such option, or it takes no such level.
pub(super) fn with_option(
    words: &[String],
    option: &str,
    level: &str,
) -> Result<Vec<String>, String> {
    let (command, rest) = words.split_first().ok_or("there is no command")?;
    let name = option.replace('_', "-");
    let takes_value = if command == "fio" {
        // Its words are fio's: an option that fio has not is found when they are read.
        return Ok(with_word(words, option, Some(level), true));
    } else {
        takes_value(command, &name)?
    };
    let mut all = vec![command.clone()];
    let word = match (takes_value, level) {
        (true, level) => Some(level),
        (false, "true") => Some(""),
        (false, "false") => None,
        (false, _) => {
            return Err(format!(
                "--{name} of {command} is on or off: give true or false, and not `{level}`"
            ));
        }
    };
    all.extend(with_word(rest, &name, word, takes_value));
    Ok(all)
}

/// Whether an option of a command takes a value.
fn takes_value(command: &str, name: &str) -> Result<bool, String> {
    use clap::CommandFactory as _;
    let definitions = Arguments::command();
    let command_of = |one: &&clap::Command| one.get_name() == command;
    let Some(of_command) = definitions.get_subcommands().find(command_of) else {
        return Err(format!("`{command}` is no benchmark of stiction's"));
    };
    let mut options = of_command.get_arguments();
    let Some(option) = options.find(|option| option.get_long() == Some(name)) else {
        let known = of_command.get_arguments().filter_map(clap::Arg::get_long);
        let advice = match stiction_formats::nearest(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("`stiction {command} --help` lists them"),
        };
        return Err(format!("{command} has no option --{name}; {advice}"));
    };
    Ok(option.get_action().takes_values())
}

/// `words` without the option, and with it at their end where there is a level.
fn with_word(words: &[String], name: &str, level: Option<&str>, takes_value: bool) -> Vec<String> {
    let long = format!("--{name}");
    let mut all = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if *word == long {
            if takes_value {
                rest.next();
            }
        } else if word
            .split_once('=')
            .is_none_or(|(before, _)| before != long)
        {
            all.push(word.clone());
        }
    }
    all.extend(level.map(|level| match takes_value {
        true => format!("{long}={level}"),
        false => long,
    }));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(words: &str, option: &str, level: &str) -> Result<String, String> {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        with_option(&words, option, level).map(|words| words.join(" "))
    }

    #[test]
    fn what_the_words_say_of_it_gives_way() {
        for (words, option, level, expected) in [
            (
                "tiobench --size 1G --threads 1,8 --direct",
                "threads",
                "4",
                "tiobench --size 1G --direct --threads=4",
            ),
            (
                "tiobench --block=4K",
                "block",
                "64K",
                "tiobench --block=64K",
            ),
            ("tiobench", "direct", "true", "tiobench --direct"),
            ("tiobench --direct", "direct", "false", "tiobench"),
            ("fio a.fio --bs=4k", "bs", "8k", "fio a.fio --bs=8k"),
        ] {
            assert_eq!(with(words, option, level).unwrap(), expected);
        }
    }

    #[test]
    fn an_option_that_there_is_not_is_refused() {
        let error = with("tiobench", "thread", "4").unwrap_err();
        assert!(error.contains("did you mean `threads`?"), "{error}");
        let error = with("tiobench", "direct", "4").unwrap_err();
        assert!(error.contains("give true or false"), "{error}");
        assert!(
            with("list", "limit", "4").is_ok(),
            "measuring is asked for later"
        );
        assert!(with("nothing", "limit", "4").is_err());
    }
}
