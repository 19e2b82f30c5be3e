//! Jobs of cron that set off work on filesystems (crontab(5)).

use std::time::Duration;

use stiction_core::Spoiler;

use super::timers::due as spoiler;
use crate::Roots;

/// What a job's command has in it when it reads or writes much.
const WORK: [&str; 7] = [
    "fstrim",
    "scrub",
    "checkarray",
    "updatedb",
    "backup",
    "cron.daily",
    "cron.weekly",
];
/// Furthest that is looked ahead, minutes.
const MINUTES_MOST: i64 = 24 * 60;

/// Jobs of the system's crontabs that are due `within` so long from `now`.
pub(super) fn due(roots: &Roots, now: &jiff::Zoned, within: Duration) -> Vec<Spoiler> {
    let own = roots.names("/etc/cron.d").into_iter();
    let files = own.map(|name| format!("/etc/cron.d/{name}"));
    let by_systemd = roots.has("/run/systemd/system");
    let mut found = Vec::new();
    for file in files.chain(["/etc/crontab".to_owned()]) {
        let text = roots.text(&file).unwrap_or_default();
        for line in text.lines() {
            let Some((when, command)) = entry(line) else {
                continue;
            };
            // Such a job leaves its work to a timer where systemd runs.
            let is_left = by_systemd && command.contains("/run/systemd/system");
            let work = WORK.iter().find(|work| command.contains(*work));
            if let (Some(work), false) = (work, is_left)
                && let Some(left) = next(&when, now, within)
            {
                found.push(spoiler(&format!("`{work}` of {file}"), left));
            }
        }
    }
    found
}

/// The five fields of time and the rest of a line; none of comments, variables and
/// nicknames such as `@reboot`.
fn entry(line: &str) -> Option<([&str; 5], &str)> {
    let mut rest = line.trim_start();
    if !rest.starts_with(|first: char| first.is_ascii_digit() || first == '*') {
        return None;
    }
    let mut when = [""; 5];
    for field in &mut when {
        let (one, after) = rest.split_once([' ', '\t'])?;
        *field = one;
        rest = after.trim_start();
    }
    Some((when, rest))
}

/// How long until the next full minute that the fields allow, within that time.
fn next(when: &[&str; 5], now: &jiff::Zoned, within: Duration) -> Option<Duration> {
    let most = (within.as_secs() / 60).min(MINUTES_MOST as u64) as i64;
    let begun = i64::from(now.second());
    (1..=most).find_map(|minutes| {
        let left = jiff::SignedDuration::from_secs(60 * minutes - begun);
        let at = now.checked_add(left).ok()?;
        matches(when, &at).then(|| left.unsigned_abs())
    })
}

/// Whether a minute is one of those. Where both the day of the month and of the week are
/// restricted, either will do.
fn matches(&[minute, hour, day, month, week_day]: &[&str; 5], at: &jiff::Zoned) -> bool {
    let sunday_first = at.weekday().to_sunday_zero_offset().unsigned_abs();
    let in_week = has(week_day, sunday_first.into()) || (sunday_first == 0 && has(week_day, 7));
    let in_month = has(day, at.day().unsigned_abs().into());
    let by_day = if day.starts_with('*') || week_day.starts_with('*') {
        in_month && in_week
    } else {
        in_month || in_week
    };
    has(minute, at.minute().unsigned_abs().into())
        && has(hour, at.hour().unsigned_abs().into())
        && has(month, at.month().unsigned_abs().into())
        && by_day
}

/// Whether a field such as `*/15`, `1,31` or `6-18/2` has the value. Names of months and
/// days are taken for any.
fn has(field: &str, value: u32) -> bool {
    field.split(',').any(|part| {
        let (range, step) = part.split_once('/').unwrap_or((part, "1"));
        let step: u32 = step.parse().unwrap_or(1);
        let (first, last) = match range.split_once('-') {
            _ if range == "*" => (0, u32::MAX),
            Some((first, last)) => match (first.parse(), last.parse()) {
                (Ok(first), Ok(last)) => (first, last),
                _ => return true,
            },
            None => match range.parse() {
                Ok(one) => (one, one),
                Err(_) => return true,
            },
        };
        (first..=last).contains(&value) && (value - first).is_multiple_of(step.max(1))
    })
}

#[cfg(test)]
mod tests {
    use testkit::machine::lay_out;

    use super::*;

    fn found(crontab: &str, now: &str) -> Vec<Spoiler> {
        let top = lay_out(&format!("/etc/cron.d/jobs:\n|{crontab}\n"));
        let now: jiff::Zoned = now.parse().unwrap();
        due(&Roots::at(top.path()), &now, Duration::from_secs(1800))
    }

    /// 2026-11-29 is a Sunday, and the jobs are those that Debian's packages bring.
    #[test]
    fn a_job_is_told_when_its_minute_comes_soon() {
        let scrub = "30 3 * * 0 root test -e /run/systemd/system || SERVICE_MODE=1 e2scrub_all";
        let before = found(scrub, "2026-11-29T03:05:10+00:00[UTC]");
        assert_eq!(before.len(), 1);
        assert!(
            before[0].detail.contains("`scrub` of /etc/cron.d/jobs"),
            "{}",
            before[0].detail
        );
        assert_eq!(found(scrub, "2026-11-29T02:55:10+00:00[UTC]"), []);
        // A Monday.
        assert_eq!(found(scrub, "2026-11-30T03:05:10+00:00[UTC]"), []);
        let check = "57 0 * * 0 root [ -x /usr/share/mdadm/checkarray ] && checkarray --cron";
        assert_eq!(found(check, "2026-11-29T00:40:00+00:00[UTC]").len(), 1);
        // The same on a machine whose systemd does it.
        let top = lay_out(&format!("/run/systemd/system/\n/etc/crontab:\n|{scrub}\n"));
        let now: jiff::Zoned = "2026-11-29T03:05:10+00:00[UTC]".parse().unwrap();
        let told = due(&Roots::at(top.path()), &now, Duration::from_secs(1800));
        assert_eq!(told, []);
    }

    #[test]
    fn other_lines_are_left_alone() {
        for line in [
            "# 30 3 * * 0 root fstrim",
            "SHELL=/bin/sh",
            "@reboot root fstrim",
            "*/5 * * * * root /usr/lib/sysstat/debian-sa1 1 1",
        ] {
            assert_eq!(found(line, "2026-11-29T03:05:10+00:00[UTC]"), [], "{line}");
        }
    }

    #[test]
    fn fields_are_lists_ranges_and_steps() {
        assert!(has("*/15", 30) && !has("*/15", 31));
        assert!(has("1,31", 31) && !has("1,31", 30));
        assert!(has("6-18/2", 8) && !has("6-18/2", 9) && !has("6-18/2", 20));
        assert!(has("sun", 0) && has("*", 59));
    }
}
