//! JSON as far as the tool needs it.

/// A value. Numbers and names are the text that they were written with.
pub enum Value {
    Text(String),
    List(Vec<Value>),
    Members(Vec<(String, Value)>),
    Plain(String),
}

impl Value {
    /// Returns a member of an object; the last of a name counts.
    pub fn member(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Members(list) => list.iter().rev().find(|(n, _)| n == name).map(|(_, v)| v),
            _ => None,
        }
    }
}

/// Returns the value of a document.
pub fn parse(text: &str) -> Result<Value, String> {
    let mut r = Reader::new(text, None);
    let value = r.value()?;
    r.end()?;
    Ok(value)
}

/// Returns the document with a member or element a line. It keeps the texts of strings and numbers.
pub fn format(text: &str, indent: usize) -> Result<String, String> {
    let mut r = Reader::new(text, Some(indent));
    r.value()?;
    r.end()?;
    r.out.push('\n');
    Ok(r.out)
}

/// Returns a text as a JSON string.
pub fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

const MAX_DEPTH: usize = 500;

/// Reads a document: it returns its value, or writes it formatted.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    out: String,
    /// Spaces a level of what is written. Without it the value is kept.
    indent: Option<usize>,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, indent: Option<usize>) -> Self {
        let room = indent.map_or(0, |_| text.len() * 2);
        Reader {
            text,
            at: 0,
            out: String::with_capacity(room),
            indent,
            depth: 0,
        }
    }

    fn keeps(&self) -> bool {
        self.indent.is_none()
    }

    fn write(&mut self, text: &str) {
        if !self.keeps() {
            self.out.push_str(text);
        }
    }

    fn peek(&mut self) -> Option<u8> {
        while matches!(
            self.text.as_bytes().get(self.at),
            Some(b' ' | b'\t' | b'\r' | b'\n')
        ) {
            self.at += 1;
        }
        self.text.as_bytes().get(self.at).copied()
    }

    fn wrong(&self) -> String {
        match self.text[self.at..].chars().next() {
            Some(c) => format!("invalid character {c:?} at byte {}", self.at),
            None => "unexpected end of JSON input".into(),
        }
    }

    fn end(&mut self) -> Result<(), String> {
        self.peek().map_or(Ok(()), |_| Err(self.wrong()))
    }

    fn line(&mut self) {
        if let Some(indent) = self.indent {
            self.out.push('\n');
            self.out
                .extend(std::iter::repeat(' ').take(indent * self.depth));
        }
    }

    fn value(&mut self) -> Result<Value, String> {
        match self.peek() {
            Some(b'"') => self.string().map(Value::Text),
            Some(b'{') => {
                let mut list = vec![];
                self.all(b'}', |r| {
                    if r.peek() != Some(b'"') {
                        return Err(r.wrong());
                    }
                    let name = r.string()?;
                    if r.peek() != Some(b':') {
                        return Err(r.wrong());
                    }
                    r.at += 1;
                    r.write(": ");
                    let value = r.value()?;
                    if r.keeps() {
                        list.push((name, value));
                    }
                    Ok(())
                })?;
                Ok(Value::Members(list))
            }
            Some(b'[') => {
                let mut list = vec![];
                self.all(b']', |r| {
                    let value = r.value()?;
                    if r.keeps() {
                        list.push(value);
                    }
                    Ok(())
                })?;
                Ok(Value::List(list))
            }
            _ => self.plain(),
        }
    }

    /// Reads what stands in brackets, one by one.
    fn all(
        &mut self,
        close: u8,
        mut one: impl FnMut(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        self.write(&self.text[self.at..self.at + 1]);
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("nested deeper than {MAX_DEPTH}"));
        }
        if self.peek() != Some(close) {
            loop {
                self.line();
                one(self)?;
                match self.peek() {
                    Some(b',') => self.write(","),
                    Some(c) if c == close => break,
                    _ => return Err(self.wrong()),
                }
                self.at += 1;
            }
            self.depth -= 1;
            self.line();
        } else {
            self.depth -= 1;
        }
        self.write(&self.text[self.at..self.at + 1]);
        self.at += 1;
        Ok(())
    }

    /// Reads a number, true, false or null.
    fn plain(&mut self) -> Result<Value, String> {
        let rest = &self.text[self.at..];
        let n = rest
            .bytes()
            .position(|c| !c.is_ascii_alphanumeric() && !matches!(c, b'+' | b'-' | b'.'))
            .unwrap_or(rest.len());
        let word = &rest[..n];
        if !matches!(word, "true" | "false" | "null") && !is_number(word) {
            return Err(self.wrong());
        }
        self.at += n;
        self.write(word);
        Ok(Value::Plain(if self.keeps() {
            word.into()
        } else {
            String::new()
        }))
    }

    fn string(&mut self) -> Result<String, String> {
        let begin = self.at;
        let mut value = String::new();
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let n = rest
                .bytes()
                .position(|c| c < b' ' || c == b'"' || c == b'\\')
                .unwrap_or(rest.len());
            if self.keeps() {
                value.push_str(&rest[..n]);
            }
            self.at += n;
            match rest.as_bytes().get(n) {
                Some(b'"') => break,
                Some(b'\\') => {
                    self.at += 1;
                    let c = self.escape()?;
                    if self.keeps() {
                        value.push(c);
                    }
                }
                _ => return Err(self.wrong()),
            }
        }
        self.at += 1;
        self.write(&self.text[begin..self.at]);
        Ok(value)
    }

    /// Reads what follows a backslash. Half of a surrogate pair becomes U+FFFD.
    fn escape(&mut self) -> Result<char, String> {
        let Some(c) = self.text[self.at..].chars().next() else {
            return Err(self.wrong());
        };
        let value = match c {
            '"' | '\\' | '/' => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode(),
            _ => return Err(self.wrong()),
        };
        self.at += 1;
        Ok(value)
    }

    fn unicode(&mut self) -> Result<char, String> {
        let high = self.hex()?;
        let rest = &self.text[self.at..];
        if (0xd800..0xdc00).contains(&high) && rest.starts_with("\\u") {
            let before = self.at;
            self.at += 1;
            let low = self.hex()?;
            if (0xdc00..0xe000).contains(&low) {
                let pair = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                return Ok(char::from_u32(pair).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = before;
        }
        Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// Reads the letter u and four digits.
    fn hex(&mut self) -> Result<u32, String> {
        let digits = self
            .text
            .get(self.at + 1..self.at + 5)
            .filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let value = digits
            .and_then(|d| u32::from_str_radix(d, 16).ok())
            .ok_or_else(|| self.wrong())?;
        self.at += 5;
        Ok(value)
    }
}

/// Reports whether a word is a number of JSON.
fn is_number(word: &str) -> bool {
    let word = word.strip_prefix('-').unwrap_or(word);
    let (mantissa, exponent) = match word.split_once(['e', 'E']) {
        Some((m, e)) => (m, e.strip_prefix(['+', '-']).unwrap_or(e)),
        None => (word, "0"),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let digits = |d: &str| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit());
    digits(whole)
        && digits(fraction)
        && digits(exponent)
        && (whole == "0" || !whole.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        let text = r#"{"b":1.0,"a":[1,{"c":"x\u00e9\ud83d\ude00"}],"e":{},"f":[ ]}"#;
        let want = "{\n  \"b\": 1.0,\n  \"a\": [\n    1,\n    {\n      \"c\": \"x\\u00e9\\ud83d\\ude00\"\n    }\n  ],\n  \"e\": {},\n  \"f\": []\n}\n";
        assert_eq!(format(text, 2).as_deref(), Ok(want));
        assert_eq!(format(want, 2).as_deref(), Ok(want));
        for bad in [
            "", "{", "{\"a\":}", "[1,]", "[1 2]", "01", "1.", "-", "tru", "\"\n\"", "\"\\x\"",
            "1 2", "{a:1}",
        ] {
            assert!(format(bad, 2).is_err(), "{bad}");
        }
        assert!(format(&"[".repeat(100_000), 2).is_err());
        match parse("\"x\\u00e9\\ud83d\\ude00\\n\"") {
            Ok(Value::Text(text)) => assert_eq!(text, "xé😀\n"),
            _ => panic!("no text"),
        }
    }
}
