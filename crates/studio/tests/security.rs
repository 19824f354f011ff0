//! Who gets what: one test for each promise of `docs/how-to/use-studio.md` about security.

mod client;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Shutdown, TcpStream};
use std::time::{Duration, Instant};

use client::{Client, Folder};
use fairground::Random;
use serde_json::json;

#[test]
fn it_listens_on_the_loopback_address_only() {
    let client = Client::start(&Folder::new());
    assert_eq!(client.address.ip(), IpAddr::V4(Ipv4Addr::LOCALHOST));
}

#[test]
fn tokens_are_long_and_differ() {
    let folder = Folder::new();
    let (first, second) = (Client::start(&folder), Client::start(&folder));
    assert!(first.token.len() >= 32, "{}", first.token);
    assert_ne!(first.token, second.token);
    assert!(
        first.url.ends_with(&format!("/#token={}", first.token)),
        "behind the #"
    );
}

#[test]
fn nothing_is_answered_without_the_token() {
    let client = Client::start(&Folder::new());
    for name in [
        "hello", "files", "open", "save", "check", "simulate", "graph", "nonsense",
    ] {
        for token in ["", "0", &client.token[1..], &format!("{}0", client.token)] {
            let request = client.request(
                "POST",
                &format!("/api/{name}"),
                &[("X-Fair-Token", token)],
                "{}",
            );
            assert_eq!(client.send(&request).status, 403, "{name} with `{token}`");
        }
        let bare = client.request("POST", &format!("/api/{name}"), &[], "{}");
        assert_eq!(client.send(&bare).status, 403, "{name}");
    }
    let events = client.request("GET", "/events?tab=a", &[], "");
    assert_eq!(client.send(&events).status, 403);
    assert_eq!(client.ask("hello", &json!({})).status, 200);
}

#[test]
fn the_token_is_not_in_the_page() {
    let client = Client::start(&Folder::new());
    for path in ["/", "/main.js", "/style.css"] {
        let response = client.send(&client.request("GET", path, &[], ""));
        assert_eq!(response.status, 200, "{path}");
        assert!(!response.body.contains(&client.token), "{path}");
    }
}

#[test]
fn other_hosts_are_refused() {
    let client = Client::start(&Folder::new());
    let port = client.address.port();
    let token = client.token.as_str();
    let wrong = [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("127.0.0.1:{}", port.wrapping_add(1)),
        "127.0.0.1".to_owned(),
        format!("0.0.0.0:{port}"),
        format!("192.168.0.1:{port}"),
        String::new(),
    ];
    for host in wrong {
        for (method, path, body) in [("GET", "/", ""), ("POST", "/api/hello", "{}")] {
            let text = format!(
                "{method} {path} HTTP/1.1\r\nHost: {host}\r\nX-Fair-Token: {token}\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            assert_eq!(
                client.send(text.as_bytes()).status,
                403,
                "{method} {path} as `{host}`"
            );
        }
    }
    let none = format!(
        "POST /api/hello HTTP/1.1\r\nX-Fair-Token: {token}\r\nContent-Length: 2\r\n\r\n{{}}"
    );
    assert_eq!(client.send(none.as_bytes()).status, 403, "no host");
    let two = format!(
        "POST /api/hello HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nHost: evil.example\r\nX-Fair-Token: {token}\r\nContent-Length: 2\r\n\r\n{{}}"
    );
    assert_eq!(client.send(two.as_bytes()).status, 403, "two hosts");
    for host in [format!("127.0.0.1:{port}"), format!("localhost:{port}")] {
        let text = format!(
            "POST /api/hello HTTP/1.1\r\nHost: {host}\r\nX-Fair-Token: {token}\r\nContent-Length: 2\r\n\r\n{{}}"
        );
        assert_eq!(client.send(text.as_bytes()).status, 200, "{host}");
    }
}

#[test]
fn other_origins_are_refused() {
    let client = Client::start(&Folder::new());
    let port = client.address.port();
    let token = client.token.clone();
    let refused = |headers: &[(&str, &str)]| {
        let mut all = vec![("X-Fair-Token", token.as_str())];
        all.extend(headers);
        client
            .send(&client.request("POST", "/api/hello", &all, "{}"))
            .status
            == 403
    };
    for origin in [
        "http://evil.example",
        "null",
        "",
        "https://127.0.0.1",
        &format!("https://127.0.0.1:{port}"),
    ] {
        assert!(refused(&[("Origin", origin)]), "{origin}");
    }
    assert!(refused(&[("Sec-Fetch-Site", "cross-site")]));
    assert!(refused(&[("Sec-Fetch-Site", "same-site")]));
    assert!(!refused(&[
        ("Origin", &format!("http://127.0.0.1:{port}")),
        ("Sec-Fetch-Site", "same-origin")
    ]));
}

#[test]
fn nothing_is_allowed_to_other_sites() {
    let client = Client::start(&Folder::new());
    let response = client.send(&client.request(
        "OPTIONS",
        "/api/hello",
        &[("Origin", "http://evil.example")],
        "",
    ));
    assert_eq!(response.status, 403);
    let head = response.head.to_ascii_lowercase();
    assert!(!head.contains("access-control-allow"), "{head}");
}

#[test]
fn pages_have_a_strict_policy() {
    let client = Client::start(&Folder::new());
    let response = client.send(&client.request("GET", "/", &[], ""));
    let head = response.head;
    for promise in [
        "default-src 'none'",
        "script-src 'self';",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "X-Content-Type-Options: nosniff",
        "Referrer-Policy: no-referrer",
        "X-Frame-Options: DENY",
    ] {
        assert!(head.contains(promise), "{promise} in {head}");
    }
    assert!(
        !head.contains("unsafe-inline") && !head.contains("unsafe-eval"),
        "{head}"
    );
    let nonce = head
        .split("'nonce-")
        .nth(1)
        .and_then(|rest| rest.split('\'').next());
    let again = client.send(&client.request("GET", "/", &[], "")).head;
    assert!(
        !again.contains(nonce.expect("styles carry a nonce")),
        "a nonce is used once"
    );
    for external in ["http://", "https://", "//cdn"] {
        let page = include_str!("../web/index.html");
        assert!(!page.contains(external), "{external}");
    }
}

#[test]
fn only_files_below_the_folder_are_read() {
    let folder = Folder::new();
    folder.write("inside/a.fair", "process P { step }");
    let secret = Folder::new();
    secret.write("secret.fair", "// secret");
    let client = Client::start(&folder);
    let open = |path: &str| client.ask("open", &json!({ "path": path }));
    assert_eq!(open("inside/a.fair").status, 200);
    let above = format!("../{}/secret.fair", secret.name());
    let absolute = secret.path("secret.fair").display().to_string();
    for path in [
        above.as_str(),
        &absolute,
        "inside/../../x.fair",
        "/etc/passwd",
        "..",
        "",
        ".",
        "a\0b.fair",
    ] {
        let response = open(path);
        assert_eq!(response.status, 403, "{path}: {}", response.body);
        assert!(!response.body.contains("// secret"), "{path}");
    }
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_the_folder() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    let secret = Folder::new();
    secret.write("secret.fair", "// secret");
    folder.write("real.fair", "// real");
    symlink(secret.path("secret.fair"), folder.path("link.fair")).unwrap();
    symlink(secret.path(""), folder.path("folder")).unwrap();
    symlink(secret.path("new.fair"), folder.path("dangling.fair")).unwrap();
    symlink(folder.path("real.fair"), folder.path("inner.fair")).unwrap();
    let client = Client::start(&folder);

    let open = |path: &str| client.ask("open", &json!({ "path": path })).status;
    assert_eq!(open("link.fair"), 403);
    assert_eq!(open("folder/secret.fair"), 403);
    assert_eq!(open("inner.fair"), 200, "a link inside the folder");
    let listed = client.ask("files", &json!({})).json();
    assert_eq!(listed["files"], json!(["inner.fair", "real.fair"]));

    let save = |path: &str| {
        client
            .ask("save", &json!({ "path": path, "text": "x", "base": null }))
            .status
    };
    for path in ["link.fair", "folder/new.fair", "dangling.fair"] {
        assert_ne!(save(path), 200, "{path}");
    }
    assert_eq!(
        fs::read_to_string(secret.path("secret.fair")).unwrap(),
        "// secret"
    );
    assert!(!secret.path("new.fair").exists());
}

#[test]
fn only_models_below_the_folder_are_written() {
    let folder = Folder::new();
    let other = Folder::new();
    let client = Client::start(&folder);
    let save = |path: &str| {
        client
            .ask("save", &json!({ "path": path, "text": "x", "base": null }))
            .status
    };
    let above = format!("../{}/new.fair", other.name());
    for path in [
        above.as_str(),
        "/tmp/new.fair",
        "../new.fair",
        "notes.txt",
        ".bashrc",
        "run.sh",
        "",
        "no/folder.fair",
    ] {
        assert_ne!(save(path), 200, "{path}");
    }
    assert!(!other.path("new.fair").exists());
    assert_eq!(save("new.fair"), 200);
    assert_eq!(fs::read_to_string(folder.path("new.fair")).unwrap(), "x");
}

#[test]
fn included_files_lie_below_the_folder() {
    let folder = Folder::new();
    let secret = Folder::new();
    secret.write("secret.h", "#define N 3");
    folder.write("near.h", "#define N 3");
    let client = Client::start(&folder);
    let analyse = |include: &str| {
        let text = format!("#include \"{include}\"\nactive proctype P() {{ byte x = N; }}\n");
        let answer = client
            .ask("analyse", &json!({ "path": "m.pml", "text": text }))
            .json();
        !answer["model"].is_null()
    };
    assert!(analyse("near.h"));
    assert!(!analyse(&secret.path("secret.h").display().to_string()));
    assert!(!analyse(&format!("../{}/secret.h", secret.name())));
}

#[test]
fn a_file_that_changed_underneath_is_not_overwritten() {
    let folder = Folder::new();
    folder.write("a.fair", "old");
    let client = Client::start(&folder);
    let opened = client.ask("open", &json!({ "path": "a.fair" })).json();
    folder.write("a.fair", "theirs");
    let save = json!({ "path": "a.fair", "text": "mine", "base": opened["hash"] });
    let response = client.ask("save", &save);
    assert_eq!(
        (response.status, &response.json()["text"]),
        (409, &json!("theirs"))
    );
    assert_eq!(fs::read_to_string(folder.path("a.fair")).unwrap(), "theirs");
}

/// Closing the tab, or rather its stream, stops the search of the tab.
#[test]
fn one_search_for_each_tab_and_closing_the_tab_ends_it() {
    let client = Client::start(&Folder::new());
    let text = "var x : int = 0 process P { up { x := (x + 1) % 1000000000 } } \
                process Q { down when x > 5 { x := x - 1 } } invariant small: x < 2000000000";
    let check = |tab: &str| {
        let request = json!({ "tab": tab, "path": "m.fair", "text": text, "fairness": "default", "questions": null });
        client.ask("check", &request).status
    };
    assert_eq!(check("first"), 409, "the tab is not connected");

    let mut first = client.events("first");
    assert_eq!(check("first"), 200);
    assert_eq!(check("first"), 409, "one at a time");
    let _second = client.events("second");
    assert_eq!(check("second"), 200, "another tab");
    client.ask("cancel", &json!({ "tab": "second" }));

    // The same name is free again once the stream is closed, and its search has ended.
    first.shutdown(Shutdown::Both).unwrap();
    let _ = first.read(&mut [0]);
    let start = Instant::now();
    let mut again = client.events("first");
    while check("first") != 200 {
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "the search goes on"
        );
        std::thread::sleep(Duration::from_millis(50));
        again = client.events("first");
    }
    client.ask("cancel", &json!({ "tab": "first" }));
    drop(again);
}

#[test]
fn searches_stay_within_the_memory_that_was_given() {
    let client = Client::with_memory(&Folder::new(), 1 << 20);
    let mut events = client.events("tab");
    let text = "var x : 0..9999999 = 0 process P { up { x := (x + 1) % 9999999 } } invariant small: x < 9999999";
    let request = json!({ "tab": "tab", "path": "m.fair", "text": text, "fairness": "default", "questions": null });
    assert_eq!(client.ask("check", &request).status, 200);
    let told = client::read_until(&mut events, "\"kind\":\"done\"");
    assert!(told.contains("memory-limit"), "{told}");
}

/// Requests made of pieces of good ones and of noise. Afterwards the server answers as before.
#[test]
fn the_server_survives_random_requests() {
    let folder = Folder::new();
    folder.write("a.fair", "process P { step }");
    let client = Client::start(&folder);
    let good = client.request(
        "POST",
        "/api/analyse",
        &[("X-Fair-Token", &client.token)],
        &json!({ "path": "a.fair", "text": "var x : 0..3 = 0 process P { step when x < 3 { x := x + 1 } }" }).to_string(),
    );
    let mut random = Random::new(20_260_101);
    for number in 0..10_000 {
        let bytes = client::spoil(&good, &mut random);
        let Ok(mut stream) = TcpStream::connect(client.address) else {
            panic!("the server is gone after {number} requests");
        };
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(Shutdown::Write);
        // Answers are waited for now and then, so that not too many connections are open at once.
        if number % 32 == 0 {
            let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
            let _ = stream.read_to_end(&mut Vec::new());
        }
    }
    let answers = || client.ask("open", &json!({ "path": "a.fair" })).status;
    let start = Instant::now();
    while answers() != 200 {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "the server does not answer any more"
        );
    }
    assert_eq!(
        fs::read_to_string(folder.path("a.fair")).unwrap(),
        "process P { step }"
    );
}
