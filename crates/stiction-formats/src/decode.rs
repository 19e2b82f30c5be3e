//! Bytes of a file as text.

use std::borrow::Cow;

/// The bytes of a results file as text: UTF-8 where they are, else Latin-1, in
/// which every byte is a character. Old mail is Latin-1 as often as not, and the
/// figures are ASCII in both.
#[must_use]
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(_) => Cow::Owned(bytes.iter().copied().map(char::from).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn latin_1_is_read_where_utf_8_fails() {
        assert_eq!(decode("na\u{ef}ve".as_bytes()), "na\u{ef}ve");
        assert_eq!(decode(b"na\xefve 32.39\r\n"), "na\u{ef}ve 32.39\r\n");
        assert_eq!(decode(b"\xef\xbb\xbfKernel"), "Kernel");
    }
}
