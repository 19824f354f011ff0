//! `fair studio`: what it prints, what it serves, and how it fails.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use expect_test::expect;

use crate::models::COUNTER;
use crate::scene::Scene;

#[test]
fn it_prints_an_address_and_serves_the_page() {
    let scene = Scene::with("studio", "m.fair", COUNTER);
    let mut command = scene.command(&["studio", "m.fair"]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut studio = command.spawn().expect("the studio starts");

    let mut address = String::new();
    let mut printed = BufReader::new(studio.stdout.take().expect("it is piped"));
    printed.read_line(&mut address).expect("an address");
    let rest = address.trim().strip_prefix("http://").expect("an address");
    let (host, token) = rest.split_once("/#token=").expect("a token");
    let ask = |request: String| {
        let mut stream = TcpStream::connect(host).expect("it listens");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    };
    let page = ask(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    let hello = ask(format!(
        "POST /api/hello HTTP/1.1\r\nHost: {host}\r\nX-Fair-Token: {token}\r\n\r\n"
    ));
    studio.kill().expect("it can be ended");
    let _ = studio.wait();

    assert!(host.starts_with("127.0.0.1:"), "{host}");
    assert!(page.contains("Fairground Studio"), "{page}");
    assert!(hello.contains(r#""file":"m.fair""#), "{hello}");
}

#[test]
fn wrong_folders_and_addresses_are_told() {
    let scene = Scene::with("studio_wrong", "m.fair", COUNTER);
    scene.check(
        &["studio", "missing.fair"],
        expect![[r#"
            --- stderr
            error: there is no file or folder `missing.fair`
            --- exit status 2
        "#]],
    );
    let elsewhere = scene.call(&["studio", "--address", "192.0.2.1"]);
    let told = &elsewhere.stderr;
    assert!(told.contains("cannot be started at 192.0.2.1:0"), "{told}");
    assert_eq!(elsewhere.status, 2);
}
