//! Connections as a search sees them.
//!
//! A message is its length (four bytes) and its bytes. A length of zero is a heartbeat: it says that
//! the process is there, however long it computes. There are no queues: what another process does not
//! take stays in the buffers of the operating system, and when these are full, the sender waits.

use std::io::{self, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use fairground::{Links, StopReason};

/// The connections of one process to all others.
#[derive(Debug)]
pub struct Sockets {
    own: usize,
    peers: Vec<Option<Arc<Peer>>>,
    patience: Duration,
    n_sent: AtomicU64,
    n_messages: AtomicU64,
    is_over: Arc<AtomicBool>,
    /// What has happened first.
    loss: Mutex<Option<String>>,
}

#[derive(Debug)]
struct Peer {
    name: String,
    stream: TcpStream,
    /// Held while a message is sent.
    writer: Mutex<TcpStream>,
    reader: Mutex<BufReader<TcpStream>>,
}

/// How much is read at once.
const BUFFER: usize = 1 << 16;

/// So many heartbeats may be lost before a process counts as silent.
const BEATS: u32 = 4;

/// How long the others have to take what was sent when this process ends.
const LINGER: Duration = Duration::from_secs(2);

impl Sockets {
    /// Connections by the numbers of processes; none to the process itself.
    ///
    /// # Errors
    /// They cannot be used.
    pub fn new(
        own: usize,
        streams: Vec<(String, Option<TcpStream>)>,
        patience: Duration,
    ) -> io::Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let mut peers = Vec::new();
        for (name, stream) in streams {
            let Some(stream) = stream else {
                peers.push(None);
                continue;
            };
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(patience))?;
            let peer = Arc::new(Peer {
                name,
                writer: Mutex::new(stream.try_clone()?),
                reader: Mutex::new(BufReader::with_capacity(BUFFER, stream.try_clone()?)),
                stream,
            });
            thread::spawn({
                let (peer, is_over) = (Arc::clone(&peer), Arc::clone(&is_over));
                move || beat(&peer, &is_over, patience / BEATS)
            });
            peers.push(Some(peer));
        }
        Ok(Self {
            own,
            peers,
            patience,
            n_sent: AtomicU64::new(0),
            n_messages: AtomicU64::new(0),
            is_over,
            loss: Mutex::new(None),
        })
    }

    /// How many messages this process has sent; each is for many states.
    #[must_use]
    pub fn n_messages(&self) -> u64 {
        self.n_messages.load(Ordering::Relaxed)
    }

    /// Why the others were lost, if they were.
    #[must_use]
    pub fn loss(&self) -> Option<String> {
        let loss = self.loss.lock().unwrap_or_else(PoisonError::into_inner);
        loss.clone()
    }

    fn lose(&self, why: String) -> StopReason {
        let mut loss = self.loss.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_over.load(Ordering::Relaxed) {
            loss.get_or_insert(why);
        }
        StopReason::ProcessLost
    }

    fn peer(&self, process: usize) -> Result<&Peer, StopReason> {
        let peer = self.peers.get(process).and_then(Option::as_deref);
        peer.ok_or(StopReason::ProcessLost)
    }

    /// Ends the connections when the others have had time to take what was sent. A connection that is
    /// closed while something waits to be read would take back what was sent last.
    pub fn close(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        for peer in self.peers.iter().flatten() {
            let _ = peer.stream.shutdown(Shutdown::Write);
        }
        for peer in self.peers.iter().flatten() {
            let _ = peer.stream.set_read_timeout(Some(LINGER));
            let mut stream = &peer.stream;
            while matches!(stream.read(&mut [0; 64]), Ok(n) if n > 0) {}
        }
    }
}

/// Says again and again that this process is there, unless it is just sending something else.
fn beat(peer: &Peer, is_over: &AtomicBool, interval: Duration) {
    while !is_over.load(Ordering::Relaxed) {
        if let Ok(mut writer) = peer.writer.try_lock()
            && writer.write_all(&0_u32.to_le_bytes()).is_err()
        {
            return;
        }
        thread::sleep(interval);
    }
}

impl Links for Sockets {
    fn n_processes(&self) -> usize {
        self.peers.len()
    }

    fn own(&self) -> usize {
        self.own
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<(), StopReason> {
        let peer = self.peer(to)?;
        let lost = || self.lose(format!("process {to} ({}) has ended", peer.name));
        let len = u32::try_from(message.len()).map_err(|_| lost())?;
        let mut writer = peer.writer.lock().map_err(|_| lost())?;
        let header = len.to_le_bytes();
        // Short messages go in one packet.
        let written = if message.len() < BUFFER / 4 {
            writer.write_all(&[&header, message].concat())
        } else {
            let start = writer.write_all(&header);
            start.and_then(|()| writer.write_all(message))
        };
        written.map_err(|_| lost())?;
        let n_bytes = (header.len() + message.len()) as u64;
        self.n_sent.fetch_add(n_bytes, Ordering::Relaxed);
        self.n_messages.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn receive(&self, from: usize, message: &mut Vec<u8>) -> Result<(), StopReason> {
        let peer = self.peer(from)?;
        let lost = |error: &io::Error| {
            let what = match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                    format!("was silent for {} s", self.patience.as_secs_f64())
                }
                _ => "has ended".to_owned(),
            };
            // A thread that waits for this process to take something is freed.
            let _ = peer.stream.shutdown(Shutdown::Both);
            self.lose(format!("process {from} ({}) {what}", peer.name))
        };
        let mut reader = peer.reader.lock().map_err(|_| StopReason::ProcessLost)?;
        loop {
            let mut header = [0; 4];
            reader.read_exact(&mut header).map_err(|e| lost(&e))?;
            let len = u64::from(u32::from_le_bytes(header));
            if len == 0 {
                continue;
            }
            // Room is made for what comes, not for what is announced.
            message.clear();
            let read = (&mut *reader).take(len).read_to_end(message);
            let n_read = read.map_err(|e| lost(&e))?;
            if n_read as u64 == len {
                return Ok(());
            }
            return Err(lost(&io::ErrorKind::UnexpectedEof.into()));
        }
    }

    fn leave(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        for peer in self.peers.iter().flatten() {
            let _ = peer.stream.shutdown(Shutdown::Both);
        }
    }

    fn n_sent(&self) -> u64 {
        self.n_sent.load(Ordering::Relaxed)
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        self.leave();
    }
}
