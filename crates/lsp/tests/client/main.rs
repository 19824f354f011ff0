//! A scripted client: every request on every example in all languages, and on damaged texts.

mod naive;
mod names;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use fairground::{Memory, NoProgress, Options, Plan, Project};
use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use serde_json::{Value as Json, json};
use testkit::{Random, cases};

fn examples() -> Vec<(PathBuf, String)> {
    let found = models("examples");
    for language in ["fair", "csp", "pml"] {
        let is_it =
            |(path, _): &&(PathBuf, String)| path.extension().is_some_and(|e| e == language);
        assert!(found.iter().filter(is_it).count() >= 5, "{language}");
    }
    found
}

/// All models below a folder of the project.
fn models(folder: &str) -> Vec<(PathBuf, String)> {
    fn visit(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                visit(&path, found);
            } else if fairground::is_model(&path) {
                let text = std::fs::read_to_string(&path).expect("a text");
                found.push((path, text));
            }
        }
    }
    let mut found = Vec::new();
    visit(
        &Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(folder),
        &mut found,
    );
    found.sort();
    found
}

/// The client's end of a connection with a server.
struct Client {
    connection: Connection,
    server: Option<thread::JoinHandle<()>>,
    n_requests: i32,
    /// The latest diagnostics of each text.
    diagnostics: BTreeMap<String, Vec<Json>>,
    /// What was told about the progress of searches.
    progress: Vec<Json>,
}

impl Client {
    fn new() -> Self {
        let (server, client) = Connection::memory();
        let settings = lsp::Settings {
            max_states: 100_000,
            max_memory: 1 << 30,
            timeout: Duration::from_secs(20),
        };
        let server = thread::spawn(move || lsp::serve(&server, settings).expect("the protocol"));
        let mut client = Self {
            connection: client,
            server: Some(server),
            n_requests: 0,
            diagnostics: BTreeMap::new(),
            progress: Vec::new(),
        };
        let capabilities = json!({ "capabilities": { "window": { "workDoneProgress": true } } });
        let answer = client.ask("initialize", capabilities);
        assert_eq!(
            answer["capabilities"]["renameProvider"]["prepareProvider"],
            true
        );
        client.tell("initialized", json!({}));
        client
    }

    fn tell(&self, method: &str, params: Json) {
        let notification = Notification::new(method.to_owned(), params);
        self.connection
            .sender
            .send(Message::Notification(notification))
            .expect("a server");
    }

    fn try_ask(&mut self, method: &str, params: Json) -> Result<Json, String> {
        self.n_requests += 1;
        let id = RequestId::from(self.n_requests);
        let request = Request::new(id.clone(), method.to_owned(), params);
        self.connection
            .sender
            .send(Message::Request(request))
            .expect("a server");
        loop {
            if let Some(response) = self.receive() {
                assert_eq!(response.id, id);
                return match response.response_result {
                    Ok(result) => Ok(result),
                    Err(error) => {
                        assert_ne!(error.code, -32603, "{method}: {}", error.message);
                        Err(error.message)
                    }
                };
            }
        }
    }

    fn ask(&mut self, method: &str, params: Json) -> Json {
        self.try_ask(method, params)
            .unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Takes the next message; returns it if it is an answer.
    fn receive(&mut self) -> Option<Response> {
        let message = self
            .connection
            .receiver
            .recv_timeout(Duration::from_secs(120));
        match message.expect("the server is silent") {
            Message::Response(response) => Some(response),
            Message::Notification(note) if note.method == "$/progress" => {
                self.progress.push(note.params);
                None
            }
            Message::Notification(note) => {
                assert_eq!(note.method, "textDocument/publishDiagnostics");
                let uri = note.params["uri"].as_str().expect("an address").to_owned();
                let list = note.params["diagnostics"]
                    .as_array()
                    .expect("a list")
                    .clone();
                self.diagnostics.insert(uri, list);
                None
            }
            Message::Request(request) => {
                assert_eq!(request.method, "window/workDoneProgress/create");
                let response = Response::new_ok(request.id, Json::Null);
                self.connection
                    .sender
                    .send(Message::Response(response))
                    .expect("a server");
                None
            }
        }
    }

    fn open(&mut self, uri: &str, text: &str) {
        self.diagnostics.remove(uri);
        let document = json!({ "uri": uri, "languageId": "fair", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
        while !self.diagnostics.contains_key(uri) {
            self.receive();
        }
    }

    /// Waits until a search has ended.
    fn wait_for_end(&mut self) {
        while !self.progress.iter().any(|p| p["value"]["kind"] == "end") {
            self.receive();
        }
        self.progress.clear();
    }

    fn close(mut self) {
        self.ask("shutdown", Json::Null);
        self.tell("exit", Json::Null);
        if let Some(server) = self.server.take() {
            server.join().expect("the server ends")
        }
    }
}

/// Lines of a text, with their lengths in UTF-16 units.
fn check_range(range: &Json, text: &str) {
    let lines: Vec<usize> = text
        .split('\n')
        .map(|line| line.encode_utf16().count())
        .collect();
    let mut last = (0, 0);
    for key in ["start", "end"] {
        let line = range[key]["line"].as_u64().expect("a line") as usize;
        let character = range[key]["character"].as_u64().expect("a character") as usize;
        assert!(
            line < lines.len() && character <= lines[line],
            "{range} is outside of the text"
        );
        assert!((line, character) >= last, "{range}");
        last = (line, character);
    }
}

/// All ranges anywhere in an answer about the text at `uri` are in it, or in the file that a
/// location names: what is wrong with an import is said with places of both.
fn check_ranges(answer: &Json, uri: &str, text: &str) {
    match answer {
        Json::Array(items) => items.iter().for_each(|item| check_ranges(item, uri, text)),
        Json::Object(fields) => {
            let there = fields.get("uri").and_then(Json::as_str).unwrap_or(uri);
            let other = there.strip_prefix("file://").filter(|_| there != uri);
            let other = other.map(|path| std::fs::read_to_string(path).expect("a file"));
            let text = other.as_deref().unwrap_or(text);

            for (key, value) in fields {
                if ["range", "selectionRange"].contains(&key.as_str()) {
                    check_range(value, text);
                }
                check_ranges(value, there, text);
            }
        }
        _ => {}
    }
}

/// Asks everything that is asked of a text as a whole, and at some positions.
fn ask_everything(client: &mut Client, uri: &str, text: &str, random: &mut Random) {
    let document = json!({ "uri": uri });
    let whole = json!({ "textDocument": document });
    for method in [
        "documentSymbol",
        "semanticTokens/full",
        "foldingRange",
        "formatting",
        "inlayHint",
        "codeLens",
    ] {
        let answer = client.ask(&format!("textDocument/{method}"), whole.clone());
        check_ranges(&answer, uri, text);
        if method == "semanticTokens/full" {
            assert_eq!(answer["data"].as_array().expect("tokens").len() % 5, 0);
        }
    }
    let lines: Vec<&str> = text.split('\n').collect();
    for _ in 0..6 {
        let line = random.below(lines.len());
        let character = random.below(lines[line].encode_utf16().count() + 1);
        let position = json!({ "line": line, "character": character });
        let at = json!({ "textDocument": document, "position": position, "newName": "fresh_name",
            "positions": [position], "range": { "start": position, "end": position }, "context": {} });
        for method in [
            "hover",
            "definition",
            "references",
            "documentHighlight",
            "completion",
            "signatureHelp",
            "selectionRange",
            "codeAction",
        ] {
            let answer = client.ask(&format!("textDocument/{method}"), at.clone());
            check_ranges(&answer, uri, text);
        }
        // These may be refused, with a reason.
        for method in ["prepareRename", "rename"] {
            let answer = client.try_ask(&format!("textDocument/{method}"), at.clone());
            answer.map_or_else(
                |why| assert!(!why.is_empty()),
                |answer| check_ranges(&answer, uri, text),
            );
        }
    }
}

#[test]
fn every_request_is_answered_on_every_example() {
    let mut client = Client::new();
    let mut random = Random::new(1);
    for (path, text) in examples() {
        let uri = format!("file://{}", path.display());
        client.open(&uri, &text);
        let errors = client.diagnostics[&uri]
            .iter()
            .filter(|d| d["severity"] == 1);
        assert_eq!(errors.count(), 0, "{uri}");
        ask_everything(&mut client, &uri, &text, &mut random);
        let found = client.ask("workspace/symbol", json!({ "query": "" }));
        assert!(!found.as_array().expect("symbols").is_empty(), "{uri}");
        client.tell(
            "textDocument/didClose",
            json!({ "textDocument": { "uri": uri } }),
        );
    }
    assert!(client.try_ask("textDocument/nonsense", json!({})).is_err());
    client.close();
}

#[test]
fn damaged_texts_are_answered_too() {
    let mut client = Client::new();
    let mut random = Random::new(2);
    let examples = examples();
    for _ in 0..cases(40) {
        let (path, text) = &examples[random.below(examples.len())];
        let damaged = damage(text, &mut random);
        let uri = format!("file://{}", path.display());
        client.open(&uri, &damaged);
        let diagnostics = json!(client.diagnostics[&uri]);
        check_ranges(&diagnostics, &uri, &damaged);
        ask_everything(&mut client, &uri, &damaged, &mut random);
        // An open text counts instead of its file where others import it.
        let document = json!({ "textDocument": { "uri": uri } });
        client.tell("textDocument/didClose", document);
    }
    client.close();
}

/// Removes, repeats or replaces a few characters.
fn damage(text: &str, random: &mut Random) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..1 + random.below(3) {
        let at = random.below(characters.len());
        let length = random.below(12).min(characters.len() - at);
        match random.below(3) {
            0 => drop(characters.drain(at..at + length)),
            1 => {
                let again: Vec<char> = characters[at..at + length].to_vec();
                characters.splice(at..at, again);
            }
            _ => {
                let other = ['{', '}', '(', ')', '"', '/', '*', 'ä', '𝄞', '.', '@'];
                characters[at] = *random.pick(&other);
            }
        }
    }
    characters.into_iter().collect()
}

/// The verdicts of a text, by property; each within a budget.
fn verdicts(text: &str) -> Vec<&'static str> {
    verdicts_of("m.fair", text)
}

fn verdicts_of(name: &str, text: &str) -> Vec<&'static str> {
    let files = Memory::new([(name, text)]);
    let project = Project::open(&files, name, &Options::default()).expect("a right text");
    let plan = Plan {
        budget: fairground::Budget::unlimited().with_max_states(20_000),
        ..Plan::default()
    };
    let questions = project.questions().iter();
    questions
        .map(|question| {
            project
                .check(question, &plan, &mut NoProgress)
                .expect("an answer")
                .verdict()
                .name()
        })
        .collect()
}

/// A text after changes from the last to the first.
fn apply(text: &str, edits: &[Json]) -> String {
    let starts: Vec<usize> = std::iter::once(0)
        .chain(text.match_indices('\n').map(|(n, _)| n + 1))
        .collect();
    let offset = |position: &Json| {
        let line = starts[position["line"].as_u64().unwrap() as usize];
        let units = position["character"].as_u64().unwrap() as usize;
        let mut seen = 0;
        let in_line = text[line..].char_indices().find(|(_, c)| {
            let is_it = seen >= units;
            seen += c.len_utf16();
            is_it
        });
        in_line.map_or(text.len(), |(at, _)| line + at)
    };
    let mut changed = text.to_owned();
    let mut edits: Vec<(usize, usize, &str)> = edits
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            (
                offset(&range["start"]),
                offset(&range["end"]),
                edit["newText"].as_str().unwrap(),
            )
        })
        .collect();
    edits.sort_unstable();
    for (start, end, new) in edits.into_iter().rev() {
        changed.replace_range(start..end, new);
    }
    changed
}

const MODEL: &str = "// Counts.

const Top = 1 + 2 // the greatest value
var x : 0..Top = 0
def below(a, b) = a < b
process P {
    init low
    from low {
        up when below(x, Top) { x := x + 1 } -> low
        go when x == Top -> high
    }
    from high { }
}
process Q { rest { skip } }
property reached: eventually P @ high
";

fn position_of(text: &str, what: &str, plus: usize) -> Json {
    let offset = text.find(what).expect(what) + plus;
    let line = text[..offset].matches('\n').count();
    let start = text[..offset].rfind('\n').map_or(0, |n| n + 1);
    json!({ "line": line, "character": offset - start })
}

fn at(text: &str, what: &str, plus: usize) -> Json {
    json!({ "textDocument": { "uri": "file:///m.fair" }, "position": position_of(text, what, plus) })
}

#[test]
fn answers_say_what_is_known() {
    let mut client = Client::new();
    client.open("file:///m.fair", MODEL);
    let hover = client.ask("textDocument/hover", at(MODEL, "x, Top", 3));
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(
        text.contains("constant Top = 3") && text.contains("the greatest value"),
        "{text}"
    );
    let definition = client.ask("textDocument/definition", at(MODEL, "below(x", 2));
    assert_eq!(
        definition["range"]["start"],
        position_of(MODEL, "below(a", 0)
    );
    let signature = client.ask("textDocument/signatureHelp", at(MODEL, "below(x, Top", 8));
    assert_eq!(signature["signatures"][0]["label"], "below(a, b)");
    assert_eq!(signature["activeParameter"], 1);

    let labels = |answer: &Json| -> Vec<String> {
        let items = answer["items"].as_array().unwrap().iter();
        items
            .map(|item| item["label"].as_str().unwrap().to_owned())
            .collect()
    };
    let damaged = MODEL.replace("P @ high", "P @ ");
    client.open("file:///m.fair", &damaged);
    assert_eq!(client.diagnostics["file:///m.fair"][0]["severity"], 1);
    let locations = client.ask("textDocument/completion", at(&damaged, "P @ ", 4));
    assert_eq!(labels(&locations), ["low", "high"]);
    let names = labels(&client.ask("textDocument/completion", at(&damaged, "x + 1", 0)));
    for name in ["x", "Top", "below", "choose"] {
        assert!(names.contains(&name.to_owned()), "{name}");
    }
    let refused = client.try_ask("textDocument/rename", at(&damaged, "x := ", 0));
    assert!(refused.unwrap_err().contains("errors"));
    client.close();
}

#[test]
fn verdicts_come_with_steps_and_changes() {
    let mut client = Client::new();
    client.open("file:///m.fair", MODEL);
    let document = json!({ "textDocument": { "uri": "file:///m.fair" } });
    let lenses = client.ask("textDocument/codeLens", document.clone());
    let command = lenses[1]["command"].clone();
    assert_eq!(command["command"], "fairground.checkNotions");
    client.ask("workspace/executeCommand", command);
    client.wait_for_end();

    let said = client.diagnostics["file:///m.fair"].clone();
    assert_eq!(said.len(), 1);
    assert_eq!(said[0]["code"], "violated");
    assert!(
        said[0]["message"]
            .as_str()
            .unwrap()
            .contains("it holds under just"),
        "{said:?}"
    );
    let hints = client.ask("textDocument/inlayHint", document.clone());
    assert!(hints[0]["label"].as_str().unwrap().starts_with("violated"));
    let explain = client.ask("textDocument/codeLens", document.clone())[2]["command"].clone();
    let text = client.ask("workspace/executeCommand", explain);
    assert!(text.as_str().unwrap().contains("reached"));

    let range = said[0]["range"].clone();
    let params =
        json!({ "textDocument": { "uri": "file:///m.fair" }, "range": range, "context": {} });
    let actions = client.ask("textDocument/codeAction", params);
    let edits = actions[0]["edit"]["changes"]["file:///m.fair"]
        .as_array()
        .unwrap()
        .clone();
    assert_eq!(verdicts(&apply(MODEL, &edits)), ["holds"]);

    // Whatever is typed, old verdicts go.
    let changed = format!("{MODEL}\n");
    let change = json!({ "textDocument": { "uri": "file:///m.fair", "version": 2 }, "contentChanges": [{ "text": changed }] });
    client.tell("textDocument/didChange", change);
    let hints = client.ask("textDocument/inlayHint", document);
    assert_eq!(hints, json!([]));
    client.close();
}

#[test]
fn slips_can_be_corrected() {
    let mut client = Client::new();
    let wrong = MODEL.replace("x == Top", "x == Tpo /\\ x > 0");
    client.open("file:///m.fair", &wrong);
    let params = json!({ "textDocument": { "uri": "file:///m.fair" }, "context": {},
        "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } } });
    let actions = client.ask("textDocument/codeAction", params.clone());
    let edits = actions[0]["edit"]["changes"]["file:///m.fair"]
        .as_array()
        .unwrap()
        .clone();
    let better = apply(&wrong, &edits);
    assert!(better.contains("Tpo && x"), "{better}");
    client.open("file:///m.fair", &better);
    let actions = client.ask("textDocument/codeAction", params);
    let edits = actions[0]["edit"]["changes"]["file:///m.fair"]
        .as_array()
        .unwrap()
        .clone();
    assert!(apply(&better, &edits).contains("x == Top &&"));
    client.close();
}

/// A model that imports a file which is open, too, and not on the disk.
#[test]
fn imported_files_that_are_open_count() {
    let mut client = Client::new();
    let part = "// How far it goes.\nvar x : 0..3 = 0\nprocess Q { s when x < 3 { x += 1 } }\n";
    let main = "import \"part.fair\" as part\ninvariant small: part.x <= 3\n";
    client.open("file:///m/part.fair", part);
    client.open("file:///m/main.fair", main);
    assert!(client.diagnostics["file:///m/main.fair"].is_empty());

    let at = json!({ "textDocument": { "uri": "file:///m/main.fair" },
        "position": { "line": 1, "character": 22 } });
    let found = client.ask("textDocument/definition", at.clone());
    assert_eq!(found["uri"], "file:///m/part.fair");
    assert_eq!(
        found["range"]["start"],
        json!({ "line": 1, "character": 4 })
    );
    let hover = client.ask("textDocument/hover", at.clone())["contents"]["value"].to_string();
    assert!(
        hover.contains("part.x : 0..3") && hover.contains("How far it goes."),
        "{hover}"
    );
    let mut renaming = at;
    renaming["newName"] = json!("y");
    assert!(client.try_ask("textDocument/rename", renaming).is_err());

    // Where it is declared it can be renamed, and is so in both files.
    let mut renaming = json!({ "textDocument": { "uri": "file:///m/part.fair" },
        "position": { "line": 1, "character": 4 }, "newName": "y" });
    let changes = client.ask("textDocument/rename", renaming.clone())["changes"].clone();
    let edits = |uri: &str| changes[uri].as_array().unwrap().clone();
    let renamed = apply(main, &edits("file:///m/main.fair"));
    assert_eq!(renamed, main.replace("part.x", "part.y"));
    let renamed = apply(part, &edits("file:///m/part.fair"));
    assert!(
        renamed.contains("var y") && renamed.contains("y < 3 { y += 1 }"),
        "{renamed}"
    );
    renaming["newName"] = json!("Q");
    assert!(client.try_ask("textDocument/rename", renaming).is_err());

    // What is wrong in the other file is said in this one, with the way there.
    client.diagnostics.clear();
    client.open("file:///m/part.fair", &part.replace("x += 1", "z += 1"));
    while !client.diagnostics.contains_key("file:///m/main.fair") {
        client.receive();
    }
    let said = &client.diagnostics["file:///m/main.fair"];
    let place = &said[0]["relatedInformation"][0]["location"];
    assert_eq!(place["uri"], "file:///m/part.fair", "{said:?}");
    assert_eq!(place["range"]["start"]["line"], 2);
    client.close();
}

/// The first change that is offered for a text.
fn corrected(client: &mut Client, uri: &str, text: &str) -> String {
    client.open(uri, text);
    let everything =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let params = json!({ "textDocument": { "uri": uri }, "context": {}, "range": everything });
    let actions = client.ask("textDocument/codeAction", params);
    let changes = &actions[0]["edit"]["changes"][uri];
    let edits = changes
        .as_array()
        .unwrap_or_else(|| panic!("no change for {text}"));
    apply(text, edits)
}

#[test]
fn habits_of_other_languages_are_corrected() {
    let mut client = Client::new();
    let frame = |step: &str| {
        format!("var x : 0..3 = 0\nprocess P {{ step {step} }}\nproperty p: always x <= 3\n")
    };
    for (wrong, right) in [
        (
            "when x < 3 /\\ x > 0 { x := 1 }",
            "when x < 3 && x > 0 { x := 1 }",
        ),
        (
            "when x < 3 \\/ x > 0 { x := 1 }",
            "when x < 3 || x > 0 { x := 1 }",
        ),
        ("when x # 3 { x := 1 }", "when x != 3 { x := 1 }"),
        ("when x =< 2 { x := 1 }", "when x <= 2 { x := 1 }"),
        ("when ~(x == 3) { x := 1 }", "when !(x == 3) { x := 1 }"),
        ("when x < 3 { x++ }", "when x < 3 { x += 1 }"),
        ("when x < 3 { x = 1 }", "when x < 3 { x := 1 }"),
        ("whne x < 3 { x := 1 }", "when x < 3 { x := 1 }"),
    ] {
        let better = corrected(&mut client, "file:///m.fair", &frame(wrong));
        assert_eq!(better, frame(right));
        client.open("file:///m.fair", &better);
        let left = &client.diagnostics["file:///m.fair"];
        assert_eq!(left.len(), 0, "{left:?}");
    }
    // What is accepted needs no correction.
    client.open("file:///m.fair", &frame("when x < 3 => x > 0 { x += 1 }"));
    let warnings = &client.diagnostics["file:///m.fair"];
    assert!(warnings.iter().all(|d| d["severity"] != 1), "{warnings:?}");

    let promela = |body: &str| format!("byte count;\nactive proctype P() {{ {body} }}\n");
    for (wrong, right) in [
        ("coutn = 1", "count = 1"),
        ("(count = 1)", "(count == 1)"),
        ("count = 1 count = 2", "count = 1; count = 2"),
    ] {
        let better = corrected(&mut client, "file:///m.pml", &promela(wrong));
        assert_eq!(better, promela(right));
    }
    let csp =
        |body: &str| format!("var count = 0;\nProc() = {body};\n#assert Proc() deadlockfree;\n");
    let better = corrected(
        &mut client,
        "file:///m.csp",
        &csp("a{coutn = 1;} -> Proc()"),
    );
    assert_eq!(better, csp("a{count = 1;} -> Proc()"));
    let better = corrected(&mut client, "file:///m.csp", &csp("a -> Prco()"));
    assert_eq!(better, csp("a -> Proc()"));
    client.close();
}

const TOGGLE: [(&str, &str, &str); 3] = [
    (
        "file:///t.fair",
        "var x : 0..1 = 0\nprocess P { a when x == 0 }\nprocess Q { flip { x := 1 - x } }\nproperty back: always eventually P.a\n",
        "back",
    ),
    (
        "file:///t.pml",
        "byte x;\nactive proctype P() { do :: x == 0 -> x = 1 od }\nactive proctype Q() { do :: x = 0 :: x = 1 od }\nltl back { [] <> (x == 0) }\n",
        "back",
    ),
    (
        "file:///t.csp",
        "P() = a -> P();\nQ() = b -> Q();\nSystem() = P() ||| Q();\n#assert System() |= []<> a;\n",
        "System() |= []<> a",
    ),
];

#[test]
fn verdicts_are_shown_in_all_languages() {
    for (uri, text, property) in TOGGLE {
        let mut client = Client::new();
        client.open(uri, text);
        let document = json!({ "textDocument": { "uri": uri } });
        let lenses = client.ask("textDocument/codeLens", document.clone());
        let of_property = |lenses: &Json, command: &str| {
            let all = lenses.as_array().expect("lenses").iter();
            let is_it = |lens: &&Json| {
                lens["command"]["command"] == command && lens["command"]["arguments"][1] == property
            };
            all.clone().find(is_it).map(|lens| lens["command"].clone())
        };
        let check = of_property(&lenses, "fairground.check").expect("a lens");
        client.ask("workspace/executeCommand", check);
        client.wait_for_end();

        // The verdict stands at the property, with the steps of the run.
        let said = client.diagnostics[uri].clone();
        let verdict = said.iter().find(|d| d["code"] == "violated").expect(uri);
        let related = verdict["relatedInformation"].as_array().expect("steps");
        let messages: Vec<&str> = related
            .iter()
            .filter_map(|r| r["message"].as_str())
            .collect();
        assert!(
            messages.iter().any(|m| m.starts_with("loop")),
            "{uri}: {messages:?}"
        );
        check_ranges(&json!(said), uri, text);
        let lenses = client.ask("textDocument/codeLens", document.clone());
        let explain = of_property(&lenses, "fairground.explain").expect("an explanation");
        let told = client.ask("workspace/executeCommand", explain);
        assert!(
            told.as_str().expect("a text").contains("violated"),
            "{told}"
        );
        let hints = client.ask("textDocument/inlayHint", document);
        let label = hints[0]["label"].as_str().expect("a hint");
        assert!(label.starts_with("violated"), "{label}");
        client.close();
    }
}
