//! What is done before trials, from words to the plan's own terms.

use clap::ValueEnum;
use stiction_core::{
    CacheState, Canary, Precondition, Preparation, SpoilerPolicy, parse_duration_ns,
    parse_size_bytes,
};
use stiction_formats::spec::{Asked, SpecPreparation};

use crate::arguments::{CacheWord, PreparationArguments, SpoilersWord};
use crate::failure::Failure;

/// How long a trial waits for its device where no time was given, ns.
const SETTLE_NS: u64 = 30_000_000_000;
/// The most blocks between canaries.
const CANARY_MOST: u32 = 1000;

/// What the words mean.
///
/// # Errors
/// For a size or a time that does not read, and for words that say nothing together.
pub(super) fn meant(typed: &PreparationArguments) -> Result<Preparation, Failure> {
    let precondition = match &typed.precondition {
        Some(size) => Some(precondition(size.as_deref(), typed)?),
        None if typed.precondition_max.is_some() || typed.precondition_max_bytes.is_some() => {
            return Err(
                Failure::new("nothing is preconditioned, and a bound is given")
                    .advise("`--precondition` asks for it."),
            );
        }
        None => None,
    };
    let settle_ns_max = match &typed.settle {
        None => None,
        Some(None) => Some(SETTLE_NS),
        Some(Some(text)) => Some(parse_duration_ns(text)?),
    };
    let canary = match typed.canary {
        None => None,
        Some(every) => Some(canary(every)?),
    };
    Ok(Preparation {
        purge: typed.purge,
        precondition,
        cache: match typed.cache {
            Some(CacheWord::Cold) => CacheState::Cold,
            Some(CacheWord::Warm) => CacheState::Warm,
            Some(CacheWord::AsIs) | None => CacheState::AsIs,
        },
        settle_ns_max,
        spoilers: match typed.spoilers {
            Some(SpoilersWord::Ignore) => SpoilerPolicy::Ignore,
            Some(SpoilersWord::Wait) => SpoilerPolicy::Wait,
            Some(SpoilersWord::Refuse) => SpoilerPolicy::Refuse,
            Some(SpoilersWord::Warn) | None => SpoilerPolicy::Warn,
        },
        canary,
    })
}

fn precondition(size: Option<&str>, typed: &PreparationArguments) -> Result<Precondition, Failure> {
    let mut wanted = Precondition {
        range_bytes: size.map(parse_size_bytes).transpose()?,
        ..Precondition::default()
    };
    if let Some(text) = &typed.precondition_max {
        wanted.duration_ns_max = parse_duration_ns(text)?;
    }
    if let Some(text) = &typed.precondition_max_bytes {
        wanted.overwritten_bytes_max = Some(parse_size_bytes(text)?);
    }
    if wanted.range_bytes == Some(0) || wanted.duration_ns_max == 0 {
        return Err(Failure::new(
            "--precondition: nothing can be written in nothing",
        ));
    }
    Ok(wanted)
}

fn canary(every: Option<u32>) -> Result<Canary, Failure> {
    match every {
        None => Ok(Canary::default()),
        Some(every @ 1..=CANARY_MOST) => Ok(Canary { every }),
        Some(_) => Err(Failure::new(format!(
            "--canary: give 1 to {CANARY_MOST} blocks"
        ))),
    }
}

/// What the table of a file says, as if it were typed.
///
/// # Errors
/// What is wrong with which key.
pub(super) fn in_file(table: &SpecPreparation) -> Result<PreparationArguments, String> {
    let arguments = PreparationArguments {
        precondition: table.precondition.as_ref().and_then(Asked::option),
        precondition_max: table.precondition_max.clone(),
        precondition_max_bytes: table.precondition_max_bytes.clone(),
        purge: table.purge,
        cache: word("cache", table.cache.as_deref())?,
        settle: table.settle.as_ref().and_then(Asked::option),
        spoilers: word("spoilers", table.spoilers.as_deref())?,
        canary: table.canary.as_ref().and_then(Asked::option),
    };
    // What does not read is told at its place in the file.
    meant(&arguments).map_err(|failure| failure.message())?;
    Ok(arguments)
}

/// A word of a choice, by the words that are typed for it.
fn word<T: ValueEnum>(key: &str, text: Option<&str>) -> Result<Option<T>, String> {
    let Some(text) = text else {
        return Ok(None);
    };
    T::from_str(text, false).map(Some).map_err(|_| {
        let known = T::value_variants()
            .iter()
            .filter_map(ValueEnum::to_possible_value);
        let known: Vec<String> = known.map(|word| word.get_name().to_owned()).collect();
        format!("{key}: `{text}` is none of {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_to_a_preparation() {
        let typed = PreparationArguments {
            precondition: Some(Some("2GiB".to_owned())),
            precondition_max: Some("90s".to_owned()),
            settle: Some(None),
            canary: Some(Some(2)),
            ..PreparationArguments::default()
        };
        let meant = meant(&typed).unwrap();
        let precondition = meant.precondition.unwrap();
        assert_eq!(precondition.range_bytes, Some(2 << 30));
        assert_eq!(precondition.duration_ns_max, 90_000_000_000);
        assert_eq!(meant.settle_ns_max, Some(30_000_000_000));
        assert_eq!(meant.canary, Some(Canary { every: 2 }));
        // Nobody has to ask for a look at the machine.
        assert_eq!(meant.spoilers, SpoilerPolicy::Warn);
    }

    #[test]
    fn what_says_nothing_is_refused() {
        let bound = PreparationArguments {
            precondition_max: Some("90s".to_owned()),
            ..PreparationArguments::default()
        };
        assert!(
            meant(&bound)
                .unwrap_err()
                .message()
                .contains("--precondition")
        );
        for (precondition, canary) in [(Some(Some("0".to_owned())), None), (None, Some(Some(0)))] {
            let typed = PreparationArguments {
                precondition,
                canary,
                ..PreparationArguments::default()
            };
            assert!(meant(&typed).is_err(), "{typed:?}");
        }
    }

    #[test]
    fn a_table_is_as_if_it_were_typed() {
        let table = SpecPreparation {
            precondition: Some(Asked::Switch(true)),
            cache: Some("cold".to_owned()),
            canary: Some(Asked::Value(8)),
            settle: Some(Asked::Switch(false)),
            ..SpecPreparation::default()
        };
        let typed = in_file(&table).unwrap();
        assert_eq!(typed.precondition, Some(None));
        assert_eq!(typed.cache, Some(CacheWord::Cold));
        assert_eq!((typed.canary, typed.settle), (Some(Some(8)), None));
        let wrong = SpecPreparation {
            cache: Some("lukewarm".to_owned()),
            ..SpecPreparation::default()
        };
        let problem = in_file(&wrong).unwrap_err();
        assert_eq!(problem, "cache: `lukewarm` is none of cold, warm, as-is");
    }
}
