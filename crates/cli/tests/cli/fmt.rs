//! `fair fmt`, and the servers for editors and agents as programs.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use expect_test::expect;

use crate::scene::Scene;

const SPOILT: &str = "var x:0..3=0\nprocess P{\nup when x<3 {x:=x+1}\n}\n";
const CANONICAL: &str = "var x : 0..3 = 0\nprocess P {\n    up when x<3 {x := x+1}\n}\n";

#[test]
fn texts_are_laid_out_or_listed() {
    let scene = Scene::with("fmt", "m.fair", SPOILT);
    scene.check(
        &["fmt", "--check", "m.fair"],
        expect![[r#"
            m.fair
            --- exit status 1
        "#]],
    );
    scene.check(
        &["fmt", "m.fair"],
        expect![[r#"
            --- exit status 0
        "#]],
    );
    let path = scene.path("m.fair");
    assert_eq!(fs::read_to_string(path).expect("a text"), CANONICAL);
    assert_eq!(scene.call(&["fmt", "--check", "m.fair"]).status, 0);
}

#[test]
fn wrong_texts_and_other_languages_are_left_alone() {
    let scene = Scene::with("fmt_wrong", "m.fair", "process P {");
    let told = scene.call(&["fmt", "m.fair"]);
    assert_eq!(told.status, 2);
    assert!(told.stderr.contains("expected `}`"), "{}", told.stderr);
    let scene = Scene::with("fmt_promela", "m.pml", "init { skip }");
    scene.check(
        &["fmt", "m.pml"],
        expect![[r#"
            --- stderr
            error: `m.pml`: only texts of the native language (`.fair`) have a canonical layout, not Promela
            --- exit status 2
        "#]],
    );
}

#[test]
fn servers_end_with_their_input() {
    let scene = Scene::with("servers", "m.fair", CANONICAL);
    let serve = |name: &str, message: &str| {
        let mut command = scene.command(&[name]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().expect("it starts");
        let mut input = server.stdin.take().expect("it is piped");
        input.write_all(message.as_bytes()).expect("it reads");
        drop(input);
        let output = server.wait_with_output().expect("it ends");
        String::from_utf8(output.stdout).expect("text")
    };
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert_eq!(
        serve("mcp", ping),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"
    );

    let messages = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#,
        r#"{"jsonrpc":"2.0","method":"exit"}"#,
    ];
    let framed = messages.map(|text| format!("Content-Length: {}\r\n\r\n{text}", text.len()));
    assert!(serve("lsp", &framed.concat()).contains("semanticTokensProvider"));
}
