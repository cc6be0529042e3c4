//! Formats JSON files, as json-go does: a tool of bento in Rust, with the standard library alone.
//!
//! `cargo build --release --target wasm32-wasip1` makes the module.

mod json;

use json::Value;
use std::{fs, path::Path};

/// Formats the files of a request, and returns what the tool answers.
pub fn answer(input: &str) -> Result<String, String> {
    let request = json::parse(input).map_err(|e| format!("the input is no request: {e}"))?;
    let paths = match request.member("paths") {
        Some(Value::List(list)) => list.iter().map(text).collect::<Result<Vec<_>, _>>()?,
        None => vec![],
        _ => return Err("the input is no request: paths is no list".into()),
    };
    let out = request
        .member("out")
        .map(text)
        .transpose()?
        .unwrap_or_default();
    let indent = match request.member("indent") {
        None => 2,
        Some(Value::Plain(n)) => match n.parse() {
            Ok(0) => 2,
            Ok(n) if n <= 16 => n,
            _ => return Err(format!("indent is {n}, required is 0 to 16")),
        },
        _ => return Err("the input is no request: indent is no number".into()),
    };
    let mut odd = vec![];
    for path in &paths {
        let old = fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
        let new = json::format(&old, indent).map_err(|e| format!("{path}: {e}"))?;
        if !out.is_empty() {
            let name = Path::new(path).file_name().ok_or("a path without a name")?;
            fs::create_dir_all(&out).map_err(|e| format!("{out}: {e}"))?;
            fs::write(Path::new(&out).join(name), new).map_err(|e| format!("{out}: {e}"))?;
        } else if old.as_bytes() != new {
            odd.push(path.as_str());
        }
    }
    if !odd.is_empty() {
        return Err(format!(
            "{} of {} files are not formatted:\n{}",
            odd.len(),
            paths.len(),
            odd.join("\n")
        ));
    }
    Ok(format!("{{\"formatted\":{}}}", paths.len()))
}

fn text(value: &Value) -> Result<String, String> {
    match value {
        Value::Text(text) => Ok(text.clone()),
        _ => Err("the input is no request: a path is no string".into()),
    }
}

/// Returns the address of n free bytes. The instance ends with the call, so nothing frees them.
#[no_mangle]
pub extern "C" fn az_alloc(n: i32) -> *mut u8 {
    Vec::<u8>::with_capacity(n.max(1) as usize)
        .leak()
        .as_mut_ptr()
}

/// Answers one call.
///
/// # Safety
/// bento has written n bytes at the address that az_alloc has returned.
#[no_mangle]
pub unsafe extern "C" fn az_tool_execute(at: *const u8, n: i32) -> i64 {
    let request = std::slice::from_raw_parts(at, n as usize);
    let answered = std::str::from_utf8(request)
        .map_err(|e| e.to_string())
        .and_then(|request| {
            let input = json::parse(request)?
                .member("input")
                .map(text)
                .transpose()?
                .unwrap_or_default();
            answer(&input)
        });
    let (output, error) = match answered {
        Ok(output) => (output, "null".to_string()),
        Err(error) => (String::new(), json::quote(&error)),
    };
    let bytes = format!(
        "{{\"output\":{},\"error\":{}}}",
        json::quote(&output),
        error
    )
    .into_bytes()
    .leak();
    bytes.as_ptr() as usize as i64 | (bytes.len() as i64) << 32
}
