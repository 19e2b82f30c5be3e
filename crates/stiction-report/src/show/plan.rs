//! What a plan says of its parameters, and of its configurations where it has several.

use serde_json::{Map, Value};

use crate::environment::fact;
use crate::page::Page;

/// The parameters of a plan. Of configurations what they share stands once, and each with
/// what is its own.
pub(super) fn write_parameters(page: &mut Page, parameters: &Value) {
    let Value::Object(fields) = parameters else {
        fact(page, "parameters", &parameters.to_string());
        return;
    };
    let Some(Value::Array(configurations)) = fields.get("configurations") else {
        fact(page, "parameters", &told(fields));
        return;
    };
    let own: Vec<&Map<String, Value>> = configurations
        .iter()
        .filter_map(|one| one.get("parameters")?.as_object())
        .collect();
    let shared = shared(&own);
    let mut head = "in turn";
    for configuration in configurations {
        fact(page, head, &one(configuration, &shared));
        head = "";
    }
    if !shared.is_empty() {
        fact(page, "parameters", &told(&shared));
    }
    let rest = fields.iter().filter(|(name, _)| *name != "configurations");
    let rest: Map<String, Value> = rest
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    fact(page, "blocks", &told(&rest));
}

/// `budget_ns=4000000000 deep=32`, so that lines can be broken between parameters. Of
/// what has parts of its own the JSON tells, so that it can be read.
fn told(fields: &Map<String, Value>) -> String {
    const LONGEST: usize = 200;
    let texts = fields.iter().map(|(name, value)| match value {
        Value::String(text) => format!("{name}={text}"),
        Value::Array(_) | Value::Object(_) if value.to_string().len() > LONGEST => {
            format!("{name}=(--json)")
        }
        other => format!("{name}={other}"),
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// A configuration: its name, what is run, what is done around that, and the parameters
/// that are not those of all.
fn one(configuration: &Value, shared: &Map<String, Value>) -> String {
    let text = |key| configuration.get(key).and_then(Value::as_str);
    let mut parts: Vec<String> = Vec::new();
    for (before, key) in [
        ("", "command"),
        ("prepared by ", "prepare"),
        ("concluded by ", "conclude"),
    ] {
        let said = text(key).filter(|said| !said.is_empty() && text("name") != Some(*said));
        parts.extend(said.map(|said| format!("{before}{said}")));
    }
    let own = configuration.get("parameters").and_then(Value::as_object);
    let own: Map<String, Value> = own
        .into_iter()
        .flatten()
        .filter(|(name, _)| !shared.contains_key(*name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if !own.is_empty() {
        parts.push(told(&own));
    }
    let at = configuration.get("at").and_then(Value::as_object);
    let at = at.into_iter().flat_map(|at| at.values());
    let name: Vec<&str> = std::iter::once(text("name").unwrap_or("?"))
        .chain(at.filter_map(Value::as_str))
        .collect();
    let name = name.join(", ");
    match parts.is_empty() {
        true => name,
        false => format!("{name}: {}", parts.join("; ")),
    }
}

/// The fields that all have, with one value.
fn shared(all: &[&Map<String, Value>]) -> Map<String, Value> {
    let Some((first, others)) = all.split_first() else {
        return Map::new();
    };
    let in_all = first
        .iter()
        .filter(|(name, value)| others.iter().all(|other| other.get(*name) == Some(*value)));
    in_all
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Style;
    use serde_json::json;

    fn text(parameters: &Value) -> String {
        let mut page = Page::new(Style::Plain);
        write_parameters(&mut page, parameters);
        page.finish()
    }

    #[test]
    fn what_configurations_share_stands_once() {
        let plan = json!({
            "configurations": [
                {"name": "few", "command": "stiction fio --numjobs=1",
                 "parameters": {"threads": 1, "size": 4}, "prepare": null},
                {"name": "many", "command": "stiction fio --numjobs=8", "at": {"workload": "w"},
                 "parameters": {"parts": [{"job": "j".repeat(200)}], "threads": 8, "size": 4},
                 "prepare": "sync"},
            ],
            "blocks": 6,
        });
        assert_eq!(
            text(&plan),
            "  in turn       few: stiction fio --numjobs=1; threads=1\n\
             \x20               many, w: stiction fio --numjobs=8; prepared by sync;\n\
             \x20               parts=(--json) threads=8\n\
             \x20 parameters    size=4\n\
             \x20 blocks        blocks=6\n"
        );
    }

    #[test]
    fn a_single_workload_has_its_parameters_on_a_line() {
        assert_eq!(
            text(&json!({"deep": 32, "mode": "a"})),
            "  parameters    deep=32 mode=a\n"
        );
    }
}
