//! What stands for something else in a value: `${HOME}`, `$ncpus`.

use super::error::{FioError, Place};
use super::ini::{Machine, Surroundings};

/// Replaces `${NAME}` by environment variables and `$ncpus`, `$pagesize` and
/// `$mb_memory` by the machine's figures. Other `$words` stay: names of files have
/// their own (`$jobname`, `$jobnum`, `$filenum`).
///
/// An unset variable is an error: fio puts nothing in its place, and a
/// `filename=${DEVICE}` then writes somewhere else.
pub(super) fn substitute(
    value: &str,
    place: &Place,
    around: &Surroundings<'_>,
) -> Result<String, FioError> {
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        let here = place.moved(value[..value.len() - rest.len() + at].chars().count());
        let after = &rest[at + 1..];
        rest = if let Some(inside) = after.strip_prefix('{') {
            let Some((name, rest)) = inside.split_once('}') else {
                return Err(FioError::Syntax {
                    place: here,
                    what: "a `${` is not closed".to_owned(),
                    advice: "write ${NAME}".to_owned(),
                });
            };
            let found = (around.variable)(name).ok_or_else(|| FioError::Variable {
                place: here,
                name: name.to_owned(),
            })?;
            text.push_str(&found);
            rest
        } else if let Some((figure, rest)) = keyword(after, around.machine) {
            text.push_str(&figure.to_string());
            rest
        } else {
            text.push('$');
            after
        };
    }
    text.push_str(rest);
    Ok(text)
}

/// The figure of a keyword at the start of `text`, and what follows it.
fn keyword(text: &str, machine: Machine) -> Option<(u64, &str)> {
    [
        ("ncpus", machine.cpus),
        ("pagesize", machine.page_size_bytes),
        ("mb_memory", machine.memory_mib),
    ]
    .into_iter()
    .find_map(|(name, figure)| text.strip_prefix(name).map(|rest| (figure, rest)))
}
