//! Links between threads of one program that play processes.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use base::{Links, StopReason};

/// The links of one of several threads that play processes. They may break.
#[derive(Debug)]
pub struct Wires {
    own: usize,
    senders: Vec<Mutex<Option<SyncSender<Vec<u8>>>>>,
    receivers: Vec<Mutex<Option<Receiver<Vec<u8>>>>>,
    /// How many messages are sent before all links of this thread break.
    fuse: AtomicI64,
    n_sent: AtomicU64,
}

const NO_PANIC: &str = "no thread panics while it holds a wire";

/// So few messages wait that threads have to wait for one another.
const N_WAITING: usize = 2;

impl Wires {
    /// The links of this many threads.
    #[must_use]
    pub fn between(n_threads: usize) -> Vec<Arc<Self>> {
        let mut all: Vec<Self> = (0..n_threads)
            .map(|own| Self {
                own,
                senders: Vec::new(),
                receivers: Vec::new(),
                fuse: AtomicI64::new(i64::MAX),
                n_sent: AtomicU64::new(0),
            })
            .collect();
        // In this order, the senders of one and the receivers of the other come by their numbers.
        for from in 0..n_threads {
            for to in 0..n_threads {
                let (sender, receiver) = sync_channel(N_WAITING);
                all[from].senders.push(Mutex::new(Some(sender)));
                all[to].receivers.push(Mutex::new(Some(receiver)));
            }
        }
        all.into_iter().map(Arc::new).collect()
    }

    /// Breaks after this many more messages.
    pub fn set_fuse(&self, n_messages: i64) {
        self.fuse.store(n_messages, Ordering::Relaxed);
    }
}

impl Links for Wires {
    fn n_processes(&self) -> usize {
        self.senders.len()
    }

    fn own(&self) -> usize {
        self.own
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<(), StopReason> {
        if self.fuse.fetch_sub(1, Ordering::Relaxed) <= 0 {
            self.leave();
        }
        let sender = self.senders[to].lock().expect(NO_PANIC).clone();
        let sender = sender.ok_or(StopReason::ProcessLost)?;
        let n_bytes = message.len() as u64;
        self.n_sent.fetch_add(n_bytes, Ordering::Relaxed);
        let sent = sender.send(message.to_vec());
        sent.map_err(|_| StopReason::ProcessLost)
    }

    fn receive(&self, from: usize, message: &mut Vec<u8>) -> Result<(), StopReason> {
        let receiver = self.receivers[from].lock().expect(NO_PANIC);
        let received = receiver.as_ref().and_then(|receiver| receiver.recv().ok());
        *message = received.ok_or(StopReason::ProcessLost)?;
        Ok(())
    }

    fn leave(&self) {
        self.fuse.store(0, Ordering::Relaxed);
        for sender in &self.senders {
            sender.lock().expect(NO_PANIC).take();
        }
        // A thread that waits for a message holds the other end, which ends with its sender.
        for receiver in &self.receivers {
            if let Ok(mut receiver) = receiver.try_lock() {
                receiver.take();
            }
        }
    }

    fn n_sent(&self) -> u64 {
        self.n_sent.load(Ordering::Relaxed)
    }
}
