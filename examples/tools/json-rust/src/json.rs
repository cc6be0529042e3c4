//! JSON as far as the tool needs it.

/// A value. Numbers are the text that they were written with.
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
    let mut tokens = Tokens::new(text);
    let first = tokens.next()?;
    let value = value(&mut tokens, first)?;
    tokens.next()?; // what follows is an error
    Ok(value)
}

/// Returns the value that begins with a token.
fn value(tokens: &mut Tokens, first: Token) -> Result<Value, String> {
    let (mut list, mut members) = (vec![], vec![]);
    match first {
        Token::Text(quoted) => return Ok(Value::Text(unquote(quoted))),
        Token::Open(_) => {}
        Token::Plain(word) => return Ok(Value::Plain(word.into())),
        _ => unreachable!("no value begins with it"),
    }
    loop {
        match tokens.next()? {
            Token::Close(b']') => return Ok(Value::List(list)),
            Token::Close(_) => return Ok(Value::Members(members)),
            Token::Comma => {}
            Token::Name(quoted) => {
                let first = tokens.next()?;
                members.push((unquote(quoted), value(tokens, first)?));
            }
            first => list.push(value(tokens, first)?),
        }
    }
}

/// Returns the document with a member or element a line. It keeps the texts of strings and numbers.
pub fn format(text: &str, indent: usize) -> Result<Vec<u8>, String> {
    let mut tokens = Tokens::new(text);
    let mut out = Vec::with_capacity(text.len() * 2);
    let line = format!("\n{}", " ".repeat(indent * MAX_DEPTH)).into_bytes();
    let (mut depth, mut begins) = (0, false);
    loop {
        let token = tokens.next()?;
        if begins && !matches!(token, Token::Close(_)) {
            out.extend_from_slice(&line[..1 + indent * depth]);
        }
        let empty = begins;
        begins = matches!(token, Token::Open(_) | Token::Comma);
        match token {
            Token::Open(bracket) => {
                depth += 1;
                out.push(bracket);
            }
            Token::Close(bracket) => {
                depth -= 1;
                if !empty {
                    out.extend_from_slice(&line[..1 + indent * depth]);
                }
                out.push(bracket);
            }
            Token::Comma => out.push(b','),
            Token::Name(quoted) => {
                out.extend_from_slice(quoted.as_bytes());
                out.extend_from_slice(b": ");
            }
            Token::Text(word) | Token::Plain(word) => out.extend_from_slice(word.as_bytes()),
            Token::End => break,
        }
    }
    out.push(b'\n');
    Ok(out)
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

/// Returns the text of a JSON string. Half of a surrogate pair becomes U+FFFD.
fn unquote(quoted: &str) -> String {
    let mut rest = &quoted[1..quoted.len() - 1];
    let mut units = vec![];
    let mut out = String::new();
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let (escaped, size) = match rest.as_bytes()[at + 1] {
            b'b' => (8, 2),
            b'f' => (12, 2),
            b'n' => (10, 2),
            b'r' => (13, 2),
            b't' => (9, 2),
            b'u' => (
                u16::from_str_radix(&rest[at + 2..at + 6], 16).unwrap_or(0),
                6,
            ),
            c => (u16::from(c), 2),
        };
        units.push(escaped);
        rest = &rest[at + size..];
        if !rest.starts_with("\\u") {
            out.extend(char::decode_utf16(units.drain(..)).map(|c| c.unwrap_or('\u{fffd}')));
        }
    }
    out + rest
}

const MAX_DEPTH: usize = 500;

enum Token<'a> {
    Open(u8),
    Close(u8),
    Comma,
    /// With its quotes; the colon is read too.
    Name(&'a str),
    Text(&'a str),
    Plain(&'a str),
    End,
}

/// What may follow.
enum Next {
    Value,
    ValueOrClose,
    Name,
    NameOrClose,
    CommaOrClose,
}

/// Reads a document, and checks its grammar.
struct Tokens<'a> {
    text: &'a str,
    at: usize,
    open: Vec<u8>, // the brackets that will close
    next: Next,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Self {
        Tokens {
            text,
            at: 0,
            open: vec![],
            next: Next::Value,
        }
    }

    fn peek(&mut self) -> u8 {
        let rest = &self.text.as_bytes()[self.at..];
        let blanks = rest
            .iter()
            .take_while(|c| matches!(c, b' ' | b'\t' | b'\r' | b'\n'))
            .count();
        self.at += blanks;
        rest.get(blanks).copied().unwrap_or(0)
    }

    /// Returns the next n bytes.
    fn take(&mut self, n: usize) -> &'a str {
        self.at += n;
        &self.text[self.at - n..self.at]
    }

    fn wrong<T>(&self) -> Result<T, String> {
        Err(match self.text[self.at..].chars().next() {
            Some(c) => format!("invalid character {c:?} at byte {}", self.at),
            None => "unexpected end of JSON input".into(),
        })
    }

    // A call for each token took a tenth of the time to format.
    #[inline(always)]
    fn next(&mut self) -> Result<Token<'a>, String> {
        let c = self.peek();
        match (&self.next, c) {
            (Next::CommaOrClose, b',') if !self.open.is_empty() => {
                self.next = match self.open.last() {
                    Some(b'}') => Next::Name,
                    _ => Next::Value,
                };
                self.at += 1;
                Ok(Token::Comma)
            }
            (Next::CommaOrClose | Next::ValueOrClose | Next::NameOrClose, b']' | b'}')
                if self.open.last() == Some(&c) =>
            {
                self.open.pop();
                self.next = Next::CommaOrClose;
                self.at += 1;
                Ok(Token::Close(c))
            }
            (Next::CommaOrClose, _) if self.open.is_empty() && self.at == self.text.len() => {
                Ok(Token::End)
            }
            (Next::CommaOrClose, _) => self.wrong(),
            (Next::Name | Next::NameOrClose, b'"') => {
                let quoted = self.string()?;
                if self.peek() != b':' {
                    return self.wrong();
                }
                self.at += 1;
                self.next = Next::Value;
                Ok(Token::Name(quoted))
            }
            (Next::Name | Next::NameOrClose, _) => self.wrong(),
            (_, b'{' | b'[') => {
                self.open.push(c + 2); // in ASCII
                if self.open.len() > MAX_DEPTH {
                    return Err(format!("nested deeper than {MAX_DEPTH}"));
                }
                self.next = match c {
                    b'{' => Next::NameOrClose,
                    _ => Next::ValueOrClose,
                };
                self.at += 1;
                Ok(Token::Open(c))
            }
            (_, b'"') => {
                self.next = Next::CommaOrClose;
                Ok(Token::Text(self.string()?))
            }
            _ => {
                self.next = Next::CommaOrClose;
                Ok(Token::Plain(self.plain()?))
            }
        }
    }

    fn string(&mut self) -> Result<&'a str, String> {
        let begin = self.at;
        self.at += 1;
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            let n = ordinary(rest);
            self.at += n;
            match &rest[n..] {
                [b'"', ..] => break,
                [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => self.at += 2,
                [b'\\', b'u', digits @ ..]
                    if digits.len() >= 4 && digits[..4].iter().all(u8::is_ascii_hexdigit) =>
                {
                    self.at += 6
                }
                [b'\\', ..] => {
                    self.at += 1;
                    return self.wrong();
                }
                _ => return self.wrong(),
            }
        }
        self.at += 1;
        Ok(&self.text[begin..self.at])
    }

    /// Reads a number, true, false or null.
    fn plain(&mut self) -> Result<&'a str, String> {
        let rest = &self.text[self.at..];
        let word = ["true", "false", "null"]
            .into_iter()
            .find(|w| rest.starts_with(*w));
        match word.map_or_else(|| number(rest.as_bytes()), |w| Some(w.len())) {
            Some(n) => Ok(self.take(n)),
            None => self.wrong(),
        }
    }
}

/// Returns how many bytes come before a quote, a backslash or a control character. It looks at eight at a
/// time: a byte below n is one whose highest bit a subtraction of n sets.
fn ordinary(text: &[u8]) -> usize {
    const EACH: u64 = u64::MAX / 255;
    let below = |n: u64, bytes: u64| bytes.wrapping_sub(EACH * n) & !bytes & (EACH << 7);
    let mut at = 0;
    while let Some(eight) = text[at..].first_chunk() {
        let bytes = u64::from_le_bytes(*eight);
        let quotes = bytes ^ (EACH * u64::from(b'"'));
        let escapes = bytes ^ (EACH * u64::from(b'\\'));
        let found = below(32, bytes) | below(1, quotes) | below(1, escapes);
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = &text[at..];
    at + rest
        .iter()
        .position(|&c| c < b' ' || c == b'"' || c == b'\\')
        .unwrap_or(rest.len())
}

/// Returns the length of the number at the start of a text.
fn number(text: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        let n = text[from..]
            .iter()
            .take_while(|c| c.is_ascii_digit())
            .count();
        (n > 0).then_some(from + n)
    };
    let mut at = usize::from(text.first() == Some(&b'-'));
    at = match text.get(at) {
        Some(b'0') => at + 1,
        _ => digits(at)?,
    };
    if text.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        let sign = matches!(text.get(at + 1), Some(b'+' | b'-'));
        at = digits(at + 1 + usize::from(sign))?;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        let text = r#"{"b":1.0,"a":[1,{"c":"x\u00e9\ud83d\ude00"}],"e":{},"f":[ ]}"#;
        let want = "{\n  \"b\": 1.0,\n  \"a\": [\n    1,\n    {\n      \"c\": \"x\\u00e9\\ud83d\\ude00\"\n    }\n  ],\n  \"e\": {},\n  \"f\": []\n}\n";
        assert_eq!(format(text, 2).as_deref(), Ok(want.as_bytes()));
        assert_eq!(format(want, 2).as_deref(), Ok(want.as_bytes()));
        for good in ["0", "-0.5e+7", " true ", "[1E2,false,null,\"\"]"] {
            assert!(format(good, 2).is_ok(), "{good}");
        }
        for bad in [
            "",
            "{",
            "[",
            "{\"a\":}",
            "{\"a\"",
            "{\"a\":1",
            "[1,]",
            "{,}",
            "[1 2]",
            "[1}",
            "{]",
            "01",
            "1.",
            "1e",
            "-",
            "tru",
            "truex",
            "\"\n\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\\u12",
            "\"a",
            "1 2",
            "1,",
            "1]",
            "{a:1}",
            "\0",
            "1\0",
        ] {
            assert!(format(bad, 2).is_err(), "{bad}");
        }
        assert!(format(&("[".repeat(500) + &"]".repeat(500)), 16).is_ok());
        assert!(format(&"[".repeat(100_000), 2).is_err());
        match parse("\"x\\u00e9\\ud83d\\ude00\\n\\ud83d \\/\"") {
            Ok(Value::Text(text)) => assert_eq!(text, "xé😀\n\u{fffd} /"),
            _ => panic!("no text"),
        }
    }
}
