//! Damaged files of every format: no one makes a reader panic, overflow the stack or hang.
//!
//! `FAIR_CASES` is a factor for the number of files, and `FAIR_MINUTES` a time for which more and more
//! are read; a failure names the format and the number of the case, and `FAIR_ONLY=FORMAT:NUMBER`
//! repeats it.

mod formats;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use formats::{FORMATS, Read, Seeds};
use testkit::{Random, cases};

/// How many files there are of each format.
const N_CASES: u32 = 150;

/// Only a guard against tests without end.
const WATCHDOG: Duration = Duration::from_secs(300);

/// What the command line gives to the work, too.
const STACK_BYTES: usize = 512 << 20;

/// Seeds above this size are not used: little of them would be damaged.
const MAX_SEED: u64 = 8_000;

fn texts(folders: &[&str], extension: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = BTreeMap::new();
    let mut folders: Vec<PathBuf> = folders.iter().map(|folder| root.join(folder)).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("there are seeds") {
            let path = entry.expect("folders can be listed").path();
            let is_small = |path: &Path| path.metadata().is_ok_and(|m| m.len() <= MAX_SEED);
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) && is_small(&path) {
                let bytes = fs::read(&path).expect("seeds can be read");
                found.insert(path, bytes);
            }
        }
    }
    assert!(found.len() > 2, "{extension}: {} seeds", found.len());
    found.into_values().collect()
}

/// A damaged copy of one of the seeds of a format.
fn damaged(seeds: &[Vec<u8>], kind: Seeds, random: &mut Random) -> Vec<u8> {
    match kind {
        Seeds::Texts(..) => damaged_text(seeds, random),
        Seeds::Numbers(_) => damaged_numbers(seeds, random),
    }
}

/// Numbers are changed as numbers, so that most of what is made still looks right.
fn damaged_numbers(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let seed = &seeds[random.below(seeds.len())];
    let numbers = seed.chunks_exact(8);
    let mut numbers: Vec<[u8; 8]> = numbers.map(|n| n.try_into().expect("eight")).collect();
    for _ in 0..=random.below(4) {
        let [at, other] = [0, 1].map(|_| random.below(numbers.len()));
        let number = u64::from_le_bytes(numbers[at]);
        let special = [0, 1, u64::from(u32::MAX), i64::MAX as u64, u64::MAX];
        let changed = match random.below(8) {
            0 => number ^ 1 << random.below(64),
            1 => number.wrapping_add(1),
            2 => number.wrapping_sub(1),
            3 => special[random.below(special.len())],
            4 => u64::from_le_bytes(numbers[other]),
            5 => {
                numbers.swap(at, other);
                continue;
            }
            6 => {
                numbers.insert(at, numbers[other]);
                continue;
            }
            _ if numbers.len() > 2 => {
                numbers.remove(at);
                continue;
            }
            _ => number,
        };
        numbers[at] = changed.to_le_bytes();
    }
    numbers.concat()
}

/// Words that are likely to matter to one reader or another.
const WORDS: [&str; 40] = [
    "0",
    "-1",
    "4294967296",
    "9223372036854775807",
    "99999999999999999999",
    "1e999",
    "((((((((",
    "))))))))",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "/*",
    "*/",
    "//",
    "\\",
    "\n",
    "\0",
    "\u{1b}[2J",
    "\u{202e}",
    "..",
    "%",
    "/ 0",
    "<< 64",
    "!",
    "[]<>",
    "true",
    "null",
    "if",
    "do",
    "od",
    "atomic {",
    "include \"m\"",
    "#include \"m\"",
    "#define a a",
    "ex1 x:",
    "--BODY--",
    "&&",
];

/// A text is changed at the ends of words.
fn damaged_text(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = seeds[random.below(seeds.len())].clone();
    for _ in 0..=random.below(6) {
        let [mut from, mut to] = [0, 1].map(|_| piece(&bytes, random));
        if from > to {
            (from, to) = (to, from);
        }
        let part = bytes[from..to].to_vec();
        match random.below(8) {
            0 => drop(bytes.drain(from..to)),
            1 => drop(bytes.splice(to..to, part)),
            2 => {
                let word = WORDS[random.below(WORDS.len())];
                bytes.splice(from..from, word.bytes());
            }
            3 if !bytes.is_empty() => {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            // The same again and again: what is nested becomes deep, what is listed long.
            4 if part.len() < 50 => {
                let many = part.repeat(1 + random.below(2000));
                bytes.splice(from..from, many);
            }
            5 => {
                let other = &seeds[random.below(seeds.len())];
                let at = piece(other, random);
                bytes.splice(from..to, other[at..].iter().copied());
            }
            6 => bytes.truncate(to),
            _ => bytes[from..to].reverse(),
        }
    }
    bytes
}

/// A place where a word begins or ends.
fn piece(bytes: &[u8], random: &mut Random) -> usize {
    let start = random.below(bytes.len() + 1);
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let rest = bytes[start..].iter().position(|byte| !is_word(byte));
    start + rest.unwrap_or(0)
}

#[test]
fn damaged_files_do_no_harm() {
    let only = std::env::var("FAIR_ONLY").ok();
    let only = only.as_deref().and_then(|only| only.split_once(':'));
    let formats = FORMATS.map(|(name, kind, read)| {
        let numbers = |numbers: Vec<u64>| numbers.into_iter().flat_map(u64::to_le_bytes).collect();
        let seeds: Vec<Vec<u8>> = match kind {
            Seeds::Texts(folders, extension) => texts(folders, extension),
            Seeds::Numbers(make) => make().into_iter().map(numbers).collect(),
        };
        (name, seeds, kind, read)
    });
    if let Some((format, number)) = only {
        let number = number.parse().expect("the number of a case");
        let (name, seeds, kind, read) = formats.iter().find(|f| f.0 == format).expect("a format");
        let bytes = damaged(seeds, *kind, &mut Random::new(number));
        return guarded(name, number, *read, bytes);
    }

    let minutes = std::env::var("FAIR_MINUTES").ok();
    let minutes = minutes.map(|text| text.parse().expect("FAIR_MINUTES is a number"));
    let time = minutes.map(|minutes: f64| Duration::from_secs_f64(60.0 * minutes));
    let start = Instant::now();
    let mut n_read = 0;
    for number in 0.. {
        let is_done = match time {
            None => number >= u64::from(cases(N_CASES)),
            Some(time) => start.elapsed() > time,
        };
        if is_done {
            break;
        }
        for (name, seeds, kind, read) in &formats {
            let bytes = damaged(seeds, *kind, &mut Random::new(number));
            guarded(name, number, *read, bytes);
            n_read += 1;
        }
    }
    println!("{n_read} damaged files were read");
}

/// Reads bytes in a thread that must end without a panic.
fn guarded(name: &'static str, number: u64, read: Read, bytes: Vec<u8>) {
    let (sender, done) = channel();
    let work = move || {
        read(&bytes);
        // The test has given up if it does not listen any more.
        let _ = sender.send(());
    };
    let builder = thread::Builder::new().stack_size(STACK_BYTES);
    let reader = builder.spawn(work).expect("threads can be started");
    match done.recv_timeout(WATCHDOG) {
        Ok(()) => {}
        Err(RecvTimeoutError::Timeout) => panic!("FAIR_ONLY={name}:{number} does not end"),
        Err(RecvTimeoutError::Disconnected) => {
            assert!(reader.join().is_ok(), "FAIR_ONLY={name}:{number} panics");
        }
    }
}
