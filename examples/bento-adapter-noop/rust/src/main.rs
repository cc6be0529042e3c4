//! A bento adapter that does nothing, to read and to copy: it speaks all of the bento
//! adapter protocol v1 (docs/PROTOCOL.md) that most plugins need.
//!
//! Requests come on standard input, responses and notifications go to standard output,
//! each in a frame: "Content-Length: N", an empty line, and N bytes of JSON. Nothing
//! else may be printed to standard output; standard error is the user's terminal.

mod json;

use json::{object, Value};
use std::io::{self, BufRead, Read, Write};
use std::path::Path;

const ID: &str = "noop"; // the executable is bento-adapter-noop
const MAX_BODY: usize = 16 << 20;

const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

/// The answer to a request: a result, or the code and message of an error.
type Answer = Result<Value, (i64, String)>;

fn main() -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    while let Some(body) = read_frame(&mut input)? {
        let Some(request) = json::parse(&body) else {
            eprintln!("{ID}: passed over a message that is no JSON");
            continue;
        };
        let method = request
            .get("method")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let Some(id) = request.get("id") else {
            continue; // a notification: bento sends none that we know
        };
        let answer = answer(
            method,
            request.get("params").unwrap_or(&Value::Null),
            &mut output,
        )?;
        write_frame(&mut output, &response(id, answer))?;
        if method == "shutdown" {
            break;
        }
    }
    Ok(())
}

/// The body of the next frame, None at the end of the input.
fn read_frame(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.take(8 << 10).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches(['\r', '\n']);
        if line.is_empty() {
            break;
        }
        match line.split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().ok()
            }
            _ => {} // other headers mean nothing yet
        }
    }
    let length = length
        .filter(|n| *n <= MAX_BODY)
        .ok_or_else(|| invalid("no Content-Length, or one too large"))?;
    let mut body = Vec::new();
    if input.take(length as u64).read_to_end(&mut body)? < length {
        return Ok(None);
    }
    String::from_utf8(body)
        .map(Some)
        .map_err(|_| invalid("a body that is not UTF-8"))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

fn write_frame(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let body = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    output.flush()
}

fn response(id: &Value, answer: Answer) -> Value {
    let (name, value) = match answer {
        Ok(result) => ("result", result),
        Err((code, message)) => (
            "error",
            object([("code", code.into()), ("message", message.as_str().into())]),
        ),
    };
    object([("jsonrpc", "2.0".into()), ("id", id.clone()), (name, value)])
}

/// Answers a request; progress meanwhile goes to the output.
fn answer(method: &str, params: &Value, output: &mut impl Write) -> io::Result<Answer> {
    Ok(match method {
        "initialize" => Ok(manifest()),
        "detect" => text(params, "dir")
            .map(|dir| object([("matches", Path::new(dir).join("noop.toml").is_file().into())])),
        "install" => {
            log(output, "info", "noop install\n")?;
            text(params, "dish_dir").map(|_| Value::Null)
        }
        "parseDiagnostics" => text(params, "workspace_root").map(|_| findings()),
        "shutdown" => Ok(Value::Null),
        _ => Err((METHOD_NOT_FOUND, format!("method not found: {method}"))),
    })
}

/// A member of the params that has to be a string.
fn text<'a>(params: &'a Value, name: &str) -> Result<&'a str, (i64, String)> {
    let member = params.get(name).and_then(Value::as_str);
    member.ok_or_else(|| (INVALID_PARAMS, format!("params.{name}: expected a string")))
}

/// Sends progress to bento; with a stream it would be the output of a tool.
fn log(output: &mut impl Write, level: &str, message: &str) -> io::Result<()> {
    let params = object([("level", level.into()), ("message", message.into())]);
    write_frame(
        output,
        &object([
            ("jsonrpc", "2.0".into()),
            ("method", "notifications/log".into()),
            ("params", params),
        ]),
    )
}

fn manifest() -> Value {
    let task = |name: &str, run: &str| object([("name", name.into()), ("run", run.into())]);
    let build = object([
        ("name", "build".into()),
        ("run", "echo noop build".into()),
        ("inputs", vec!["**/*".into()].into()),
    ]);
    object([
        ("protocol_version", 1.into()),
        ("adapter_id", ID.into()),
        ("display_name", "noop (Rust)".into()),
        ("fingerprint_files", vec!["noop.toml".into()].into()),
        (
            "default_tasks",
            vec![build, task("test", "true"), task("lint", "true")].into(),
        ),
        (
            "capabilities",
            object([
                ("detect", true.into()),
                ("required_toolchain", false.into()),
                ("resolved_toolchain_fingerprint", false.into()),
                ("install", true.into()),
            ]),
        ),
        (
            "diagnostic_hooks",
            object([(
                "lint",
                object([
                    (
                        "rerun",
                        object([("kind", "replace".into()), ("command", "false".into())]),
                    ),
                    ("parser", "plugin".into()),
                ]),
            )]),
        ),
    ])
}

/// The diagnostics of every noop project.
fn findings() -> Value {
    let finding = object([
        ("file", "noop.toml".into()),
        ("line", 1.into()),
        ("severity", "warning".into()),
        ("message", "this project does nothing".into()),
        ("rule", "noop-demo".into()),
        ("source", ID.into()),
    ]);
    object([("diagnostics", vec![finding].into())])
}
