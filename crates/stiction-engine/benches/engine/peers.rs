//! A row done by other programs, each started anew.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use testkit::skip::has_program;

use crate::rows::{Call, Contender, Load};
use crate::sample::Sample;

/// Names under which the tool from fio's sources may be installed.
const RING_TOOLS: [&str; 2] = ["t_io_uring", "io_uring"];

/// Why `contender` cannot be had here; `None` if it can.
pub(crate) fn missing(contender: Contender) -> Option<&'static str> {
    match contender {
        Contender::Bare | Contender::Stiction => None,
        Contender::Fio | Contender::FioTuned | Contender::FioReduced => {
            (!has_program("fio")).then_some("fio is not on PATH")
        }
        Contender::RingTool => {
            let any = RING_TOOLS.iter().any(|name| has_program(name));
            (!any)
                .then_some("t/io_uring of fio's sources is not on PATH (as io_uring or t_io_uring)")
        }
    }
}

/// Does `load` with fio for `seconds`.
pub(crate) fn fio(
    contender: Contender,
    load: &Load,
    path: &Path,
    length_bytes: u64,
    seconds: f64,
) -> Result<Sample, String> {
    let mut fio = Command::new("fio");
    fio.args(common_options(load, path, length_bytes));
    fio.args(["--time_based", "--output-format=json"]);
    fio.arg(format!("--runtime={}ms", (seconds * 1e3) as u64));
    if contender != Contender::Fio {
        fio.args(tuned_options(load));
    }
    if contender == Contender::FioReduced {
        fio.arg("--gtod_reduce=1");
    }
    sample_of(&output(&mut fio)?)
}

/// The options that say what is done.
pub(crate) fn common_options(load: &Load, path: &Path, length_bytes: u64) -> Vec<String> {
    let engine = match load.call {
        Call::None => "null",
        Call::Sync => "psync",
        Call::Ring => "io_uring",
    };
    let action = match (load.sequential, load.write) {
        (true, false) => "read",
        (true, true) => "write",
        (false, false) => "randread",
        (false, true) => "randwrite",
    };
    let mut options = vec![
        "--name=bench".to_owned(),
        "--thread".to_owned(),
        "--invalidate=0".to_owned(),
        format!("--size={length_bytes}"),
        format!("--bs={}", load.block_bytes),
        format!("--rw={action}"),
        format!("--ioengine={engine}"),
        format!("--iodepth={}", load.depth),
        format!("--direct={}", u8::from(load.is_direct())),
    ];
    if load.call != Call::None {
        options.push(format!("--filename={}", path.display()));
    }
    if !load.write {
        options.push("--readonly".to_owned());
    }
    options
}

fn tuned_options(load: &Load) -> Vec<String> {
    let mut options = vec!["--norandommap".to_owned()];
    if load.depth > 1 {
        options.extend([
            format!("--iodepth_batch_submit={}", load.depth),
            "--iodepth_batch_complete_min=1".to_owned(),
            format!("--iodepth_batch_complete_max={}", load.depth),
        ]);
    }
    if load.call == Call::Ring {
        options.extend(["--registerfiles".to_owned(), "--fixedbufs".to_owned()]);
    }
    options
}

fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output =
        (command.stdin(Stdio::null()).output()).map_err(|error| format!("{name}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    Err(format!(
        "{name}: {}\n{}",
        output.status,
        text(&output.stderr)
    ))
}

/// What fio's JSON says of its one job. CPU shares are percentages of its run time.
fn sample_of(text: &str) -> Result<Sample, String> {
    let json = text.find('{').map_or("", |start| &text[start..]);
    let json: Value = serde_json::from_str(json).map_err(|error| format!("fio's JSON: {error}"))?;
    let job = &json["jobs"][0];
    let number = |value: &Value| value.as_f64().ok_or("fio's JSON lacks a number".to_owned());
    let share = number(&job["usr_cpu"])? + number(&job["sys_cpu"])?;
    let wall_ns = number(&job["job_runtime"])? * 1e6;
    let operations = number(&job["read"]["total_ios"])? + number(&job["write"]["total_ios"])?;
    Ok(Sample {
        operations: operations as u64,
        cpu_ns: share / 100.0 * wall_ns,
        wall_ns,
    })
}

/// Does `load` with the tool, which knows whole seconds only: its own lines say how
/// many operations a second, and the kernel what CPU time it took.
pub(crate) fn ring_tool(load: &Load, path: &Path) -> Result<Sample, String> {
    // There is a line at the end of each second but the last.
    const SECONDS: u32 = 3;
    let name = (RING_TOOLS.into_iter().find(|name| has_program(name))).ok_or("no t/io_uring")?;
    let batch = (load.depth / 4).max(1);
    let cpu_before = children_cpu_ns();
    let text = output(
        Command::new(name)
            .arg(format!("-d{}", load.depth))
            .arg(format!("-s{}", load.depth))
            .arg(format!("-c{batch}"))
            .arg(format!("-b{}", load.block_bytes))
            .args(["-p0", "-B1", "-F1", "-X1", "-t1", "-n1", "-O0"])
            .arg(format!("-r{SECONDS}"))
            .arg(path),
    )?;
    let cpu_ns = children_cpu_ns() - cpu_before;
    let rates: Option<Vec<f64>> = text.split("\nIOPS=").skip(1).map(rate_of).collect();
    let rates = rates.filter(|rates| !rates.is_empty());
    let rates = rates.ok_or(format!("{name} says no rate:\n{text}"))?;
    let rate = rates.iter().sum::<f64>() / rates.len() as f64;
    Ok(Sample {
        operations: (rate * f64::from(SECONDS)) as u64,
        cpu_ns,
        wall_ns: 1e9 * f64::from(SECONDS),
    })
}

/// The number that `figures` begin with: `1.12M`, `833K` or `912`.
fn rate_of(figures: &str) -> Option<f64> {
    let figure = figures.split([',', ' ', '\n']).next()?;
    let (number, factor) = match (figure.strip_suffix('K'), figure.strip_suffix('M')) {
        (Some(number), _) => (number, 1e3),
        (_, Some(number)) => (number, 1e6),
        _ => (figure, 1.0),
    };
    Some(number.parse::<f64>().ok()? * factor)
}

/// CPU time of all programs that were waited for, ns.
fn children_cpu_ns() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Fields 16 and 17, in ticks of 10 ms; the name before them may have spaces.
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<f64> = (after_name.split_whitespace().skip(13).take(2))
        .filter_map(|field| field.parse().ok())
        .collect();
    fields.iter().sum::<f64>() * 1e9 / rustix::param::clock_ticks_per_second() as f64
}
