//! What the page asks, and what it gets.

mod client;

use client::{Client, Folder, read_until};
use serde_json::{Value as Json, json};

const TOGGLE: &str = "var x : 0..1 = 0
var busy : bool = false
process P { flip { x := 1 - x } }
process Q {
    work when x == 1 { busy := true }
    rest when busy { busy := false }
}
property works: always eventually busy
invariant fine: x <= 1
";

fn model() -> Json {
    json!({ "path": "toggle.fair", "text": TOGGLE })
}

/// The object with more fields.
fn and(mut object: Json, more: Json) -> Json {
    for (key, value) in more.as_object().expect("an object") {
        object[key] = value.clone();
    }
    object
}

/// What one exploration answers comes first, so the order is not that of the text.
#[test]
fn invariants_are_answered_together() {
    let client = Client::start(&Folder::new());
    let text = format!("{TOGGLE}invariant small: x < 2\ndeadlockfree\n");
    let events = checked(&client, &and(model(), json!({ "text": text })), "default");
    let mut found = results(&events);
    found.sort_unstable();
    let expected = [
        ("deadlockfree", "default", "holds"),
        ("fine", "default", "holds"),
        ("small", "default", "holds"),
        ("works", "default", "violated"),
    ];
    assert_eq!(found, expected);
    // Two searches: one for the formula, one for everything else.
    let states = |name: &str| {
        let of = |event: &&Json| event["result"]["property"] == name;
        let event = events.iter().find(of).expect("a result");
        event["result"]["seconds"].as_f64()
    };
    assert_eq!(states("fine"), states("small"));
}

/// Checks everything, and returns what was told about it.
fn checked(client: &Client, model: &Json, fairness: &str) -> Vec<Json> {
    let mut events = client.events("tab");
    let request = and(
        model.clone(),
        json!({ "tab": "tab", "fairness": fairness, "questions": null }),
    );
    let response = client.ask("check", &request);
    assert_eq!(response.status, 200, "{}", response.body);
    let told = read_until(&mut events, "\"kind\":\"done\"");
    let lines = told.lines().filter_map(|line| line.strip_prefix("data: "));
    lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

fn results(events: &[Json]) -> Vec<(&str, &str, &str)> {
    let results = events.iter().filter(|event| event["kind"] == "result");
    results
        .map(|event| {
            let result = &event["result"];
            let field = |name: &str| result[name].as_str().unwrap_or_default();
            (field("property"), field("asked"), field("verdict"))
        })
        .collect()
}

#[test]
fn a_wrong_text_has_diagnostics_with_fixes() {
    let client = Client::start(&Folder::new());
    // The place is counted in units of UTF-16, behind a character that has two of them.
    let text = "// 𝒙\nvar level : 0..3 = 0\nprocess P { step when levle < 3 }\n";
    let answer = client
        .ask("analyse", &json!({ "path": "m.fair", "text": text }))
        .json();
    assert!(answer["model"].is_null());
    let diagnostic = &answer["diagnostics"][0];
    assert_eq!(diagnostic["severity"], "error");
    let units: Vec<u16> = text.encode_utf16().collect();
    let fix = &diagnostic["fixes"][0];
    let (from, to) = (
        fix["from"].as_u64().unwrap() as usize,
        fix["to"].as_u64().unwrap() as usize,
    );
    assert_eq!(String::from_utf16(&units[from..to]).unwrap(), "levle");
    assert_eq!(fix["text"], "level");
}

#[test]
fn a_model_has_an_outline_and_questions() {
    let client = Client::start(&Folder::new());
    let answer = client.ask("analyse", &model()).json();
    let outline = answer["model"]["outline"].as_array().unwrap();
    let entry = |name: &str| outline.iter().find(|entry| entry["name"] == name).unwrap();
    assert_eq!(entry("P")["kind"], "process");
    assert_eq!(entry("busy")["position"]["line"], 2);
    assert_eq!(entry("works")["kind"], "property");
    assert_eq!(answer["model"]["questions"][1]["name"], "fine");
    assert_eq!(answer["model"]["processes"], json!(["P", "Q"]));
}

#[test]
fn a_check_tells_its_results_and_keeps_them() {
    let client = Client::start(&Folder::new());
    let events = checked(&client, &model(), "default");
    assert_eq!(
        results(&events),
        [
            ("works", "default", "violated"),
            ("fine", "default", "holds")
        ]
    );
    let kept = client.ask("results", &model()).json();
    assert_eq!(kept["results"].as_array().unwrap().len(), 2);
    let other = and(model(), json!({ "text": format!("{TOGGLE}\n") }));
    assert_eq!(client.ask("results", &other).json()["results"], json!([]));
}

#[test]
fn all_notions_are_asked_one_after_the_other() {
    let client = Client::start(&Folder::new());
    let events = checked(&client, &model(), "all");
    let found = results(&events);
    // Two properties under seven notions.
    assert_eq!(found.len(), 14);
    let verdict = |asked: &str| {
        found
            .iter()
            .find(|r| (r.0, r.1) == ("works", asked))
            .unwrap()
            .2
    };
    // `work` is enabled again and again, but not all the time.
    assert_eq!(
        (verdict("none"), verdict("weak"), verdict("strong")),
        ("violated", "violated", "holds")
    );
}

#[test]
fn a_trace_has_rows_reasons_and_lines() {
    let client = Client::start(&Folder::new());
    checked(&client, &model(), "weak");
    let of = and(model(), json!({ "property": "works", "asked": "weak" }));
    let trace = client.ask("trace", &of).json();
    let n_states = trace["steps"].as_array().unwrap().len();
    assert_eq!(trace["vars"], json!(["x", "busy"]));
    assert_eq!(trace["rows"][2]["text"], "busy");
    assert_eq!(
        trace["rows"][2]["at"].as_str().unwrap(),
        "f".repeat(n_states)
    );
    assert_eq!(
        trace["rows"][0]["at"].as_str().unwrap(),
        "f".repeat(n_states)
    );
    assert!(trace["loop"].is_u64() && trace["simulable"] == true);
    let line = trace["places"][0][0]["line"].as_u64().unwrap() as usize;
    assert!(TOGGLE.lines().nth(line - 1).unwrap().contains("flip"));
    let conditions = trace["meta"]["conditions"].as_array().unwrap();
    assert!(
        conditions
            .iter()
            .any(|c| c["condition"] == "wf(Q.work)" && c["fair_because"] == "disabled")
    );

    let way = client
        .ask("follow", &and(of, json!({ "step": n_states })))
        .json();
    assert_eq!(way["choices"].as_array().unwrap().len(), n_states);
    let there = and(
        model(),
        json!({ "start": way["start"], "choices": way["choices"] }),
    );
    assert_eq!(client.ask("simulate", &there).status, 200);
}

#[test]
fn a_stored_trace_needs_no_check() {
    let folder = Folder::new();
    let client = Client::start(&folder);
    checked(&client, &model(), "default");
    let itf = client
        .ask(
            "itf",
            &and(model(), json!({ "property": "works", "asked": "default" })),
        )
        .json();
    folder.write("t.itf.json", itf["text"].as_str().unwrap());

    let again = Client::start(&folder);
    let alone = again
        .ask("stored", &json!({ "trace": "t.itf.json" }))
        .json();
    assert_eq!(alone["meta"]["property"], "works");
    assert!(alone["rows"].is_null());
    let with_model = again
        .ask("stored", &and(model(), json!({ "trace": "t.itf.json" })))
        .json();
    assert_eq!(with_model["rows"][0]["text"], "[]<>busy");
    let other = and(
        model(),
        json!({ "text": "process P { step { skip } }", "trace": "t.itf.json" }),
    );
    assert!(again.ask("stored", &other).json()["misfit"].is_string());
}

#[test]
fn a_walk_tells_obligations_and_loops() {
    let client = Client::start(&Folder::new());
    let _events = client.events("tab");
    let walk = |choices: Json| {
        let request = json!({ "tab": "tab", "fairness": "strong", "choices": choices });
        client.ask("simulate", &and(model(), request)).json()
    };
    let start = walk(json!([]));
    assert_eq!(start["enabled"][0]["actions"], json!(["P.flip"]));
    assert!(start["loop"].is_null());

    let after = walk(json!([0]));
    let obligation = |answer: &Json, name: &str| {
        let all = answer["obligations"].as_array().unwrap();
        all.iter().find(|o| o["condition"] == name).unwrap().clone()
    };
    let work = obligation(&after, "sf(Q.work)");
    assert_eq!(
        (&work["pending"], &work["since"], &work["taken"]),
        (&json!(true), &json!(1), &Json::Null)
    );

    let back = walk(json!([0, 0]));
    assert_eq!(
        (&back["loop"]["start"], &back["loop"]["fair"]),
        (&json!(0), &json!(false))
    );
    assert_eq!(back["history"].as_array().unwrap().len(), 2);
    let wrong = and(model(), json!({ "choices": [0, 9] }));
    assert_eq!(client.ask("simulate", &wrong).status, 422);
}

#[test]
fn a_random_walk_stops_at_a_breakpoint() {
    let client = Client::start(&Folder::new());
    let request = json!({ "random": { "steps": 500, "seed": 7 }, "breakpoint": "busy && x == 0" });
    let answer = client.ask("simulate", &and(model(), request)).json();
    assert_eq!(answer["stopped"], "breakpoint");
    assert_eq!(answer["values"], json!([0, true]));
}

#[test]
fn graphs_are_bounded_and_mark_runs() {
    let client = Client::start(&Folder::new());
    let graph = client
        .ask(
            "graph",
            &and(model(), json!({ "marked": { "start": 0, "choices": [0] } })),
        )
        .json();
    let nodes = graph["nodes"].as_array().unwrap();
    assert_eq!((nodes.len(), &graph["complete"]), (4, &json!(true)));
    assert_eq!(
        nodes.iter().filter(|node| node["marked"] == true).count(),
        2
    );

    let text = "var a : 0..999 = 0 var b : 0..999 = 0
        process P { up { a := (a + 1) % 1000 } } process Q { up { b := (b + 1) % 1000 } }";
    let large = json!({ "path": "m.fair", "text": text });
    let cut = client.ask("graph", &large).json();
    assert_eq!(
        (cut["nodes"].as_array().unwrap().len(), &cut["complete"]),
        (400, &json!(false))
    );
    let merged = client
        .ask("graph", &and(large, json!({ "keep": [] })))
        .json();
    assert_eq!(merged["nodes"].as_array().unwrap().len(), 1);
    assert_eq!(merged["complete"], false);
}

#[test]
fn the_examples_of_the_start_page_are_good_models() {
    let client = Client::start(&Folder::new());
    let hello = client.ask("hello", &json!({})).json();
    for example in hello["examples"].as_array().unwrap() {
        let text = client
            .ask("example", &json!({ "name": example["name"] }))
            .json();
        let request = json!({ "path": "m.fair", "text": text["text"] });
        let answer = client.ask("analyse", &request).json();
        assert!(!answer["model"].is_null(), "{example}: {answer}");
    }
    assert!(
        client
            .ask("example", &json!({ "name": "tutorial" }))
            .body
            .contains("# ")
    );
    assert_eq!(
        client
            .ask("example", &json!({ "name": "../secret" }))
            .status,
        404
    );
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let client = Client::start(&Folder::new());
    for (name, body) in [
        ("open", json!({})),
        ("check", json!([])),
        ("simulate", json!({ "choices": "x" })),
    ] {
        assert_eq!(client.ask(name, &body).status, 400, "{name}");
    }
    assert_eq!(client.ask("nothing", &json!({})).status, 404);
    let unknown = and(model(), json!({ "path": "m.unknown" }));
    assert_eq!(client.ask("analyse", &unknown).status, 422);
}
