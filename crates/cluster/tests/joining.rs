//! Processes that join, or do not; each is played by a thread.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use cluster::{Hosts, Joining, Sockets, connect};
use fairground::{Links as _, StopReason};

/// Addresses that no other program uses now.
fn hosts(n_processes: usize) -> Hosts {
    let listeners: Vec<TcpListener> = (0..n_processes)
        .map(|_| TcpListener::bind("127.0.0.1:0").expect("there is an address"))
        .collect();
    let lines = listeners.iter().map(|listener| {
        let address = listener.local_addr().expect("it has an address");
        format!("{address}\n")
    });
    Hosts::parse(&lines.collect::<String>()).expect("these are addresses")
}

fn joining(hosts: &Hosts, own: usize) -> Joining {
    Joining {
        hosts: hosts.clone(),
        own,
        secret: b"a secret of enough length".to_vec(),
        identity: b"a model".to_vec(),
        patience: Duration::from_secs(20),
    }
}

/// Connects all of them at the same time.
fn connect_all(all: Vec<Joining>) -> Vec<Result<Sockets, String>> {
    let threads: Vec<_> = all
        .into_iter()
        .map(|joining| thread::spawn(move || connect(&joining)))
        .collect();
    let joined = threads.into_iter().map(|thread| thread.join());
    joined.map(|result| result.expect("no panic")).collect()
}

fn connected(n_processes: usize, patience: Duration) -> Vec<Sockets> {
    let hosts = hosts(n_processes);
    let all = (0..n_processes).map(|own| Joining {
        patience,
        ..joining(&hosts, own)
    });
    let all = connect_all(all.collect());
    all.into_iter().map(|s| s.expect("they connect")).collect()
}

#[test]
fn messages_arrive_in_order() {
    let all = connected(3, Duration::from_secs(20));
    thread::scope(|scope| {
        for sockets in &all {
            scope.spawn(move || {
                for to in (0..3).filter(|to| *to != sockets.own()) {
                    for number in 0..200_u32 {
                        let long = vec![sockets.own() as u8; (number as usize * 97) % 40_000];
                        let message = [&number.to_le_bytes()[..], &long].concat();
                        sockets.send(to, &message).expect("it is there");
                    }
                }
            });
            for from in (0..3).filter(|from| *from != sockets.own()) {
                scope.spawn(move || {
                    let mut message = Vec::new();
                    for number in 0..200_u32 {
                        sockets.receive(from, &mut message).expect("it is there");
                        let (start, rest) = message.split_at(4);
                        assert_eq!(start, number.to_le_bytes());
                        assert_eq!(rest, vec![from as u8; (number as usize * 97) % 40_000]);
                    }
                });
            }
        }
    });
    assert!(all[0].n_sent() > 2 * 200 * 4);
}

#[test]
fn what_was_sent_last_arrives() {
    for _ in 0..20 {
        let all = connected(2, Duration::from_secs(20));
        thread::scope(|scope| {
            scope.spawn(|| {
                all[0].send(1, b"the end").expect("it is there");
                all[0].close();
            });
            // Heartbeats that wait to be read must not destroy what was sent.
            thread::sleep(Duration::from_millis(20));
            let mut message = Vec::new();
            assert_eq!(all[1].receive(0, &mut message), Ok(()));
            assert_eq!(message, b"the end");
            all[1].close();
        });
    }
}

#[test]
fn a_process_with_another_secret_or_model_is_refused() {
    let short = Duration::from_secs(3);
    type Change = fn(&mut Joining);
    let change: [(&str, Change); 2] = [
        ("another secret", |j| {
            j.secret = b"another secret, too".to_vec()
        }),
        ("another model", |j| j.identity = b"other".to_vec()),
    ];
    for (expected, change) in change {
        let hosts = hosts(2);
        let mut all: Vec<Joining> = (0..2).map(|own| joining(&hosts, own)).collect();
        all.iter_mut().for_each(|j| j.patience = short);
        change(&mut all[1]);
        let results = connect_all(all);
        let why = results[1].as_ref().expect_err("it is refused");
        assert!(why.contains(expected), "{why}");
        let why = results[0].as_ref().expect_err("it waits in vain");
        assert!(why.contains("process 1"), "{why}");
    }
}

#[test]
fn a_process_that_does_not_start_is_named() {
    let hosts = hosts(3);
    let all = (0..2).map(|own| Joining {
        patience: Duration::from_secs(1),
        ..joining(&hosts, own)
    });
    for result in connect_all(all.collect()) {
        let why = result.expect_err("one is missing");
        assert!(why.contains("process 2"), "{why}");
    }
}

#[test]
fn a_second_process_of_the_same_number_is_refused() {
    let hosts = hosts(2);
    let first = joining(&hosts, 0);
    let waiting = thread::spawn({
        let first = first.clone();
        move || connect(&first)
    });
    // It has the address as soon as it runs.
    while TcpStream::connect(first.hosts.name(0)).is_err() {
        thread::sleep(Duration::from_millis(5));
    }
    let why = connect(&first).expect_err("the address is in use");
    assert!(why.contains("running already"), "{why}");
    let second = connect(&joining(&hosts, 1)).expect("it connects");
    let first = waiting.join().expect("no panic").expect("it connects");
    first.send(1, b"x").expect("it is there");
    assert_eq!(second.receive(0, &mut Vec::new()), Ok(()));
}

/// Strangers say nonsense, or nothing, or go away; the processes join nevertheless.
#[test]
fn strangers_change_nothing() {
    let hosts = hosts(2);
    let address = hosts.name(0).to_owned();
    let first = thread::spawn({
        let joining = joining(&hosts, 0);
        move || connect(&joining)
    });
    let mut strangers = Vec::new();
    while strangers.len() < 6 {
        let Ok(mut stream) = TcpStream::connect(&address) else {
            thread::sleep(Duration::from_millis(5));
            continue;
        };
        match strangers.len() % 3 {
            0 => drop(stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n, and much more")),
            1 => {
                // It knows the protocol, but not the secret.
                let mut hello = b"fair-cluster 001".to_vec();
                hello.extend([1, 0, 0, 0, 2, 0, 0, 0]);
                hello.extend([7; 32 + 32 + 32]);
                let _ = stream.write_all(&hello);
                let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
                let mut heard = Vec::new();
                let _ = stream.read_to_end(&mut heard);
                assert!(heard.len() <= 16 + 8 + 32 + 32, "it was not welcome");
            }
            _ => {}
        }
        strangers.push(stream);
    }
    let second = connect(&joining(&hosts, 1)).expect("it connects");
    let first = first.join().expect("no panic").expect("it connects");
    second.send(0, b"x").expect("it is there");
    assert_eq!(first.receive(1, &mut Vec::new()), Ok(()));
}

#[test]
fn those_who_compute_are_not_silent_and_those_who_stop_are_noticed() {
    let patience = Duration::from_millis(800);
    let all = connected(2, patience);
    let mut message = Vec::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            // Longer than patience: heartbeats say that it is there.
            thread::sleep(patience * 3);
            all[1].send(0, b"x").expect("it is there");
        });
        assert_eq!(all[0].receive(1, &mut message), Ok(()));
    });

    all[1].leave();
    let lost = all[0].receive(1, &mut message);
    assert_eq!(lost, Err(StopReason::ProcessLost));
    let why = all[0].loss().expect("it is known");
    assert!(why.contains("process 1"), "{why}");
}

/// A process that is stopped keeps its connections, and says nothing.
#[test]
fn silence_is_noticed() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is an address");
    let address = listener.local_addr().expect("it has an address");
    let own = TcpStream::connect(address).expect("it listens");
    let (other, _) = listener.accept().expect("it connects");
    let streams = vec![("here".to_owned(), None), ("there".to_owned(), Some(own))];
    let sockets = Sockets::new(0, streams, Duration::from_millis(200)).expect("it is connected");
    let lost = sockets.receive(1, &mut Vec::new());
    assert_eq!(lost, Err(StopReason::ProcessLost));
    let why = sockets.loss().expect("it is known");
    assert!(why.contains("silent"), "{why}");
    // A sender does not wait forever for a process that takes nothing.
    let message = vec![0; 1 << 20];
    assert!((0..100).any(|_| sockets.send(1, &message).is_err()));
    drop(other);
}
