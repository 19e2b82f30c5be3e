//! Whole-number arithmetic as job files write it: `(4*1k)`, `8*$ncpus`.
//!
//! fio's grammar: `+ - * / % ^`, unary minus, parentheses, and a unit after a
//! number or a closing parenthesis. Debian builds fio without it.

/// What a value comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Evaluated {
    /// The result.
    pub(crate) value: i128,
    /// Whether a unit stood anywhere; if not, the option's default unit applies.
    pub(crate) had_unit: bool,
}

/// Parentheses and signs that may stand inside each other.
const MAX_DEPTH: usize = 64;

/// Evaluates `text`; `unit` gives the factor of a unit such as `k` or `ms`.
///
/// # Errors
/// What is wrong, as a phrase.
pub(crate) fn evaluate(
    text: &str,
    unit: &dyn Fn(&str) -> Option<u64>,
) -> Result<Evaluated, String> {
    let mut parser = Parser {
        rest: text,
        unit,
        had_unit: false,
        depth: 0,
    };
    let value = parser.sum()?;
    parser.skip_blanks();
    if !parser.rest.is_empty() {
        return Err(format!("`{}` is left over", parser.rest));
    }
    Ok(Evaluated {
        value,
        had_unit: parser.had_unit,
    })
}

struct Parser<'a> {
    rest: &'a str,
    unit: &'a dyn Fn(&str) -> Option<u64>,
    had_unit: bool,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, wanted: char) -> bool {
        self.skip_blanks();
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !wanted(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn sum(&mut self) -> Result<i128, String> {
        let mut value = self.product()?;
        loop {
            if self.take('+') {
                value = fits(value.checked_add(self.product()?))?;
            } else if self.take('-') {
                value = fits(value.checked_sub(self.product()?))?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<i128, String> {
        let mut value = self.signed()?;
        loop {
            if self.take('*') {
                value = fits(value.checked_mul(self.signed()?))?;
            } else if self.take('/') {
                value = divided(value.checked_div(self.signed()?))?;
            } else if self.take('%') {
                value = divided(value.checked_rem(self.signed()?))?;
            } else {
                return Ok(value);
            }
        }
    }

    fn signed(&mut self) -> Result<i128, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("it nests deeper than {MAX_DEPTH}"));
        }
        let value = if self.take('-') {
            fits(self.signed()?.checked_neg())
        } else {
            self.power()
        };
        self.depth -= 1;
        value
    }

    fn power(&mut self) -> Result<i128, String> {
        let base = self.primary()?;
        if !self.take('^') {
            return Ok(base);
        }
        let exponent = u32::try_from(self.signed()?)
            .map_err(|_| "an exponent is negative or too large".to_owned())?;
        fits(base.checked_pow(exponent))
    }

    fn primary(&mut self) -> Result<i128, String> {
        let value = if self.take('(') {
            let value = self.sum()?;
            if !self.take(')') {
                return Err("a `)` is missing".to_owned());
            }
            value
        } else {
            self.skip_blanks();
            self.number()?
        };
        let unit = self.take_while(|c| c.is_ascii_alphabetic());
        if unit.is_empty() {
            return Ok(value);
        }
        let factor = (self.unit)(unit).ok_or_else(|| format!("`{unit}` is no unit here"))?;
        self.had_unit = true;
        fits(value.checked_mul(i128::from(factor)))
    }

    fn number(&mut self) -> Result<i128, String> {
        if self.rest.starts_with("0x") || self.rest.starts_with("0X") {
            self.rest = &self.rest[2..];
            let digits = self.take_while(|c| c.is_ascii_hexdigit());
            return i128::from_str_radix(digits, 16)
                .map_err(|_| "a hexadecimal number is missing or too large".to_owned());
        }
        let digits = self.take_while(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return Err("a number is missing".to_owned());
        }
        if self.rest.starts_with('.') {
            return Err("fractions are not read alike by all fios".to_owned());
        }
        digits
            .parse()
            .map_err(|_| "a number is too large".to_owned())
    }
}

fn fits(value: Option<i128>) -> Result<i128, String> {
    value.ok_or_else(|| "the result is too large".to_owned())
}

fn divided(value: Option<i128>) -> Result<i128, String> {
    value.ok_or_else(|| "it divides by zero".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<i128, String> {
        evaluate(text, &|unit| (unit == "k").then_some(1024)).map(|evaluated| evaluated.value)
    }

    #[test]
    fn precedence_is_that_of_arithmetic() {
        assert_eq!(of("(2+3)*4k"), Ok(20480));
        assert_eq!(of("2+3*4"), Ok(14));
        assert_eq!(of("2^3^2"), Ok(512));
        assert_eq!(of("-2^2"), Ok(-4));
        assert_eq!(of("7 % 4 - 10 / 3"), Ok(0));
        assert_eq!(of("(1 + 3)k"), Ok(4096));
        assert_eq!(of("0x10"), Ok(16));
    }

    #[test]
    fn what_cannot_be_computed_is_said() {
        assert_eq!(of("1/0"), Err("it divides by zero".into()));
        assert_eq!(of("(1"), Err("a `)` is missing".into()));
        assert_eq!(of("1 2"), Err("`2` is left over".into()));
        assert_eq!(of("9^99"), Err("the result is too large".into()));
        assert_eq!(of("2q"), Err("`q` is no unit here".into()));
        assert!(of(&"(".repeat(100_000)).is_err());
        assert!(of(&"-".repeat(100_000)).is_err());
    }
}
