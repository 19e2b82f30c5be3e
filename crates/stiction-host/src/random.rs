//! Names that nobody can guess.

use std::io;

/// `length` characters of Crockford's base 32, each five random bits from the kernel.
pub(crate) fn text(length: usize) -> io::Result<String> {
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut bytes = vec![0u8; length];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(bytes
        .into_iter()
        .map(|byte| char::from(ALPHABET[usize::from(byte & 31)]))
        .collect())
}
