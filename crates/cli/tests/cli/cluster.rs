//! Processes that check together, and what happens to them.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::scene::{Called, Scene, cases};

const MODEL: &str = "
    const N = 12
    var a, b, c : 0..N = 0
    process P(i in 0..2) {
        up { if i == 0 { a := (a + 1) % (N + 1) } if i == 1 { b := (b + 1) % (N + 1) }
             if i == 2 { c := (c + 1) % (N + 1) } }
    }
    invariant bounded: a + b + c <= 3 * N
    property recurs: always eventually a == 0
    property stays: eventually always a == 0
    reachable corner: a == N && b == N && c == N
";

const CALL: [&str; 6] = [
    "check",
    "m.fair",
    "--output-format",
    "json",
    "--fairness",
    "strong-process",
];

/// Verdicts and counts.
fn summary(stdout: &str) -> String {
    let report: serde_json::Value = serde_json::from_str(stdout).expect("it is JSON");
    let results = report["results"].as_array().expect("a list");
    let keys = |result: &serde_json::Value| {
        let names = ["property", "verdict"];
        let counts = ["states", "transitions", "product_states"];
        let names = names.map(|key| result[key].to_string()).join(" ");
        // A search that finds something does not look at everything.
        let is_complete = result["verdict"] == "holds" && result["trace"].is_null();
        let counts = counts.map(|key| result[key].to_string()).join(" ");
        format!(
            "{names} {}",
            if is_complete { counts } else { String::new() }
        )
    };
    results.iter().map(keys).collect::<Vec<_>>().join("\n")
}

/// Writes a list of addresses that no other program uses now, and a secret.
fn write_hosts(scene: &Scene, n_processes: usize) {
    let listeners: Vec<TcpListener> = (0..n_processes)
        .map(|_| TcpListener::bind("127.0.0.1:0").expect("there is an address"))
        .collect();
    let lines = listeners.iter().map(|listener| {
        let address = listener.local_addr().expect("it has an address");
        format!("{address}\n")
    });
    scene.write("hosts", lines.collect::<String>().as_bytes());
    scene.write("secret", b"not known to others");
}

/// Starts a process of a cluster.
fn start(scene: &Scene, call: &[&str], process: usize) -> Child {
    start_with(scene, call, process, "hosts")
}

fn start_with(scene: &Scene, call: &[&str], process: usize, hosts: &str) -> Child {
    let number = process.to_string();
    let together = ["--hosts", hosts, "--secret", "secret", "--process", &number];
    scene
        .command(&[call, &together].concat())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary can be started")
}

/// How a process has ended; nothing if it was killed.
fn ended(child: Child) -> Option<Called> {
    let output = child.wait_with_output().expect("it ends");
    output.status.code()?;
    Some(Called::from(output))
}

#[test]
fn several_processes_come_to_the_verdicts_of_one() {
    let scene = Scene::with("cluster-run", "m.fair", MODEL);
    let whole = scene.call(&CALL);
    assert_eq!(whole.status, 1, "{}", whole.stderr);
    for (n, workers, more) in [("1", "2", None), ("2", "1", None), ("3", "2", Some("d"))] {
        let disk = more.map(|folder| ["--disk", folder]);
        let start = ["cluster", "run", "--local", n];
        let workers = ["--workers", workers];
        let disk = disk.as_ref().map_or(&[][..], |disk| &disk[..]);
        let called = scene.call(&[&start[..], &CALL[1..], &workers, disk].concat());
        assert_eq!(called.status, 1, "{}", called.stderr);
        assert_eq!(summary(&called.stdout), summary(&whole.stdout), "{n}");
    }
}

/// Models in three languages, and constants.
const EXAMPLES: [(&str, &[&str]); 12] = [
    ("alternating_bit.fair", &[]),
    ("barrier.fair", &[]),
    ("bench/german.fair", &["-D", "N=2"]),
    ("csp/philosophers_right.csp", &[]),
    ("leader_election.fair", &[]),
    ("lock.fair", &[]),
    ("micro/two_loops.fair", &[]),
    ("milner_fair.fair", &["-D", "N=6"]),
    ("peterson.fair", &[]),
    ("philosophers_right.fair", &[]),
    ("promela/peterson.pml", &[]),
    ("readers_writer.fair", &[]),
];

/// One process, or up to four that talk over sockets, come to the same verdicts and counts in memory
/// and in files.
#[test]
fn examples_are_decided_alike_by_all_numbers_of_processes() {
    let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let scene = Scene::new("cluster-examples");
    let (mut n_compared, mut n_left_out) = (0, 0);
    for (number, (file, constants)) in EXAMPLES.iter().enumerate() {
        let path = examples.join(file).display().to_string();
        let asked = [&[path.as_str()][..], *constants].concat();
        for (turn, fairness) in ["weak", "strong-process", "strong"].into_iter().enumerate() {
            let end = ["--fairness", fairness, "--output-format", "json"];
            let call = [&["check"][..], &asked, &end, &["--reduce=none"]].concat();
            let alone = scene.call(&call).stdout;

            let n_processes = (1 + (number + turn) % 4).to_string();
            let start = ["cluster", "run", "--local", &n_processes];
            let workers = ["--workers", if turn == 1 { "2" } else { "1" }];
            let mut call = [&start[..], &asked, &end, &workers].concat();
            if number % 2 == 0 {
                call.extend(["--disk", "d"]);
            }
            let together = scene.call(&call);
            let report: serde_json::Value =
                serde_json::from_str(&together.stdout).expect("it is JSON");
            let results = report["results"].as_array().expect("a list");
            let (alone, together) = (summary(&alone), summary(&together.stdout));
            let both = alone.lines().zip(together.lines());
            assert_eq!(both.clone().count(), results.len(), "{call:?}");
            for ((own, other), result) in both.zip(results) {
                // Strong global fairness, and what is asked of paths, is not decided on sets.
                if result["reason"] == "unsupported" {
                    n_left_out += 1;
                    continue;
                }
                assert_eq!(own, other, "{call:?}");
                n_compared += 1;
            }
        }
    }
    println!("{n_compared} compared, {n_left_out} left out");
    assert!(n_compared > 3 * EXAMPLES.len() && n_left_out < n_compared / 4);
}

#[test]
fn wrong_calls_are_explained() {
    let scene = Scene::with("cluster-wrong", "m.fair", MODEL);
    scene.write("far", b"192.0.2.1:7401\n192.0.2.2:7401\n");
    scene.write("near", b"127.0.0.1:7401\nnowhere\n");
    let cases: [(&[&str], &str); 8] = [
        (&["--hosts", "far"], "--process"),
        (&["--hosts", "none", "--process", "0"], "cannot be read"),
        (&["--hosts", "far", "--process", "0"], "need a secret"),
        (
            &["--hosts", "far", "--process", "2"],
            "there is no process 2",
        ),
        (&["--hosts", "near", "--process", "0"], "line 2: `nowhere`"),
        (
            &[
                "--hosts",
                "far",
                "--process",
                "0",
                "--secret",
                "m.fair",
                "--patience",
                "1s",
            ],
            "listen",
        ),
        (
            &["--hosts", "far", "--process", "0", "--reduce"],
            "cannot be combined",
        ),
        (
            &["--hosts", "far", "--process", "0", "--bitstate"],
            "cannot be used with",
        ),
    ];
    for (more, expected) in cases {
        let called = scene.call(&[&["check", "m.fair"], more].concat());
        assert_eq!(called.status, 2, "{more:?}");
        assert!(
            called.stderr.contains(expected),
            "{more:?}: {}",
            called.stderr
        );
    }
    let called = scene.call(&["cluster", "run", "--local", "2", "m.fair", "--hosts", "far"]);
    assert_eq!(called.status, 2, "{}", called.stderr);
    let called = scene.call(&["cluster", "resume", "--local", "2", "nothing"]);
    assert!(
        called.stderr.contains("has no checkpoint"),
        "{}",
        called.stderr
    );
}

#[test]
fn a_process_with_another_model_is_refused() {
    let scene = Scene::with("cluster-model", "m.fair", MODEL);
    scene.write("other.fair", MODEL.replace("N = 12", "N = 11").as_bytes());
    write_hosts(&scene, 2);
    let first = start(&scene, &["check", "m.fair", "--patience", "3s"], 0);
    let second = start(&scene, &["check", "other.fair", "--patience", "3s"], 1);
    let second = ended(second).expect("it is not killed");
    assert_eq!(second.status, 2);
    assert!(second.stderr.contains("another model"), "{}", second.stderr);
    let first = ended(first).expect("it is not killed");
    assert_eq!(first.status, 2);
    assert!(first.stderr.contains("process 1"), "{}", first.stderr);
}

/// A check that was stopped goes on with more or fewer processes, or with one that needs no others.
#[test]
fn numbers_of_processes_may_change() {
    let scene = Scene::with("cluster-numbers", "m.fair", MODEL);
    let whole = summary(&scene.call(&CALL).stdout);
    let disk = ["--disk", "d", "--max-states", "900"];
    for (before, after) in [(0, 3), (2, 0), (2, 3), (3, 2), (1, 0), (3, 1)] {
        let _ = std::fs::remove_dir_all(scene.path("d"));
        let (first, second) = (before.to_string(), after.to_string());
        let stopped = match before {
            0 => scene.call(&[&CALL[..], &disk].concat()),
            _ => {
                let start = ["cluster", "run", "--local", &first];
                scene.call(&[&start[..], &CALL[1..], &disk].concat())
            }
        };
        assert!(stopped.stdout.contains("state-limit"), "{}", stopped.stderr);

        if before > 1 {
            let hidden = scene.path("hidden");
            std::fs::rename(scene.path("d/process-1"), &hidden).expect("it can be moved");
            let refused = scene.call(&["resume", "d"]);
            let why = &refused.stderr;
            assert!(refused.status == 2 && why.contains("are missing"), "{why}");
            std::fs::rename(&hidden, scene.path("d/process-1")).expect("it can be moved");
        }
        let resumed = match after {
            0 => scene.call(&["resume", "d"]),
            _ => scene.call(&["cluster", "resume", "--local", &second, "d"]),
        };
        assert_eq!(resumed.status, 1, "{before} to {after}: {}", resumed.stderr);
        assert_eq!(summary(&resumed.stdout), whole, "{before} to {after}");
        assert!(
            resumed.stdout.contains("rests on the checkpoint"),
            "{before} to {after}"
        );
        let again = scene.call(&["resume", "d"]);
        assert_eq!(again.status, 2, "it was done: {}", again.stdout);
    }
}

/// What happens to a process.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Killed,
    Stopped,
    /// It stands still now and then, for less time than the others have patience.
    Slow,
    /// Its connection to process 0 is closed.
    Closed,
    /// Its disk is full.
    Full,
    /// One of its files is damaged before all go on.
    Damaged,
    /// It is started a second time.
    Twice,
    /// It has another model.
    Other,
}

const FAULTS: [Fault; 8] = [
    Fault::Killed,
    Fault::Stopped,
    Fault::Slow,
    Fault::Closed,
    Fault::Full,
    Fault::Damaged,
    Fault::Twice,
    Fault::Other,
];

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args([&format!("-{name}"), &child.id().to_string()])
        .stderr(Stdio::null())
        .status();
    assert!(sent.is_ok(), "there is a command `kill`");
}

/// Does a checkpoint say where a search is? At first it only says which call it belongs to.
fn has_position(bytes: &[u8]) -> bool {
    let header = bytes.split(|byte| *byte == b'\n').nth(1);
    let header = header.and_then(|header| serde_json::from_slice(header).ok());
    header.is_some_and(|header: serde_json::Value| header["sections"][0].is_object())
}

/// Changes a byte in one of the files of a process. Says whether there was one.
fn damage(scene: &Scene, process: usize, number: u64) -> bool {
    let folder = scene.path(&format!("d/process-{process}"));
    let files = std::fs::read_dir(folder).expect("it can be listed");
    let files = files.map(|file| file.expect("it can be listed").path());
    let mut files: Vec<_> = files
        .filter(|f| f.extension().is_some_and(|e| e == "run"))
        .collect();
    files.sort();
    if files.is_empty() {
        return false;
    }
    let file = &files[number as usize / FAULTS.len() % files.len()];
    let mut bytes = std::fs::read(file).expect("it can be read");
    let at = number as usize * 7_919 % bytes.len().max(1);
    let Some(byte) = bytes.get_mut(at) else {
        return false;
    };
    *byte ^= 1 << (number % 8);
    std::fs::write(file, bytes).expect("it can be written");
    true
}

/// A folder with little room, which goes with this value.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Nothing where file systems cannot be mounted: that needs the rights of an administrator.
    fn mount(path: PathBuf, n_kilobytes: u64) -> Option<Self> {
        std::fs::create_dir_all(&path).expect("it can be made");
        let size = format!("size={n_kilobytes}k");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "none"])
            .arg(&path)
            .stderr(Stdio::null())
            .status();
        mounted
            .is_ok_and(|status| status.success())
            .then_some(Self(path))
    }

    fn make_room(&self) {
        let made = Command::new("mount")
            .args(["-o", "remount,size=64m"])
            .arg(&self.0)
            .status();
        assert!(made.is_ok_and(|status| status.success()), "it was mounted");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// Stands between a process and process 0 until it closes the connection, when it is told to or the
/// other end of the channel goes. Returns its address.
fn stand_between(hosts: &str) -> (String, Sender<()>) {
    let (close, closed) = channel();
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is an address");
    let address = listener
        .local_addr()
        .expect("it has an address")
        .to_string();
    let process_0 = hosts.lines().next().expect("there is a process").to_owned();
    thread::spawn(move || {
        let Ok((near, _)) = listener.accept() else {
            return;
        };
        let begin = Instant::now();
        let connected = loop {
            match TcpStream::connect(&process_0) {
                Err(_) if begin.elapsed() < Duration::from_secs(5) => {
                    thread::sleep(Duration::from_millis(5));
                }
                connected => break connected,
            }
        };
        let Ok(far) = connected else {
            return;
        };
        for (from, to) in [(&near, &far), (&far, &near)] {
            let copies = (from.try_clone(), to.try_clone());
            let (Ok(mut from), Ok(mut to)) = copies else {
                return;
            };
            thread::spawn(move || std::io::copy(&mut from, &mut to));
        }
        let _ = closed.recv();
        let _ = near.shutdown(Shutdown::Both);
        let _ = far.shutdown(Shutdown::Both);
    });
    (address, close)
}

/// What the processes of a case have come to.
#[derive(Clone, Copy, Default, Debug)]
struct Tally {
    runs: u32,
    /// Without all verdicts, and with a message.
    stopped: u32,
    resumed: u32,
    /// Those that went on from a checkpoint, and not from the beginning.
    gone_on: u32,
    refused: u32,
}

/// Whatever happens to a process: no wrong verdict, always a message, and those who go on, however many
/// they are, come to the same result.
#[test]
fn faults_change_no_verdict() {
    // Each level is kept, which takes much longer than to search it.
    let scene = Scene::with(
        "cluster-faults",
        "m.fair",
        &MODEL.replace("N = 12", "N = 3"),
    );
    scene.write("other.fair", MODEL.replace("N = 12", "N = 4").as_bytes());
    let whole = summary(&scene.call(&CALL).stdout);
    let mut tallies = [Tally::default(); FAULTS.len()];
    for number in 0..cases(8) {
        let kind = number as usize % FAULTS.len();
        let tally = &mut tallies[kind];
        let case = Case {
            scene: &scene,
            fault: FAULTS[kind],
            number,
            n_processes: 2 + number as usize / FAULTS.len() % 2,
            whole: &whole,
        };
        case.run(tally);
    }
    for (fault, tally) in FAULTS.iter().zip(tallies) {
        println!("{fault:?}: {tally:?}");
        if let (0, Fault::Full) = (tally.runs, fault) {
            println!("no file system can be mounted here, so none was full");
        }
    }
    for (fault, tally) in FAULTS.iter().zip(tallies) {
        if let Fault::Killed | Fault::Stopped | Fault::Damaged = fault {
            let is_seen = tally.stopped > 0 && tally.gone_on + tally.refused > 0;
            // One alone may come too late.
            assert!(is_seen || tally.runs < 2, "{fault:?}: {tally:?}");
        }
    }
}

struct Case<'a> {
    scene: &'a Scene,
    fault: Fault,
    number: u64,
    n_processes: usize,
    whole: &'a str,
}

impl Case<'_> {
    fn run(&self, tally: &mut Tally) {
        let (scene, number) = (self.scene, self.number);
        let victim = match self.fault {
            // It is the one that connects.
            Fault::Closed => self.n_processes - 1,
            _ => number as usize % self.n_processes,
        };
        let _ = std::fs::remove_dir_all(scene.path("d"));
        write_hosts(scene, self.n_processes);
        let mut disk = None;
        if let Fault::Full = self.fault {
            let size = 8 + number / FAULTS.len() as u64 % 12 * 4;
            disk = SmallDisk::mount(scene.path(&format!("d/process-{victim}")), size);
            if disk.is_none() {
                return;
            }
        }
        tally.runs += 1;

        let (all, close) = self.start(victim);
        let is_stopped = self.wait(all, victim, close);
        tally.stopped += u32::from(is_stopped);
        let folder = |k: usize| scene.path(&format!("d/process-{k}"));
        let has_all = (0..self.n_processes).all(|k| folder(k).join("checkpoint").exists());
        if !has_all || matches!(self.fault, Fault::Other) {
            // Killed before it had begun, or after all was done, or refused.
            return;
        }
        if let Some(disk) = &disk {
            disk.make_room();
        }
        let is_damaged = matches!(self.fault, Fault::Damaged) && damage(scene, victim, number);
        self.resume(is_damaged, tally);
    }

    /// Starts all processes; and what closes the connection, if that is what happens.
    fn start(&self, victim: usize) -> (Vec<Child>, Option<Sender<()>>) {
        let disk = ["--disk", "d", "--checkpoint-every", "0s"];
        let patience = match self.fault {
            Fault::Stopped => "2s",
            _ => "10s",
        };
        let call = [&CALL[..], &disk, &["--patience", patience]].concat();
        let mut close = None;
        if let Fault::Closed = self.fault {
            let hosts = self.scene.read("hosts");
            let (between, sender) = stand_between(&hosts);
            close = Some(sender);
            let rest: Vec<&str> = hosts.lines().skip(1).collect();
            let text = format!("{between}\n{}\n", rest.join("\n"));
            self.scene.write("hosts-victim", text.as_bytes());
        }
        let start_one = |process: usize| {
            let mut call = call.clone();
            let mut hosts = "hosts";
            match self.fault {
                Fault::Other if process == victim => call[1] = "other.fair",
                Fault::Closed if process == victim => hosts = "hosts-victim",
                _ => {}
            }
            start_with(self.scene, &call, process, hosts)
        };
        ((0..self.n_processes).map(start_one).collect(), close)
    }

    /// Waits until a process has kept some positions, or has ended.
    fn wait_for_positions(&self, child: &mut Child, process: usize) {
        let path = self.scene.path(&format!("d/process-{process}/checkpoint"));
        let n_awaited = 1 + self.number * 5 % 23;
        let (mut n_seen, mut last) = (0, Vec::new());
        let begin = Instant::now();
        while n_seen < n_awaited && begin.elapsed() < Duration::from_secs(20) {
            if child.try_wait().is_ok_and(|ended| ended.is_some()) {
                return;
            }
            let bytes = std::fs::read(&path).unwrap_or_default();
            if bytes != last && has_position(&bytes) {
                n_seen += 1;
            }
            last = bytes;
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Lets it happen, and waits for the end of all processes. Has one of them stopped?
    fn wait(&self, mut all: Vec<Child>, victim: usize, close: Option<Sender<()>>) -> bool {
        let number = self.number;
        if !matches!(self.fault, Fault::Full | Fault::Other) {
            self.wait_for_positions(&mut all[victim], victim);
        }
        drop(close);
        let mut ends = Vec::new();
        match self.fault {
            Fault::Killed | Fault::Damaged => all[victim].kill().expect("it can be killed"),
            Fault::Stopped => signal(&all[victim], "STOP"),
            Fault::Slow => {
                for _ in 0..3 {
                    signal(&all[victim], "STOP");
                    thread::sleep(Duration::from_millis(150));
                    signal(&all[victim], "CONT");
                    thread::sleep(Duration::from_millis(5));
                }
            }
            Fault::Twice => {
                let again = ["resume", &format!("d/process-{victim}")];
                let again = ended(start(self.scene, &again, victim)).expect("it is not killed");
                assert_eq!(again.status, 2, "{number}: {}", again.stdout);
                assert!(!again.stderr.is_empty());
                ends.push(false);
            }
            Fault::Closed | Fault::Full | Fault::Other => {}
        }
        let stopped = all.remove(victim);
        ends.extend(all.into_iter().map(|child| self.is_stopped(child)));
        if let Fault::Killed | Fault::Damaged | Fault::Stopped = self.fault {
            signal(&stopped, "KILL");
            let _ = stopped.wait_with_output();
        } else {
            ends.push(self.is_stopped(stopped));
        }
        if let Fault::Twice | Fault::Slow = self.fault {
            assert!(!ends.contains(&true), "{number}: it disturbs the others");
        }
        ends.contains(&true)
    }

    /// A process says why it has stopped, unless it had come to the end. What it has decided is right.
    fn is_stopped(&self, child: Child) -> bool {
        let called = ended(child).expect("it is not killed");
        let context = format!("{:?} {}: {}", self.fault, self.number, called.stderr);
        match called.status {
            2 => {
                assert!(called.stderr.contains("process"), "{context}");
                true
            }
            1 | 3 if called.stdout.is_empty() => called.status == 3,
            1 | 3 => {
                let found = summary(&called.stdout);
                let is_open = |line: &&str| line.contains("\"unknown\"");
                let decided = found.lines().filter(|line| !is_open(line));
                for line in decided {
                    assert!(
                        self.whole.lines().any(|other| other == line),
                        "{context}{line}"
                    );
                }
                let reasons = ["process-lost", "disk-full"];
                let has_reason = reasons.iter().any(|reason| called.stdout.contains(reason));
                assert_eq!(
                    found.lines().any(|line| is_open(&line)),
                    has_reason,
                    "{context}"
                );
                has_reason
            }
            other => panic!("status {other}: {context}"),
        }
    }

    /// Goes on with some number of processes.
    fn resume(&self, is_damaged: bool, tally: &mut Tally) {
        let n_processes = 1 + self.number as usize / 3 % 3;
        write_hosts(self.scene, n_processes);
        let resumed: Vec<Called> = if n_processes == 1 {
            vec![self.scene.call(&["resume", "d"])]
        } else {
            let resume = |k: usize| start(self.scene, &["resume", "d"], k);
            let resumed: Vec<Child> = (0..n_processes).map(resume).collect();
            resumed.into_iter().filter_map(ended).collect()
        };
        let context = format!("{:?} {}: {}", self.fault, self.number, resumed[0].stderr);
        if is_damaged && resumed.iter().any(|called| called.status == 2) {
            let words = resumed.iter().map(|called| called.stderr.as_str());
            assert!(
                words.collect::<String>().contains("is not a checkpoint"),
                "{context}"
            );
            tally.refused += 1;
            return;
        }
        assert_eq!(resumed[0].status, 1, "{context}");
        assert_eq!(summary(&resumed[0].stdout), self.whole, "{context}");
        tally.resumed += 1;
        let has_gone_on = resumed[0].stdout.contains("rests on the checkpoint");
        tally.gone_on += u32::from(has_gone_on);
    }
}
