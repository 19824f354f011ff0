//! How long an editor waits: from an edit of a model of a thousand lines to its diagnostics.
//!
//! Times are those of the clock, because that is what a person waits for; on a shared machine they
//! are too long rather than too short.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Options;

/// How many processes the model has; each has eleven lines.
const N_PROCESSES: usize = 90;
/// How many edits are measured.
const N_EDITS: usize = 200;

/// Measures edits, and prints and records their distribution.
///
/// # Errors
/// The server cannot be started, or says something unexpected.
pub fn editor(options: &Options) -> Result<()> {
    let n_edits = if options.quick { N_EDITS / 10 } else { N_EDITS };
    let text = model();
    let mut server = Server::start(options)?;
    server.open(&text)?;
    let mut milliseconds = Vec::new();
    for edit in 0..n_edits {
        // One line of one process changes; every fourth edit leaves an error behind.
        let process = edit * 7 % N_PROCESSES;
        let old = format!("when x{process} < 7");
        let new = if edit % 4 == 3 {
            format!("when x{process} < (7")
        } else {
            format!("when x{process} < {}", 1 + edit % 6)
        };
        let start = Instant::now();
        server.change(edit + 2, &text.replace(&old, &new))?;
        milliseconds.push(start.elapsed().as_secs_f64() * 1e3);
    }
    server.stop()?;

    milliseconds.sort_by(f64::total_cmp);
    let at = |percent: usize| {
        milliseconds[(milliseconds.len() * percent / 100).min(milliseconds.len() - 1)]
    };
    let n_lines = text.lines().count();
    let mut record = options.open_record("editor")?;
    record.add(&json!({
        "benchmark": "editor", "lines": n_lines, "edits": n_edits,
        "median_ms": at(50), "percentile_95_ms": at(95), "greatest_ms": at(100),
    }))?;
    println!(
        "{n_edits} edits of {n_lines} lines: median {:.1} ms, 95th percentile {:.1} ms, greatest {:.1} ms",
        at(50),
        at(95),
        at(100)
    );
    Ok(())
}

/// A model with many processes.
fn model() -> String {
    let mut text = String::new();
    for n in 0..N_PROCESSES {
        text.push_str(&format!(
            "// Process {n}.\nvar x{n} : 0..7 = 0\nprocess P{n} {{\n    init idle\n    from idle {{\n        up when x{n} < 7 {{ x{n} := x{n} + 1 }} -> idle\n        go when x{n} == 7 -> done\n    }}\n    from done {{ }}\n}}\nproperty p{n}: eventually P{n} @ done\n",
        ));
    }
    text
}

/// A language server, seen from an editor.
struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(options: &Options) -> Result<Self> {
        let program = options.program()?;
        let mut child = Command::new(program)
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().context("an input")?;
        let output = BufReader::new(child.stdout.take().context("an output")?);
        let mut server = Self {
            child,
            input,
            output,
        };
        server
            .send(&json!({ "id": 1, "method": "initialize", "params": { "capabilities": {} } }))?;
        server.wait_for(|message| message["id"] == 1)?;
        server.send(&json!({ "method": "initialized", "params": {} }))?;
        Ok(server)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        Ok(self.input.flush()?)
    }

    fn wait_for(&mut self, is_it: impl Fn(&Value) -> bool) -> Result<()> {
        loop {
            let mut length = 0;
            loop {
                let mut line = String::new();
                ensure!(
                    self.output.read_line(&mut line)? > 0,
                    "the server has ended"
                );
                match line.trim().split_once(": ") {
                    Some(("Content-Length", digits)) => length = digits.parse()?,
                    Some(_) => {}
                    None => break,
                }
            }
            let mut bytes = vec![0; length];
            self.output.read_exact(&mut bytes)?;
            if is_it(&serde_json::from_slice(&bytes)?) {
                return Ok(());
            }
        }
    }

    fn open(&mut self, text: &str) -> Result<()> {
        let document = json!({ "uri": "file:///bench.fair", "languageId": "fair", "version": 1, "text": text });
        let params = json!({ "textDocument": document });
        self.send(&json!({ "method": "textDocument/didOpen", "params": params }))?;
        self.wait_for(|message| message["params"]["version"] == 1)
    }

    fn change(&mut self, version: usize, text: &str) -> Result<()> {
        let document = json!({ "uri": "file:///bench.fair", "version": version });
        let params = json!({ "textDocument": document, "contentChanges": [{ "text": text }] });
        self.send(&json!({ "method": "textDocument/didChange", "params": params }))?;
        self.wait_for(|message| message["params"]["version"] == version)
    }

    fn stop(mut self) -> Result<()> {
        self.send(&json!({ "id": 2, "method": "shutdown" }))?;
        self.wait_for(|message| message["id"] == 2)?;
        self.send(&json!({ "method": "exit" }))?;
        self.child.wait()?;
        Ok(())
    }
}
