//! As much JSON as a plugin needs: a value, its text, and back.

use std::fmt;

/// A JSON value. Numbers stay as they were written: an id goes back as it came.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

impl Value {
    /// The member with this name, if the value is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Object(members) => members.iter().find(|(n, _)| n == name).map(|(_, v)| v),
            _ => None,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Text(s) => Some(s),
            _ => None,
        }
    }
}

impl From<&str> for Value {
    fn from(s: &str) -> Value {
        Value::Text(s.to_string())
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Value {
        Value::Bool(b)
    }
}

impl From<i64> for Value {
    fn from(n: i64) -> Value {
        Value::Number(n.to_string())
    }
}

impl From<Vec<Value>> for Value {
    fn from(list: Vec<Value>) -> Value {
        Value::List(list)
    }
}

/// An object: object([("a", 1.into())]).
pub fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(
        members
            .into_iter()
            .map(|(n, v)| (n.to_string(), v))
            .collect(),
    )
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Number(n) => f.write_str(n),
            Value::Text(s) => quote(f, s),
            Value::List(list) => {
                f.write_str("[")?;
                for (i, v) in list.iter().enumerate() {
                    write!(f, "{}{v}", if i > 0 { "," } else { "" })?;
                }
                f.write_str("]")
            }
            Value::Object(members) => {
                f.write_str("{")?;
                for (i, (name, v)) in members.iter().enumerate() {
                    f.write_str(if i > 0 { "," } else { "" })?;
                    quote(f, name)?;
                    write!(f, ":{v}")?;
                }
                f.write_str("}")
            }
        }
    }
}

fn quote(f: &mut fmt::Formatter, s: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in s.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            c if c < ' ' => write!(f, "\\u{:04x}", c as u32)?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

/// How deep values may nest.
const DEPTH: usize = 64;

/// Parses the whole text; None if it is not JSON.
pub fn parse(text: &str) -> Option<Value> {
    let mut p = Parser {
        text,
        rest: text.as_bytes(),
    };
    let value = p.value(DEPTH)?;
    p.space();
    p.rest.is_empty().then_some(value)
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a [u8],
}

impl<'a> Parser<'a> {
    fn space(&mut self) {
        while let [b' ' | b'\t' | b'\r' | b'\n', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    /// Skips white space and then the byte, if it comes next.
    fn take(&mut self, byte: u8) -> bool {
        self.space();
        let is = self.rest.first() == Some(&byte);
        if is {
            self.rest = &self.rest[1..];
        }
        is
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        self.space();
        match *self.rest.first()? {
            b'{' => self.object(depth.checked_sub(1)?),
            b'[' => self.list(depth.checked_sub(1)?),
            b'"' => self.string().map(Value::Text),
            b't' => self.word("true", Value::Bool(true)),
            b'f' => self.word("false", Value::Bool(false)),
            b'n' => self.word("null", Value::Null),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Option<Value> {
        self.rest = self.rest.strip_prefix(word.as_bytes())?;
        Some(value)
    }

    fn number(&mut self) -> Option<Value> {
        let is = |b: &u8| b.is_ascii_digit() || matches!(b, b'-' | b'+' | b'.' | b'e' | b'E');
        let end = self
            .rest
            .iter()
            .position(|b| !is(b))
            .unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        let digits = std::str::from_utf8(digits).ok()?;
        digits.parse::<f64>().ok().filter(|n| n.is_finite())?;
        Some(Value::Number(digits.to_string()))
    }

    fn list(&mut self, depth: usize) -> Option<Value> {
        let mut list = Vec::new();
        self.take(b'[');
        if self.take(b']') {
            return Some(Value::List(list));
        }
        loop {
            list.push(self.value(depth)?);
            if self.take(b']') {
                return Some(Value::List(list));
            }
            self.take(b',').then_some(())?;
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        let mut members = Vec::new();
        self.take(b'{');
        if self.take(b'}') {
            return Some(Value::Object(members));
        }
        loop {
            self.space();
            let name = self.string()?;
            self.take(b':').then_some(())?;
            members.push((name, self.value(depth)?));
            if self.take(b'}') {
                return Some(Value::Object(members));
            }
            self.take(b',').then_some(())?;
        }
    }

    fn string(&mut self) -> Option<String> {
        self.rest = self.rest.strip_prefix(b"\"")?;
        let mut s = String::new();
        loop {
            let end = self
                .rest
                .iter()
                .position(|b| matches!(b, b'"' | b'\\') || *b < b' ')?;
            let start = self.text.len() - self.rest.len();
            s.push_str(self.text.get(start..start + end)?);
            let stop = self.rest[end];
            self.rest = &self.rest[end + 1..];
            match stop {
                b'"' => return Some(s),
                b'\\' => s.push(self.escape()?),
                _ => return None,
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let (c, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(match c {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'"' | b'\\' | b'/' => *c as char,
            b'u' => {
                let high = self.hex()?;
                if (0xd800..0xdc00).contains(&high) && self.rest.starts_with(b"\\u") {
                    self.rest = &self.rest[2..];
                    let low = self.hex()?.checked_sub(0xdc00).filter(|n| *n < 0x400)?;
                    char::from_u32(0x10000 + ((high - 0xd800) << 10) + low)?
                } else {
                    char::from_u32(high).unwrap_or('\u{fffd}')
                }
            }
            _ => return None,
        })
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = std::str::from_utf8(self.rest.get(..4)?).ok()?;
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        self.rest = &self.rest[4..];
        u32::from_str_radix(digits, 16).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_json() {
        for text in [
            "null",
            "true",
            "-1.5e3",
            "\"\"",
            "[]",
            "{}",
            "[1,[2],{\"a\":\"ä\\\"\\n\"}]",
            "{\"a\":{\"b\":null},\"c\":[false]}",
        ] {
            assert_eq!(parse(text).map(|v| v.to_string()).as_deref(), Some(text));
        }
        assert_eq!(
            parse(" { \"a\" : [ 1 , 2 ] } ").unwrap().to_string(),
            "{\"a\":[1,2]}"
        );
        assert_eq!(
            parse("\"\\u5f01\\ud83c\\udf71\\/\"").unwrap().as_str(),
            Some("弁🍱/")
        );
    }

    #[test]
    fn what_is_none() {
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\"}",
            "{a:1}",
            "'a'",
            "\"\n\"",
            "\"\\x\"",
            "\"\\u12\"",
            "1 2",
            "nul",
            "--1",
            "\"",
            "\"\\ud83c\\u0041\"",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(&"[".repeat(100_000)), None);
    }
}
