//! What of a program's words is kept with its figures.

/// Most bytes of an output that are kept: its end.
const KEPT_BYTES_MAX: usize = 2048;

/// The end of what was said on `name`, for a note; `None` where nothing was said.
pub(super) fn note(name: &str, said: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(said);
    let text = text.trim_end();
    if text.is_empty() {
        return None;
    }
    let mut begin = text.len().saturating_sub(KEPT_BYTES_MAX);
    while !text.is_char_boundary(begin) {
        begin += 1;
    }
    let kept = &text[begin..];
    Some(if begin == 0 {
        format!("{name}: {kept}")
    } else {
        format!(
            "{name}, the last {} of {} bytes: {kept}",
            kept.len(),
            text.len()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_and_a_cut_is_said() {
        assert_eq!(note("stdout", b" \n"), None);
        assert_eq!(note("stdout", b"tps = 5\n").unwrap(), "stdout: tps = 5");
        let long = "\u{e9}".repeat(2000) + "end";
        let note = note("stdout", long.as_bytes()).unwrap();
        assert!(note.starts_with("stdout, the last 2047 of 4003 bytes: "));
        assert!(note.ends_with("end"));
    }
}
