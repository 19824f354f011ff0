//! Where names are declared, compared with a resolver over tokens; and renaming.

use std::path::Path;

use fairground::{Analysis, Disk, Memory, Options};
use serde_json::{Value as Json, json};

use super::naive::{self, Use};
use super::{Client, apply, examples, models, verdicts_of};

/// Positions of the protocol.
fn position(text: &str, offset: usize) -> Json {
    let start = text[..offset].rfind('\n').map_or(0, |n| n + 1);
    let line = text[..offset].matches('\n').count();
    json!({ "line": line, "character": text[start..offset].encode_utf16().count() })
}

/// The places that the server says a name is declared at.
fn definitions(client: &mut Client, uri: &str, text: &str, offset: usize) -> Vec<Json> {
    let params = json!({ "textDocument": { "uri": uri }, "position": position(text, offset) });
    match client.ask("textDocument/definition", params) {
        Json::Null => Vec::new(),
        Json::Array(places) => places.iter().map(|p| p["range"]["start"].clone()).collect(),
        place => vec![place["range"]["start"].clone()],
    }
}

/// Compares all names of a text; how many there are. What the server answers is looked at for some,
/// because each request waits for another thread.
fn compare(client: &mut Client, path: &Path, text: &str, uses: &[Use]) -> usize {
    let uri = format!("file://{}", path.display());
    client.open(&uri, text);
    let analysis = fairground::analyse(&Disk, path, text, &Options::default());
    let analysis = analysis.expect("a language");
    let mut n_compared = 0;
    for (number, used) in uses.iter().enumerate() {
        let reference = analysis.reference_at(used.at);
        let reference = reference.filter(|r| r.span.start as usize == used.at);
        let meanings = reference
            .into_iter()
            .flat_map(|r| analysis.meanings_at(r.span));
        let found: Vec<usize> = meanings
            .map(|symbol| analysis.symbols[symbol].span.start as usize)
            .collect();
        let line = text[..used.at].matches('\n').count() + 1;
        let what = format!("{}:{line}: `{}`", path.display(), used.word);
        if used.declared.is_empty() {
            assert_eq!(found, [] as [usize; 0], "{what} is not declared");
        } else {
            let is_right = found.iter().any(|at| used.declared.contains(at));
            assert!(
                is_right,
                "{what} is declared at {:?}, not {found:?}",
                used.declared
            );
            n_compared += 1;
        }
        if number % 50 == 0 {
            let places: Vec<Json> = found.iter().map(|at| position(text, *at)).collect();
            assert_eq!(definitions(client, &uri, text, used.at), places, "{what}");
        }
    }
    n_compared
}

#[test]
fn every_name_is_found_where_a_naive_resolver_finds_it() {
    let mut client = Client::new();
    let mut n_compared = [0; 3];
    for (path, text) in examples().into_iter().chain(models("testdata/promela")) {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
        let (language, uses) = match extension {
            "pml" => (0, naive::promela(&text)),
            "csp" => (1, naive::csp(&text)),
            // Every name of a threshold automaton is declared at one place for all of it.
            "ta" => continue,
            _ => (2, naive::native(&text)),
        };
        n_compared[language] += compare(&mut client, &path, &text, &uses);
    }
    let is_enough = n_compared[0] > 1_000 && n_compared[1] > 1_000 && n_compared[2] > 5_000;
    assert!(is_enough, "{n_compared:?}");
    client.close();
}

fn analyse(path: &Path, text: &str) -> Analysis {
    fairground::analyse(&Memory::default(), path, text, &Options::default()).expect("a language")
}

fn rename(
    client: &mut Client,
    uri: &str,
    text: &str,
    at: usize,
    name: &str,
) -> Result<String, String> {
    client.open(uri, text);
    let params =
        json!({ "textDocument": { "uri": uri }, "position": position(text, at), "newName": name });
    let answer = client.try_ask("textDocument/rename", params)?;
    let edits = answer["changes"][uri].as_array().expect("changes").clone();
    Ok(apply(text, &edits))
}

#[test]
fn renaming_keeps_verdicts() {
    let mut client = Client::new();
    let small = [
        "peterson.fair",
        "toggle.fair",
        "two_phase_commit.fair",
        "philosophers.fair",
        "lock.fair",
        "may_must.fair",
        "peterson.pml",
        "philosophers.pml",
        "alternating_bit.pml",
        "milner.csp",
        "philosophers.csp",
        "le_t.csp",
    ];
    let mut n_renamed = 0;
    for (path, text) in examples() {
        let file = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or("");
        if !small.contains(&file) {
            continue;
        }
        let uri = format!("file://{}", path.display());
        let before = verdicts_of(file, &text);
        let mut renamed = text.clone();
        for (number, symbol) in analyse(&path, &text).symbols.iter().enumerate() {
            // Always in the text as it is by then, so that all names change together.
            let now = analyse(&path, &renamed);
            let span = now.symbols[number].span;
            let written = &renamed[span.start as usize..span.end as usize];
            // Questions and processes may be called by keywords, or by what they say.
            if fairground::keywords(&path).contains(&written) || written != symbol.name {
                continue;
            }
            let name = format!("{}_new", symbol.name);
            let result = rename(&mut client, &uri, &renamed, span.start as usize, &name);
            renamed = result.unwrap_or_else(|why| panic!("{file}: {}: {why}", symbol.name));
            n_renamed += 1;
        }
        assert_eq!(verdicts_of(file, &renamed), before, "{renamed}");
    }
    assert!(n_renamed > 200, "{n_renamed}");
    client.close();
}

const MACROS: &str = "
#define BUSY (x > 0)
#define AT(l) (P@l)
mtype = { red, green };
typedef Pair { byte left; byte right };
inline add(to, by) { byte old = to; to = old + by }
byte y, z;
active proctype P() {
    byte x = 1;
    Pair p;
end:
    do
    :: BUSY -> add(x, y); p.left = x; goto end
    :: atomic { y == red -> z = p.left; printf(\"%d\", y) }
    od
}
active proctype Q() {
    byte x;
    BUSY
}
ltl l { [] (AT(end) -> P:x > 0) }
";

#[test]
fn names_in_macros_mean_what_they_mean_where_they_are_used() {
    let mut client = Client::new();
    let uri = "file:///m.pml";
    client.open(uri, MACROS);
    assert_eq!(
        client.diagnostics[uri].len(),
        0,
        "{:?}",
        client.diagnostics[uri]
    );
    let place = |what: &str, plus: usize| MACROS.find(what).expect(what) + plus;
    let mut declared = |what: &str, plus: usize| {
        let found = definitions(&mut client, uri, MACROS, place(what, plus));
        found
            .iter()
            .map(|at| at["line"].as_u64().unwrap_or(0))
            .collect::<Vec<_>>()
    };
    let line = |what: &str| MACROS[..place(what, 0)].matches('\n').count() as u64;

    // In the macro `x` is that of `P`, and that of `Q`.
    assert_eq!(
        declared("(x > 0)", 1),
        [line("byte x = 1"), line("byte x;")]
    );
    assert_eq!(declared("BUSY ->", 0), [line("define BUSY")]);
    assert_eq!(declared("AT(end)", 3), [line("end:")]);
    assert_eq!(declared("P@l", 2), [line("define AT")]);
    assert_eq!(declared("to = old", 0), [line("inline add")]);
    assert_eq!(declared("old + by", 0), [line("inline add")]);
    assert_eq!(declared("add(x, y)", 4), [line("byte x = 1")]);
    assert_eq!(declared("p.left", 2), [line("typedef")]);
    assert_eq!(declared("P:x", 2), [line("byte x = 1")]);
    assert_eq!(declared("== red", 3), [line("mtype")]);
    assert_eq!(declared("%d", 5), [line("byte y")]);
    client.close();
}

#[test]
fn renaming_is_refused_where_it_would_change_the_meaning() {
    let mut client = Client::new();
    let uri = "file:///m.pml";
    let mut refused = |what: &str, name: &str| {
        let at = MACROS.find(what).expect(what);
        rename(&mut client, uri, MACROS, at, name).expect_err(what)
    };
    assert!(refused("x = 1;", "w").contains("several things"));
    assert!(refused("end:", "stop").contains("not free"));
    assert!(refused("y, z", "z").contains("not free"));
    assert!(refused("y, z", "_pid").contains("not free"));
    assert!(refused("y, z", "do").contains("not free"));

    let at = MACROS.find("end:").expect("a label");
    let renamed = rename(&mut client, uri, MACROS, at, "end_of_it").expect("another end");
    assert!(
        renamed.contains("goto end_of_it") && renamed.contains("AT(end_of_it)"),
        "{renamed}"
    );
    client.close();
}

#[test]
fn definitions_that_are_not_used_are_known_too() {
    let mut client = Client::new();
    let uri = "file:///m.fair";
    let text = "
const N = 3
var x : 0..N = 0
def unused(a, b) = a + x < N
def constant(c) = forall i in 0..N: x < N
process P { step when constant(1) && x < N { x := x + 1 } }
property p: always x <= N
";
    client.open(uri, text);
    assert_eq!(
        client.diagnostics[uri].len(),
        0,
        "{:?}",
        client.diagnostics[uri]
    );
    let mut line = |what: &str, plus: usize| {
        let at = text.find(what).expect(what) + plus;
        let found = definitions(&mut client, uri, text, at);
        found
            .iter()
            .map(|at| at["line"].as_u64().unwrap_or(0))
            .collect::<Vec<_>>()
    };
    assert_eq!(line("a + x", 0), [3]);
    assert_eq!(line("a, b", 3), [3]);
    assert_eq!(line("a + x < N", 4), [2]);
    assert_eq!(line("i in", 0), [4]);
    assert_eq!(line("c) =", 0), [4]);
    let renamed = rename(&mut client, uri, text, text.find("N = 3").expect("N"), "M");
    let renamed = renamed.expect("all uses are known");
    assert!(
        renamed.contains("a + x < M") && !renamed.contains('N'),
        "{renamed}"
    );
    client.close();
}

#[test]
fn texts_with_errors_keep_what_was_understood() {
    let mut client = Client::new();
    for (uri, text, used, declared, n_symbols) in [
        (
            "file:///e.fair",
            "var count : 0..3 = 0\nprocess P { step when count < 3 { count := ( } }\nproperty p: always count < 4\n",
            "count < 3",
            "count :",
            3,
        ),
        (
            "file:///e.pml",
            "byte count;\nactive proctype P() { count = ; count++ }\nltl p { [] (count < 4) }\n",
            "count++",
            "count;",
            3,
        ),
        (
            "file:///e.csp",
            "var count = 0;\nP() = a{count = ;} -> P();\nQ() = [count < 3] b -> Q();\n#assert Q() deadlockfree;\n",
            "count < 3",
            "count = 0",
            3,
        ),
    ] {
        client.open(uri, text);
        assert_eq!(client.diagnostics[uri][0]["severity"], 1, "{uri}");
        let at = text.find(used).expect(used);
        let place = position(text, text.find(declared).expect(declared));
        assert_eq!(definitions(&mut client, uri, text, at), [place], "{uri}");
        let params = json!({ "textDocument": { "uri": uri }, "position": position(text, at) });
        let hover = client.ask("textDocument/hover", params.clone());
        assert!(
            hover["contents"]["value"]
                .as_str()
                .expect(uri)
                .contains("count"),
            "{hover}"
        );
        let items = client.ask("textDocument/completion", params.clone())["items"].clone();
        let is_it = |item: &Json| item["label"] == "count";
        assert!(
            items.as_array().expect("items").iter().any(is_it),
            "{uri}: {items}"
        );
        let outline = client.ask("textDocument/documentSymbol", params);
        assert!(
            outline.as_array().expect("symbols").len() >= n_symbols,
            "{uri}: {outline}"
        );
    }
    client.close();
}
