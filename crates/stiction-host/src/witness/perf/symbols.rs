//! Names of the kernel's functions, from `/proc/kallsyms`.

use std::io;

/// Functions by address.
#[derive(Debug)]
pub(super) struct Symbols {
    text: String,
    /// Address, and where its name is in the text; in rising order.
    functions: Vec<(u64, usize, usize)>,
}

impl Symbols {
    /// Reads `/proc/kallsyms`.
    pub(super) fn read() -> io::Result<Self> {
        Self::parse(std::fs::read_to_string("/proc/kallsyms")?)
    }

    /// `ffffffff81000000 T _stext`, with `[module]` behind for those of modules.
    fn parse(text: String) -> io::Result<Self> {
        let mut functions = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let mut fields = line.trim_end().splitn(3, ' ');
            let (Some(address), Some(kind), Some(name)) =
                (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            let address = u64::from_str_radix(address, 16).unwrap_or(0);
            if !matches!(kind, "t" | "T" | "w" | "W") || address == 0 {
                continue;
            }
            let name_at = start + line.find(name).unwrap_or(0);
            let length = name.find(['\t', ' ']).unwrap_or(name.len());
            functions.push((address, name_at, name_at + length));
        }
        if functions.is_empty() {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "all addresses are hidden (kernel.kptr_restrict)",
            ));
        }
        functions.sort_unstable();
        Ok(Self { text, functions })
    }

    /// The function that holds `address`; `None` below the first.
    pub(super) fn name(&self, address: u64) -> Option<&str> {
        let after = self.functions.partition_point(|(at, ..)| *at <= address);
        let (_, from, to) = self.functions.get(after.checked_sub(1)?)?;
        self.text.get(*from..*to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_in_the_function_before_it() {
        let text = "ffffffff81000200 T second\nffffffff81000300 d data\n\
                    ffffffff81000100 T first\nffffffff81000250 t third\t[loop]\n";
        let symbols = Symbols::parse(text.to_owned()).unwrap();
        let name = |address| symbols.name(address);
        assert_eq!(name(0xffff_ffff_8100_00ff), None);
        assert_eq!(name(0xffff_ffff_8100_0100), Some("first"));
        assert_eq!(name(0xffff_ffff_8100_01ff), Some("first"));
        assert_eq!(name(0xffff_ffff_8100_0210), Some("second"));
        assert_eq!(name(0xffff_ffff_8100_0350), Some("third"));
    }

    #[test]
    fn zeros_are_no_addresses() {
        let hidden = "0000000000000000 T _stext\n0000000000000000 T start\n";
        let error = Symbols::parse(hidden.to_owned()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }
}
