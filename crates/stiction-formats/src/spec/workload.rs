//! What is measured: benchmarks, job files and jobs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use toml::Spanned;

use super::{LevelText, Line};

/// One benchmark by its name, or several workloads in full.
#[derive(Clone, Debug)]
pub enum Workloads {
    /// `workload = "tiobench"`.
    One(String),
    /// `[[workload]]`, as often as there are.
    Several(Vec<SpecWorkload>),
}

/// One workload: `run`, `fio`, `job` or `command` says what is done.
#[derive(Clone, Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpecWorkload {
    /// Its name: the level of the factor `workload` where there are several.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// A measuring command of stiction's: `tiobench`.
    #[schemars(with = "Option<String>")]
    pub run: Option<Spanned<String>>,
    /// Arguments of `run`, or options beside those of the file in `fio`.
    #[schemars(with = "Option<Line>")]
    pub arguments: Option<Spanned<Line>>,
    /// A job file of fio's.
    #[schemars(with = "Option<String>")]
    pub fio: Option<Spanned<String>>,
    /// One job in the words of fio: `rw`, `bs`, `iodepth`, `size`, `runtime`...
    #[schemars(with = "Option<BTreeMap<String, JobValue>>")]
    pub job: Option<Spanned<BTreeMap<String, Spanned<JobValue>>>>,
    /// A command of yours, that is timed; its figures are those of `metrics`.
    #[schemars(with = "Option<Line>")]
    pub command: Option<Spanned<Line>>,
}

/// The value of an option of a job.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "the value of an option is a text, a number, true or false"
)]
pub enum JobValue {
    /// `rw = "randread"`, `iodepth = 32`, `direct = true`.
    Level(LevelText),
    /// `rwmixread = 66.5`.
    Fraction(f64),
}

impl fmt::Display for JobValue {
    /// As fio has it: `1` for true.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Level(LevelText::Switch(switch)) => u8::from(*switch).fmt(f),
            Self::Level(level) => level.fmt(f),
            Self::Fraction(fraction) => fraction.fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for Workloads {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // An untagged enum would lose the place of what is wrong inside.
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Workloads;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a benchmark, or tables [[workload]]")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Workloads, E> {
                Ok(Workloads::One(name.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Workloads, A::Error> {
                let mut all = Vec::new();
                while let Some(one) = items.next_element()? {
                    all.push(one);
                }
                Ok(Workloads::Several(all))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for Workloads {
    fn schema_name() -> Cow<'static, str> {
        "Workloads".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<SpecWorkload>();
        json_schema!({ "anyOf": [
            { "type": "string", "description": "A measuring command: `tiobench`." },
            { "type": "array", "items": one, "minItems": 1 },
        ] })
    }
}
