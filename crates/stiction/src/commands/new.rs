//! `stiction new` and `stiction schema`: what specifications begin with, and what may
//! stand in them.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use serde_json::{Value, json};
use stiction_formats::spec;
use stiction_host::machine_factors;

use crate::arguments::{NewArguments, NewCommand};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

/// Writes a file to begin with.
pub(super) fn run(typed: &NewArguments, console: &Console) -> Result<Exit, Failure> {
    let NewCommand::Lab { file } = &typed.what;
    write_new(file, spec::EXAMPLE)?;
    console.data(&file.to_string_lossy())?;
    Ok(Exit::Done)
}

fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    let written = opened.and_then(|mut file| {
        let written = file.write_all(text.as_bytes());
        if written.is_err() {
            // A part of it would be in the way of the next try, and reads as a whole one.
            let _ = std::fs::remove_file(path);
        }
        written
    });
    written.map_err(|error| {
        let failure = Failure::new(format!("cannot write {}: {error}", path.display()));
        match error.kind() {
            ErrorKind::AlreadyExists => failure.advise("Give another name, or move it away."),
            _ => failure,
        }
    })
}

/// Prints the schema of specifications, with the factors of the machine by name.
pub(super) fn schema(console: &Console) -> Result<Exit, Failure> {
    console.data(&serde_json::to_string_pretty(&full_schema())?)?;
    Ok(Exit::Done)
}

/// The schema, and what only the crates know that carry specifications out.
fn full_schema() -> Value {
    let mut schema = spec::schema();
    // Names with a dot are tables in tables, and those with a word to replace no names.
    let names = machine_factors()
        .into_iter()
        .filter(|name| !name.contains('.'));
    let factor = json!({ "$ref": "#/$defs/FactorText" });
    let known: serde_json::Map<String, Value> = names.map(|name| (name, factor.clone())).collect();
    schema["properties"]["factors"]["properties"] = Value::Object(known);
    schema
}
