//! A studio on a folder of its own, and a client that writes requests byte by byte.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fairground::Random;
use serde_json::Value as Json;
use studio::{Settings, Studio};

/// A folder that is removed in the end.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("fair-studio-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    #[allow(dead_code, reason = "not every test needs it")]
    pub fn name(&self) -> String {
        self.0.file_name().unwrap().to_str().unwrap().to_owned()
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What came back.
pub struct Reply {
    pub status: u16,
    #[allow(dead_code, reason = "not every test needs it")]
    pub head: String,
    pub body: String,
}

impl Reply {
    pub fn json(&self) -> Json {
        serde_json::from_str(&self.body).expect("the answer is JSON")
    }
}

/// A client of a studio that was started for it.
pub struct Client {
    pub address: SocketAddr,
    pub token: String,
    #[allow(dead_code, reason = "not every test needs it")]
    pub url: String,
}

impl Client {
    pub fn start(folder: &Folder) -> Self {
        Self::with_memory(folder, 1 << 30)
    }

    pub fn with_memory(folder: &Folder, max_memory: u64) -> Self {
        let studio = Studio::bind(Settings {
            folder: folder.path(""),
            max_memory,
            ..Settings::default()
        });
        let studio = studio.expect("the studio starts");
        let client = Self {
            address: studio.address(),
            token: studio.token().to_owned(),
            url: studio.url(),
        };
        std::thread::spawn(move || studio.run());
        client
    }

    /// A request with the right host.
    pub fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Vec<u8> {
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", self.address);
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        text += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        text.into_bytes()
    }

    /// Sends bytes and reads what comes back.
    pub fn send(&self, bytes: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(self.address).expect("the server listens");
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Reply {
            status: status.unwrap_or(0),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    /// Asks as the page does.
    pub fn ask(&self, name: &str, body: &Json) -> Reply {
        let headers = [
            ("X-Fair-Token", self.token.as_str()),
            ("Content-Type", "application/json"),
        ];
        self.send(&self.request("POST", &format!("/api/{name}"), &headers, &body.to_string()))
    }

    /// The stream of events of a tab, once it is open.
    #[allow(dead_code, reason = "not every test needs it")]
    pub fn events(&self, tab: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).expect("the server listens");
        let headers = [("X-Fair-Token", self.token.as_str())];
        let request = self.request("GET", &format!("/events?tab={tab}"), &headers, "");
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream.write_all(&request).unwrap();
        let _ = read_until(&mut stream, "}");
        stream
    }
}

/// Reads until a text has come.
pub fn read_until(stream: &mut TcpStream, text: &str) -> String {
    let mut read = String::new();
    let mut buffer = [0; 4096];
    while !read.contains(text) {
        match stream.read(&mut buffer) {
            Ok(n) if n > 0 => read += &String::from_utf8_lossy(&buffer[..n]),
            _ => break,
        }
    }
    read
}

/// A request that is cut, changed, repeated or replaced by noise.
#[allow(dead_code, reason = "not every test needs it")]
pub fn spoil(good: &[u8], random: &mut Random) -> Vec<u8> {
    const NOISE: [&[u8]; 12] = [
        b"\r\n",
        b"\r\n\r\n",
        b"\0",
        b": ",
        b"Content-Length: 99999999999999999999\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"GET / HTTP/9.9\r\n",
        b"\xff\xfe",
        b"{\"path\":",
        b"../../",
        b"Content-Length: -1\r\n",
        b"[[[[[[[[[[[[",
    ];
    let mut bytes = good.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len().max(1));
        match random.below(6) {
            0 => bytes.truncate(at),
            1 if !bytes.is_empty() => bytes[at] = random.below(256) as u8,
            2 => {
                let noise = NOISE[random.below(NOISE.len())];
                bytes.splice(at..at, noise.iter().copied());
            }
            3 => {
                let end = (at + random.below(40)).min(bytes.len());
                bytes.drain(at.min(end)..end);
            }
            4 => {
                let piece: Vec<u8> = bytes[at.min(bytes.len())..]
                    .iter()
                    .copied()
                    .take(200)
                    .collect();
                bytes.extend(piece);
            }
            _ => {
                bytes = (0..random.below(300))
                    .map(|_| random.below(256) as u8)
                    .collect()
            }
        }
    }
    bytes
}
