//! Values with a grammar of their own.

use super::super::job::{
    Action, Distribution, Engine, FileOrder, Order, PerDirection, RangeSync, Share, SteadyOf, Zone,
};
use super::super::settings::{Complaint, size};
use super::super::units::{Amount, Bytes, KbBase, read_bytes};

fn complaint<T>(what: impl Into<String>, advice: impl Into<String>) -> Result<T, Complaint> {
    Err((what.into(), advice.into()))
}

/// Order and direction, with what stands after the colon.
pub(super) struct Rw {
    pub(super) order: Order,
    pub(super) action: Action,
    pub(super) run_operations: u64,
    pub(super) skip_bytes: i64,
}

pub(super) fn rw(text: &str, base: KbBase) -> Result<Rw, Complaint> {
    let (word, after) = match text.split_once(':') {
        Some((word, after)) => (word, Some(after)),
        None => (text, None),
    };
    let (order, action) = match word {
        "read" => (Order::Sequential, Action::Read),
        "write" => (Order::Sequential, Action::Write),
        "trim" => (Order::Sequential, Action::Trim),
        "rw" | "readwrite" => (Order::Sequential, Action::ReadWrite),
        "trimwrite" => (Order::Sequential, Action::TrimWrite),
        "randread" => (Order::Random, Action::Read),
        "randwrite" => (Order::Random, Action::Write),
        "randtrim" => (Order::Random, Action::Trim),
        "randrw" => (Order::Random, Action::ReadWrite),
        "randtrimwrite" => (Order::Random, Action::TrimWrite),
        _ => {
            return complaint(
                format!("`{word}` is no pattern"),
                "write read, write, trim, rw or trimwrite, or one of them after rand",
            );
        }
    };
    let mut rw = Rw {
        order,
        action,
        run_operations: 1,
        skip_bytes: 0,
    };
    match (order, after) {
        (_, None) => {}
        (Order::Random, Some(after)) => match after.parse() {
            Ok(count @ 1..) => rw.run_operations = count,
            _ => {
                return complaint(
                    format!("`{after}` is no number of operations"),
                    "write 1 or more after the colon, as in randread:8",
                );
            }
        },
        (Order::Sequential, Some(after)) => {
            let (sign, number) = match after.strip_prefix('-') {
                Some(number) => (-1, number),
                None => (1, after),
            };
            let bytes = size(number, 0, base)?;
            rw.skip_bytes = sign * i64::try_from(bytes).unwrap_or(i64::MAX);
        }
    }
    Ok(rw)
}

pub(super) fn engine(text: &str) -> Result<Engine, Complaint> {
    Ok(match text {
        "sync" => Engine::Sync,
        "psync" => Engine::Psync,
        "vsync" => Engine::Vsync,
        "pvsync" => Engine::Pvsync,
        "pvsync2" => Engine::Pvsync2,
        "io_uring" => Engine::IoUring,
        "libaio" | "linuxaio" => Engine::Libaio,
        "mmap" => Engine::Mmap,
        "splice" => Engine::Splice,
        "null" => Engine::Null,
        "io_uring_cmd" => {
            return complaint(
                "NVMe passthrough is not driven",
                "use io_uring on the block device",
            );
        }
        "posixaio" => {
            return complaint(
                "POSIX AIO on Linux is threads in the C library",
                "use io_uring, or psync with more numjobs",
            );
        }
        "windowsaio" | "solarisaio" => {
            return complaint("this engine is not Linux's", "use io_uring or libaio");
        }
        "cpuio" => {
            return complaint(
                "it burns CPU and does no I/O",
                "remove this job, and run the load beside the benchmark",
            );
        }
        _ => {
            return complaint(
                format!("the engine `{text}` is not driven"),
                "use psync, pvsync2, io_uring, libaio, mmap, splice or null; for network \
                 storage, mount or map it first",
            );
        }
    })
}

/// A list between `:`; `\:` is a colon in a name.
pub(super) fn list(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut escaped = false;
    for c in text.chars() {
        match c {
            '\\' if !escaped => {
                escaped = true;
                continue;
            }
            ':' if !escaped => names.push(String::new()),
            _ => {
                let name = names.last_mut().expect("there is always one");
                if escaped && c != ':' {
                    name.push('\\');
                }
                name.push(c);
            }
        }
        escaped = false;
    }
    if escaped {
        names.last_mut().expect("there is always one").push('\\');
    }
    names.retain(|name| !name.is_empty());
    names
}

/// One to three parts for reads, writes and trims; the last given counts for those
/// after it.
fn per_direction<T: Clone>(
    text: &str,
    read: impl Fn(&str) -> Result<T, Complaint>,
) -> Result<PerDirection<Option<T>>, Complaint> {
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return complaint("it has more than three parts", "write reads,writes,trims");
    }
    let mut values = [None, None, None];
    for (index, part) in parts.iter().enumerate() {
        let value = if part.is_empty() {
            None
        } else {
            Some(read(part)?)
        };
        values[index..].fill(value);
    }
    let [read, write, trim] = values;
    Ok(PerDirection { read, write, trim })
}

/// `4k/10:64k/50:32k/40`; sizes without a share divide what is left evenly.
pub(super) fn block_split(
    text: &str,
    base: KbBase,
) -> Result<PerDirection<Option<Vec<Share>>>, Complaint> {
    per_direction(text, |part| shares(part, base))
}

fn shares(text: &str, base: KbBase) -> Result<Vec<Share>, Complaint> {
    let mut sizes = Vec::new();
    for part in text.split(':') {
        let (size_text, percent) = part.split_once('/').unwrap_or((part, ""));
        let bytes = size(size_text, 1, base)?;
        let percent = match percent {
            "" => None,
            number => match number.parse() {
                Ok(percent @ 0..=100) => Some(percent),
                _ => {
                    return complaint(
                        format!("`{number}` is no share"),
                        "write whole percent after each size, as in 4k/60:64k/40",
                    );
                }
            },
        };
        sizes.push((Bytes(bytes), percent));
    }
    let given: u64 = sizes.iter().filter_map(|(_, p)| *p).map(u64::from).sum();
    let open = sizes
        .iter()
        .filter(|(_, percent)| percent.is_none())
        .count() as u64;
    if given > 100 || (open == 0 && given != 100) {
        return complaint(
            format!("the shares come to {given} percent"),
            "let them come to 100",
        );
    }
    // What does not divide evenly goes to the first ones, so that all come to 100.
    let mut left = 100 - given;
    let mut open_left = open;
    Ok(sizes
        .into_iter()
        .map(|(size, percent)| Share {
            size,
            percent: percent.unwrap_or_else(|| {
                let share = left.div_ceil(open_left);
                left -= share;
                open_left -= 1;
                u8::try_from(share).unwrap_or(100)
            }),
        })
        .collect())
}

/// A decimal number from 0 to `most`.
fn number(text: &str, most: f64) -> Result<f64, Complaint> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=most).contains(&value) => Ok(value),
        _ => complaint(
            format!("`{text}` is no number from 0 to {most}"),
            "write a decimal number",
        ),
    }
}

/// A decimal number above 0, up to `most`.
fn positive(text: &str, most: f64) -> Result<f64, Complaint> {
    match number(text, most)? {
        0.0 => complaint("0 is no skew", "write a number above 0"),
        value => Ok(value),
    }
}

/// `random`, `zipf:1.2`, `pareto:0.9`, `normal:20`, `zoned:60/10:30/20:8/30:2/40`,
/// `zoned_abs:95/10G:5/100G`.
pub(super) fn distribution(
    text: &str,
    base: KbBase,
) -> Result<PerDirection<Distribution>, Complaint> {
    let (word, rest) = text.split_once(':').unwrap_or((text, ""));
    if word == "zoned" || word == "zoned_abs" {
        let each = per_direction(rest, |part| zones(part, word == "zoned_abs", base))?;
        return Ok(each.map(|zones| zones.map_or(Distribution::Even, Distribution::Zoned)));
    }
    let (value, centre) = rest.split_once(':').unwrap_or((rest, ""));
    let centre = match centre {
        "" => None,
        text => Some(number(text, 1.0)?),
    };
    let or = |usual: f64, most| match value {
        "" => Ok(usual),
        text => positive(text, most),
    };
    let one = match word {
        "random" => Distribution::Even,
        "zipf" => {
            let theta = or(1.1, 100.0)?;
            if theta == 1.0 {
                return complaint("Zipf's exponent may not be 1", "write 1.01 or 0.99");
            }
            Distribution::Zipf { theta, centre }
        }
        "pareto" => {
            let power = or(0.2, 1.0)?;
            if power >= 1.0 {
                return complaint("Pareto's power must be below 1", "write 0.2 for 80/20");
            }
            Distribution::Pareto { power, centre }
        }
        "normal" => Distribution::Normal {
            deviation_percent: match value {
                "" => 0.0,
                text => number(text, 100.0)?,
            },
            centre,
        },
        _ => {
            return complaint(
                format!("`{word}` is no distribution"),
                "write random, zipf, pareto, normal, zoned or zoned_abs",
            );
        }
    };
    Ok(PerDirection::same(one))
}

/// `60/10:30/20:10/70`: percent of the operations, and percent (or bytes) of the region.
fn zones(text: &str, absolute: bool, base: KbBase) -> Result<Vec<Zone>, Complaint> {
    const MAX_ZONES: usize = 256;
    let mut zones: Vec<(f64, Option<Amount>)> = Vec::new();
    for part in text.split(':').filter(|part| !part.is_empty()) {
        let (access, size_text) = part.split_once('/').unwrap_or((part, ""));
        let access_percent = number(access, 100.0)?;
        let size = match (size_text, absolute) {
            ("", _) => None,
            (text, true) => Some(Amount::Bytes(Bytes(size(text, 0, base)?))),
            (text, false) => match text.parse() {
                Ok(percent @ 0..=100) => Some(Amount::Percent(percent)),
                _ => {
                    return complaint(
                        format!("`{text}` is no share of the region"),
                        "write whole percent after each `/`",
                    );
                }
            },
        };
        zones.push((access_percent, size));
    }
    if zones.is_empty() || zones.len() > MAX_ZONES {
        return complaint(
            format!("there are {} zones", zones.len()),
            format!("write 1 to {MAX_ZONES}, as in zoned:80/20:20/80"),
        );
    }
    let access: f64 = zones.iter().map(|(access, _)| access).sum();
    if (access - 100.0).abs() > 1e-6 {
        return complaint(
            format!("{access} percent of the operations have a zone"),
            "let the numbers before the `/` come to 100",
        );
    }
    let given: u32 = zones
        .iter()
        .filter_map(|(_, size)| match size {
            Some(Amount::Percent(percent)) => Some(u32::from(*percent)),
            _ => None,
        })
        .sum();
    if given > 100 || (!absolute && given < 100 && zones.iter().all(|(_, size)| size.is_some())) {
        return complaint(
            format!("the zones come to {given} percent of the region"),
            "let the numbers after the `/` come to 100",
        );
    }
    let open = zones.iter().filter(|(_, size)| size.is_none()).count() as u32;
    if open > 0 && absolute {
        return complaint("a zone has no size", "write one after each `/`");
    }
    let mut left = 100 - given;
    let mut open_left = open;
    Ok(zones
        .into_iter()
        .map(|(access_percent, size)| Zone {
            access_percent,
            size: size.unwrap_or_else(|| {
                let share = left.div_ceil(open_left);
                left -= share;
                open_left -= 1;
                Amount::Percent(u8::try_from(share).unwrap_or(100))
            }),
        })
        .collect())
}

/// `0-3,6`: CPUs, from 0.
pub(super) fn cpus(text: &str) -> Result<Vec<u32>, Complaint> {
    const MAX_CPU: u32 = 65_535;
    let mut cpus = Vec::new();
    for part in text.split([',', ':']) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (first.trim().parse::<u32>(), last.trim().parse::<u32>()) {
            (Ok(first), Ok(last)) if first <= last && last <= MAX_CPU => cpus.extend(first..=last),
            _ => {
                return complaint(
                    format!("`{part}` is neither a CPU nor a range"),
                    "write numbers and ranges as in 0-3,6",
                );
            }
        }
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// `wait_before,write:8`: after every 8 writes.
pub(super) fn range_sync(text: &str, base: KbBase) -> Result<RangeSync, Complaint> {
    let (words, count) = text.rsplit_once(':').unwrap_or((text, ""));
    let mut sync = RangeSync {
        every_writes: read_bytes(count, base).unwrap_or(0),
        wait_before: false,
        write: false,
        wait_after: false,
    };
    for word in words.split(',') {
        match word {
            "wait_before" => sync.wait_before = true,
            "write" => sync.write = true,
            "wait_after" => sync.wait_after = true,
            _ => sync.every_writes = 0,
        }
    }
    if sync.every_writes == 0 {
        return complaint(
            "it is not steps and a number of writes",
            "write wait_before, write and wait_after with commas, a `:` and a number, as in \
             wait_before,write:8",
        );
    }
    Ok(sync)
}

/// Which file is next, and operations before that: `zipf:1.2:16`.
pub(super) fn file_order(text: &str) -> Result<(FileOrder, u64), Complaint> {
    let (word, rest) = text.split_once(':').unwrap_or((text, ""));
    let (value, count) = match rest.split_once(':') {
        Some((value, count)) => (value, count),
        // A skew comes first, if the order has one.
        None if matches!(word, "zipf" | "pareto" | "normal" | "gauss") => (rest, ""),
        None => ("", rest),
    };
    let skew = |usual, most| match value {
        "" => Ok(usual),
        text => positive(text, most),
    };
    let order = match word {
        "roundrobin" => FileOrder::RoundRobin,
        "sequential" => FileOrder::Sequential,
        "random" => FileOrder::Random,
        "zipf" => FileOrder::Zipf(skew(1.1, 100.0)?),
        "pareto" => FileOrder::Pareto(skew(0.2, 1.0)?),
        "normal" | "gauss" => FileOrder::Normal(skew(0.0, 100.0)?),
        _ => {
            return complaint(
                format!("`{word}` is no order of files"),
                "write roundrobin, sequential, random, zipf, pareto or normal",
            );
        }
    };
    match count {
        "" => Ok((order, 1)),
        text => match text.parse() {
            Ok(count @ 1..) => Ok((order, count)),
            _ => complaint(
                format!("`{text}` is no number of operations"),
                "write 1 or more after the last colon",
            ),
        },
    }
}

/// Bytes of a pattern: `"text"`, `0xdeadbeef`, decimal numbers, one after another.
pub(super) fn pattern_bytes(text: &str) -> Result<Vec<u8>, Complaint> {
    const MAX_BYTES: usize = 512;
    let advice = "write text in double quotes, hexadecimal after 0x, or a decimal number";
    let mut bytes = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('"') {
            let Some((inside, after)) = after.split_once('"') else {
                return complaint("a quote is not closed", advice);
            };
            bytes.extend_from_slice(inside.as_bytes());
            rest = after;
        } else if rest.starts_with('%') || rest.starts_with('\'') {
            return complaint(
                "patterns with offsets or from files are not written",
                advice,
            );
        } else if let Some(hex) = rest.strip_prefix("0x").or(rest.strip_prefix("0X")) {
            let end = hex
                .find(|c: char| !c.is_ascii_hexdigit())
                .unwrap_or(hex.len());
            let digits = &hex[..end];
            if digits.is_empty() {
                return complaint("no digits follow 0x", advice);
            }
            let even = format!("{}{digits}", if end % 2 == 1 { "0" } else { "" });
            bytes.extend(even.as_bytes().chunks(2).map(|pair| {
                pair.iter().fold(0, |byte, digit| {
                    byte << 4 | (*digit as char).to_digit(16).unwrap_or(0) as u8
                })
            }));
            rest = &hex[end..];
        } else {
            let end = rest
                .find(|c: char| !c.is_ascii_digit() && c != '-')
                .unwrap_or(rest.len());
            let Ok(number) = rest[..end].parse::<i32>() else {
                return complaint(format!("`{rest}` is no pattern"), advice);
            };
            // As many low bytes as the number needs.
            let little = number.to_le_bytes();
            let used = match number {
                i32::MIN..=-1 => 4,
                _ => little
                    .iter()
                    .rposition(|byte| *byte != 0)
                    .map_or(1, |i| i + 1),
            };
            bytes.extend_from_slice(&little[..used]);
            rest = &rest[end..];
        }
        if bytes.len() > MAX_BYTES {
            return complaint(
                format!("the pattern is longer than {MAX_BYTES} bytes"),
                "shorten it",
            );
        }
    }
    if bytes.is_empty() {
        return complaint("the pattern is empty", advice);
    }
    Ok(bytes)
}

/// `iops:5%`, `bw_slope:0.1%`, `lat:1ms`.
pub(super) fn steady(text: &str) -> Result<(SteadyOf, bool, f64, bool), Complaint> {
    let advice = "write iops, bw or lat, with _slope or not, a `:` and a limit, as in iops:5%";
    let Some((word, limit)) = text.split_once(':') else {
        return complaint("the limit is missing", advice);
    };
    let (of, by_slope) = match word.strip_suffix("_slope") {
        Some(of) => (of, true),
        None => (word, false),
    };
    let of = match of {
        "iops" => SteadyOf::Operations,
        "bw" => SteadyOf::Bandwidth,
        "lat" => SteadyOf::Latency,
        _ => return complaint(format!("`{word}` is nothing that can be steady"), advice),
    };
    let (limit, in_percent) = match limit.strip_suffix('%') {
        Some(limit) => (limit, true),
        None => (limit, false),
    };
    match limit.parse::<f64>() {
        Ok(limit) if limit.is_finite() && limit >= 0.0 => Ok((of, by_slope, limit, in_percent)),
        _ => complaint(format!("`{limit}` is no limit"), advice),
    }
}
