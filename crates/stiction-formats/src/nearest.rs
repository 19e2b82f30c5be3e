//! The word that was meant, of those that there are.

/// The word nearest to `word`, if it is near: a third of its letters at most are other
/// ones. Upper and lower case are the same, and so are `-` and `_`.
#[must_use]
pub fn nearest<'w>(word: &str, words: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    let plain = |text: &str| text.to_ascii_lowercase().replace('-', "_");
    let wanted = plain(word);
    let limit = (wanted.chars().count() / 3).max(1);
    words
        .map(|known| (distance(&wanted, &plain(known)), known))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// Levenshtein's distance: letters to insert, drop or change.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, one) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let changed = diagonal + usize::from(one != *other);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The textbook's example: kitten, sitten, sittin, sitting.
    #[test]
    fn kitten_is_three_letters_from_sitting() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
    }

    #[test]
    fn only_what_is_near_is_meant() {
        let known = ["blocks", "budget", "order"];
        let nearest = |word| nearest(word, known.into_iter());
        assert_eq!(nearest("block"), Some("blocks"));
        assert_eq!(nearest("Bugdet"), Some("budget"));
        assert_eq!(nearest("scheduler"), None);
    }
}
