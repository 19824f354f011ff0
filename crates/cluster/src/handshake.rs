//! How processes find each other, and whom they believe.
//!
//! A process connects to those with lower numbers and waits for those with higher ones. On each
//! connection, the one that connects says who it is and sends a random challenge; the other answers
//! with a challenge of its own and a code (HMAC-SHA256 of both challenges and who they are, under the
//! shared secret); the first checks it and answers with a code of its own. So each knows that the other
//! has the secret, and what was said once is of no use a second time. Then both compare what they are
//! about to do. Strangers are turned away and change nothing.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use crate::hosts::Hosts;
use crate::sockets::Sockets;

/// What a process needs to know to join.
#[derive(Clone, Debug)]
pub struct Joining {
    /// Where all are.
    pub hosts: Hosts,
    /// The number of this one.
    pub own: usize,
    /// What only these processes know.
    pub secret: Vec<u8>,
    /// What all must agree in: the program, the model.
    pub identity: Vec<u8>,
    /// How long to wait for the others to start, and how long they may be silent.
    pub patience: Duration,
}

/// The protocol and its version.
const MAGIC: &[u8; 16] = b"fair-cluster 001";

/// How long one connection may take to say who it is.
const SHAKE: Duration = Duration::from_secs(10);

/// Between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(50);

/// How a process answers another that knows the secret.
const WELCOME: u8 = 0;
const DIFFERENT: u8 = 1;
const TWICE: u8 = 2;

type Code = [u8; 32];

/// What a connection begins with.
struct Hello {
    process: usize,
    n_processes: usize,
    challenge: Code,
}

/// Why there is no connection: it may be tried again, or not.
enum Refusal {
    Again,
    Never(String),
}

impl From<io::Error> for Refusal {
    fn from(_: io::Error) -> Self {
        Self::Again
    }
}

/// Connects to all other processes.
///
/// # Errors
/// Says which process could not be reached in time, or why it was not believed.
pub fn connect(joining: &Joining) -> Result<Sockets, String> {
    let (hosts, own) = (&joining.hosts, joining.own);
    let listener = listen(hosts, own, joining.patience)?;
    let deadline = Instant::now() + joining.patience;
    let (sender, receiver) = mpsc::channel();

    for process in 0..own {
        let (sender, joining) = (sender.clone(), joining.clone());
        thread::spawn(move || {
            let connected = reach(&joining, process, deadline);
            let _ = sender.send(connected.map(|stream| (process, stream)));
        });
    }
    thread::spawn({
        let joining = joining.clone();
        move || accept_all(&listener, &joining, deadline, &sender)
    });

    let mut streams: Vec<Option<TcpStream>> = Vec::new();
    streams.resize_with(hosts.n_processes(), || None);
    while (0..streams.len()).any(|process| process != own && streams[process].is_none()) {
        let left = deadline.saturating_duration_since(Instant::now());
        match receiver.recv_timeout(left) {
            Ok(Ok((process, mut stream))) => {
                let answer = if streams[process].is_some() {
                    TWICE
                } else {
                    WELCOME
                };
                // Those who connect wait to hear that they are wanted.
                let is_told = process < own || stream.write_all(&[answer]).is_ok();
                if is_told && answer == WELCOME {
                    streams[process] = Some(stream);
                }
            }
            Ok(Err(why)) => return Err(why),
            Err(_) => {
                let missing = streams.iter().enumerate();
                let missing = missing.filter(|(process, s)| *process != own && s.is_none());
                let names = missing.map(|(p, _)| format!("process {p} ({})", hosts.name(p)));
                let names: Vec<String> = names.collect();
                return Err(format!(
                    "{} did not join within {} s; start all processes with the same list of hosts \
                     and the same secret",
                    names.join(", "),
                    joining.patience.as_secs_f64()
                ));
            }
        }
    }
    let streams = streams.into_iter().enumerate().map(|(process, stream)| {
        let name = hosts.name(process).to_owned();
        (name, stream)
    });
    let sockets = Sockets::new(own, streams.collect(), joining.patience);
    sockets.map_err(|error| format!("the connections cannot be used: {error}"))
}

/// Listens at the address of this process. A name that is not known yet may become so.
fn listen(hosts: &Hosts, own: usize, patience: Duration) -> Result<TcpListener, String> {
    let deadline = Instant::now() + patience;
    loop {
        let addresses = hosts.addresses(own);
        let why = match TcpListener::bind(addresses.as_slice()) {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                return Err(format!(
                    "the address {} of process {own} is in use; is this process running already?",
                    hosts.name(own)
                ));
            }
            Err(error) => error,
        };
        if Instant::now() >= deadline || !addresses.is_empty() {
            return Err(format!(
                "process {own} cannot listen at {}: {why}; is this the machine that the list of \
                 hosts names for it?",
                hosts.name(own)
            ));
        }
        thread::sleep(PAUSE);
    }
}

/// Connects to a process with a lower number, which may start later.
fn reach(joining: &Joining, process: usize, deadline: Instant) -> Result<TcpStream, String> {
    loop {
        let connected = joining
            .hosts
            .addresses(process)
            .into_iter()
            .find_map(|address| TcpStream::connect_timeout(&address, SHAKE).ok());
        if let Some(stream) = connected {
            match introduce(&stream, joining, process) {
                Ok(()) => return Ok(stream),
                Err(Refusal::Never(why)) => return Err(why),
                Err(Refusal::Again) => {}
            }
        }
        if Instant::now() >= deadline {
            return Err(format!(
                "process {process} ({}) cannot be reached",
                joining.hosts.name(process)
            ));
        }
        thread::sleep(PAUSE);
    }
}

/// The side that connects.
fn introduce(mut stream: &TcpStream, joining: &Joining, process: usize) -> Result<(), Refusal> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(joining.patience.max(SHAKE)))?;
    let own = Hello::new(joining)?;
    own.write(stream)?;

    let other = Hello::read(stream)?;
    let mut code = [0; 32];
    stream.read_exact(&mut code)?;
    let name = joining.hosts.name(process);
    if !is_same(&code, &code_of(joining, b"accepts", &own, &other)) {
        return Err(Refusal::Never(format!(
            "process {process} ({name}) has another secret"
        )));
    }
    if (other.process, other.n_processes) != (process, own.n_processes) {
        return Err(Refusal::Never(format!(
            "process {process} ({name}) has another list of hosts"
        )));
    }

    stream.write_all(&code_of(joining, b"connects", &own, &other))?;
    stream.write_all(&joining.digest())?;
    let mut answer = [0];
    stream.read_exact(&mut answer)?;
    match answer[0] {
        WELCOME => Ok(()),
        DIFFERENT => Err(Refusal::Never(format!(
            "process {process} ({name}) checks another model, or runs another version of `fair`"
        ))),
        _ => Err(Refusal::Never(format!(
            "process {} takes part already; every process is started once",
            joining.own
        ))),
    }
}

/// Accepts connections until the deadline, each in a thread of its own: strangers may be slow.
fn accept_all(
    listener: &TcpListener,
    joining: &Joining,
    deadline: Instant,
    sender: &mpsc::Sender<Result<(usize, TcpStream), String>>,
) {
    if listener.set_nonblocking(true).is_err() {
        return;
    }
    while Instant::now() < deadline {
        let Ok((stream, _)) = listener.accept() else {
            thread::sleep(PAUSE / 10);
            continue;
        };
        let (joining, sender) = (joining.clone(), sender.clone());
        thread::spawn(move || {
            if let Ok(process) = examine(&stream, &joining) {
                let _ = sender.send(Ok((process, stream)));
            }
        });
    }
}

/// The side that is connected to. Whoever does not know the secret learns nothing but that.
fn examine(mut stream: &TcpStream, joining: &Joining) -> Result<usize, Refusal> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(SHAKE))?;
    let other = Hello::read(stream)?;
    let own = Hello::new(joining)?;
    own.write(stream)?;
    stream.write_all(&code_of(joining, b"accepts", &other, &own))?;

    let (mut code, mut digest) = ([0; 32], [0; 32]);
    stream.read_exact(&mut code)?;
    stream.read_exact(&mut digest)?;
    let is_expected = other.process > joining.own
        && other.process < own.n_processes
        && other.n_processes == own.n_processes;
    if !is_same(&code, &code_of(joining, b"connects", &other, &own)) || !is_expected {
        return Err(Refusal::Again);
    }
    if digest != joining.digest() {
        stream.write_all(&[DIFFERENT])?;
        return Err(Refusal::Again);
    }
    Ok(other.process)
}

impl Joining {
    fn digest(&self) -> Code {
        Sha256::digest(&self.identity).into()
    }
}

impl Hello {
    fn new(joining: &Joining) -> io::Result<Self> {
        let mut challenge = [0; 32];
        getrandom::fill(&mut challenge).map_err(io::Error::other)?;
        Ok(Self {
            process: joining.own,
            n_processes: joining.hosts.n_processes(),
            challenge,
        })
    }

    fn write(&self, mut stream: &TcpStream) -> io::Result<()> {
        let numbers = [self.process as u32, self.n_processes as u32];
        let mut bytes = MAGIC.to_vec();
        bytes.extend(numbers.into_iter().flat_map(u32::to_le_bytes));
        bytes.extend(self.challenge);
        stream.write_all(&bytes)
    }

    fn read(mut stream: &TcpStream) -> io::Result<Self> {
        let mut magic = [0; 16];
        stream.read_exact(&mut magic)?;
        if magic != *MAGIC {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut number = || {
            let mut bytes = [0; 4];
            let read = stream.read_exact(&mut bytes);
            read.map(|()| u32::from_le_bytes(bytes) as usize)
        };
        let (process, n_processes) = (number()?, number()?);
        let mut challenge = [0; 32];
        stream.read_exact(&mut challenge)?;
        Ok(Self {
            process,
            n_processes,
            challenge,
        })
    }
}

/// What shows that a side knows the secret: it depends on the side, and on everything said so far.
fn code_of(joining: &Joining, side: &[u8], connects: &Hello, accepts: &Hello) -> Code {
    let mut text = side.to_vec();
    for hello in [connects, accepts] {
        text.extend((hello.process as u64).to_le_bytes());
        text.extend((hello.n_processes as u64).to_le_bytes());
        text.extend(hello.challenge);
    }
    hmac(&joining.secret, &text)
}

/// HMAC-SHA256 (RFC 2104).
fn hmac(key: &[u8], text: &[u8]) -> Code {
    const BLOCK: usize = 64;
    let mut padded = [0_u8; BLOCK];
    if key.len() > BLOCK {
        padded[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        padded[..key.len()].copy_from_slice(key);
    }
    let pad = |with: u8| padded.map(|byte| byte ^ with);
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(text);
    let outer = Sha256::new().chain_update(pad(0x5c));
    outer.chain_update(inner.finalize()).finalize().into()
}

/// Compares in a time that does not tell where the difference is.
fn is_same(a: &Code, b: &Code) -> bool {
    a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test cases 1, 2 and 6 of RFC 4231.
    #[test]
    fn codes_are_those_of_the_standard() {
        let shown = |code: Code| code.iter().map(|b| format!("{b:02x}")).collect::<String>();
        assert_eq!(
            shown(hmac(&[0x0b; 20], b"Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
        assert_eq!(
            shown(hmac(b"Jefe", b"what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        let long = b"Test Using Larger Than Block-Size Key - Hash Key First";
        assert_eq!(
            shown(hmac(&[0xaa; 131], long)),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }
}
