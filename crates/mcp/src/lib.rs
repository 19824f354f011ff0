//! The server for agents: the Model Context Protocol (<https://modelcontextprotocol.io>) over
//! standard input and output.
//!
//! A message is one line of JSON (JSON-RPC 2.0). The protocol needs four requests of a server that
//! offers tools, so it is written out here; the official library would bring an asynchronous run
//! time for a server that answers one request at a time.
//!
//! Every tool is bounded in time, states and memory, and every answer says what was decided and what
//! was not. Models come as texts or as files; nothing is written.
//!
//! This crate decides nothing: everything is asked of the library [`fairground`].

mod documentation;
mod tools;

use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value as Json, json};

/// The newest version of the protocol that this server was written for.
const VERSION: &str = "2025-06-18";
/// Versions that differ in nothing that this server uses.
const VERSIONS: [&str; 3] = [VERSION, "2025-03-26", "2024-11-05"];

/// Serves an agent until its input ends.
///
/// # Errors
/// Input or output breaks.
pub fn run(input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    for line in input.lines() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        if let Some(answer) = answer(&line) {
            writeln!(output, "{answer}")?;
            output.flush()?;
        }
    }
    Ok(())
}

/// The answer to a message; none to a notification.
fn answer(line: &str) -> Option<Json> {
    let Ok(message) = serde_json::from_str::<Json>(line) else {
        return Some(failure(&Json::Null, -32700, "this is not JSON"));
    };
    let id = message.get("id")?;
    let Some(method) = message["method"].as_str() else {
        // An answer to a question that this server never asks.
        return (message.get("result").is_none() && message.get("error").is_none())
            .then(|| failure(id, -32600, "a request has a method"));
    };
    let params = &message["params"];

    let result = match method {
        "initialize" => initialize(params),
        "ping" => json!({}),
        "tools/list" => json!({ "tools": tools::list() }),
        "tools/call" => {
            let name = params["name"].as_str().unwrap_or("");
            if !tools::exists(name) {
                return Some(failure(id, -32602, &format!("there is no tool `{name}`")));
            }
            call(name, &params["arguments"])
        }
        _ => {
            return Some(failure(
                id,
                -32601,
                &format!("there is no method `{method}`"),
            ));
        }
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn failure(id: &Json, code: i32, message: &str) -> Json {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

fn initialize(params: &Json) -> Json {
    let asked = params["protocolVersion"].as_str().unwrap_or("");
    let version = VERSIONS.iter().find(|known| **known == asked);
    json!({
        "protocolVersion": version.unwrap_or(&VERSION),
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "fair", "version": env!("CARGO_PKG_VERSION") },
        "instructions": "Checks models of concurrent systems under fairness. Look up the language with \
            `documentation`, check a model with `check`, and find out which fairness a property needs \
            with `fairness`. A verdict `unknown` means that nothing was decided.",
    })
}

/// What a tool says. A wrong model or call is said in the result, so that the agent can correct it.
fn call(name: &str, arguments: &Json) -> Json {
    let said = catch_unwind(AssertUnwindSafe(|| tools::call(name, arguments)));
    match said {
        Ok(Ok(said)) => json!({
            "content": [{ "type": "text", "text": said.text }],
            "structuredContent": said.data,
            "isError": false,
        }),
        Ok(Err(why)) => wrong(&why),
        Err(_) => wrong("this is a bug in fair; please report it"),
    }
}

fn wrong(why: &str) -> Json {
    json!({ "content": [{ "type": "text", "text": why }], "isError": true })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "var x : 0..3 = 0\nprocess P { up when x < 3 { x := x + 1 }\n reset when x == 3 { x := 0 } }\nprocess Q { rest { skip } }\nproperty top: eventually x == 3\ninvariant small: x < 3\n";

    fn ask(requests: &[Json]) -> Vec<Json> {
        let lines: Vec<String> = requests.iter().map(Json::to_string).collect();
        let mut output = Vec::new();
        run(lines.join("\n").as_bytes(), &mut output).unwrap();
        let output = String::from_utf8(output).unwrap();
        output
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn use_tool(name: &str, arguments: Json) -> Json {
        let params = json!({ "name": name, "arguments": arguments });
        let request =
            json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
        let mut answers = ask(&[request]);
        assert_eq!(answers[0]["id"], 7);
        answers.remove(0)["result"].take()
    }

    #[test]
    fn the_handshake_follows_the_protocol() {
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": { "protocolVersion": "2024-11-05", "capabilities": {} } });
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let list = json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/list" });
        let other = json!({ "jsonrpc": "2.0", "id": 2, "method": "nonsense" });
        let answers = ask(&[hello, ready, list, other]);
        assert_eq!(answers.len(), 3);
        assert_eq!(answers[0]["result"]["protocolVersion"], "2024-11-05");
        assert_eq!(answers[1]["result"]["tools"].as_array().unwrap().len(), 6);
        assert_eq!(answers[2]["error"]["code"], -32601);
    }

    #[test]
    fn verdicts_come_with_explanations() {
        let result = use_tool("check", json!({ "text": MODEL }));
        let results = &result["structuredContent"]["results"];
        assert_eq!(results[0]["verdict"], "violated");
        assert_eq!(results[1]["verdict"], "violated");
        assert!(
            result["content"][0]["text"]
                .as_str()
                .unwrap()
                .contains("x = 3")
        );
        let fair = use_tool(
            "check",
            json!({ "text": MODEL, "property": "top", "fairness": "weak" }),
        );
        assert_eq!(fair["structuredContent"]["results"][0]["verdict"], "holds");
    }

    #[test]
    fn limits_are_told_as_unknown() {
        let result = use_tool(
            "check",
            json!({ "text": MODEL, "property": "top", "fairness": "weak", "max_states": 1 }),
        );
        assert_eq!(
            result["structuredContent"]["results"][0]["verdict"],
            "unknown"
        );
        assert_eq!(result["structuredContent"]["decided"], 0);
        assert_eq!(result["structuredContent"]["undecided"], 1);
    }

    #[test]
    fn wrong_models_are_explained() {
        let result = use_tool(
            "check",
            json!({ "text": "var x : 0..3 = 0\nprocess P { up { y := 1 } }" }),
        );
        assert_eq!(result["isError"], true);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("2:"), "{text}");
        assert!(text.contains('y'), "{text}");
        for name in [
            "check",
            "simulate",
            "fairness",
            "abstract",
            "explain",
            "documentation",
        ] {
            assert_eq!(use_tool(name, json!({}))["isError"], true, "{name}");
        }
    }

    #[test]
    fn every_tool_answers() {
        let walk = use_tool("simulate", json!({ "text": MODEL, "steps": 5, "seed": 1 }));
        assert_eq!(
            walk["structuredContent"]["steps"].as_array().unwrap().len(),
            5
        );
        let fairness = use_tool("fairness", json!({ "text": MODEL, "property": "top" }));
        assert_eq!(fairness["isError"], false);
        let found = use_tool("documentation", json!({ "query": "fairness weak" }));
        assert!(
            found["content"][0]["text"]
                .as_str()
                .unwrap()
                .contains("weak")
        );
        let checked = use_tool("check", json!({ "text": MODEL, "property": "top" }));
        let trace = checked["structuredContent"]["results"][0]["trace"].to_string();
        let told = use_tool("explain", json!({ "trace": trace }));
        assert_eq!(told["isError"], false);
    }
}
