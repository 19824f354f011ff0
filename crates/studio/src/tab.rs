//! Tabs of the browser: each has a stream of events, at most one search, and a walk.
//!
//! A tab exists as long as its stream is open. Closing it stops its search.

use std::collections::HashMap;
use std::io::{ErrorKind, Write as _};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fairground::{SimulationWalk, Stopper};
use serde_json::{Value as Json, json};

use crate::api::Studios;
use crate::folder::fingerprint;
use crate::http::{self, Request, Response};
use crate::projects::{ModelRequest, Opened};

/// How often it is looked whether the tab is still there and its file still the same.
const PAUSE: Duration = Duration::from_millis(250);
/// How often something is sent, so that the page can see that the server is alive.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// More tabs than these are refused.
const MAX_TABS: usize = 16;

/// A tab of the browser.
#[derive(Default)]
pub(crate) struct Tab {
    events: Mutex<Option<Sender<Json>>>,
    /// What stops the search that runs.
    search: Mutex<Option<Stopper>>,
    /// Where the simulation is.
    pub(crate) walk: Mutex<Option<KeptWalk>>,
    /// The file that is open, and the fingerprint of its text as the page knows it.
    watched: Mutex<Option<(String, String)>>,
}

/// A walk, and of which model it is.
pub(crate) struct KeptWalk {
    pub(crate) model: ModelRequest,
    pub(crate) opened: Arc<Opened>,
    pub(crate) start: usize,
    pub(crate) walk: SimulationWalk,
}

impl Tab {
    /// Tells the page something. If it has gone, there is nothing to tell.
    pub(crate) fn send(&self, event: Json) {
        if let Some(events) = &*lock(&self.events) {
            let _ = events.send(event);
        }
    }

    /// Takes the only place for a search.
    pub(crate) fn begin_search(&self, stopper: Stopper) -> bool {
        let mut search = lock(&self.search);
        let is_free = search.is_none();
        if is_free {
            *search = Some(stopper);
        }
        is_free
    }

    pub(crate) fn end_search(&self) {
        *lock(&self.search) = None;
    }

    /// Stops the search, if there is one.
    pub(crate) fn cancel(&self) -> bool {
        let search = lock(&self.search);
        if let Some(stopper) = &*search {
            stopper.interrupt();
        }
        search.is_some()
    }

    /// From now on this file is looked after.
    pub(crate) fn watch(&self, path: &str, text: &str) {
        *lock(&self.watched) = Some((path.to_owned(), fingerprint(text)));
    }
}

/// All tabs by their names.
#[derive(Default)]
pub(crate) struct Tabs(Mutex<HashMap<String, Arc<Tab>>>);

impl Tabs {
    /// The tab with this name, if its stream is open.
    pub(crate) fn find(&self, name: &str) -> Option<Arc<Tab>> {
        lock(&self.0).get(name).cloned()
    }

    fn open(&self, name: &str) -> Option<(Arc<Tab>, Receiver<Json>)> {
        let mut tabs = lock(&self.0);
        if tabs.len() >= MAX_TABS || tabs.contains_key(name) {
            return None;
        }
        let (sender, receiver) = channel();
        let tab = Arc::new(Tab::default());
        *lock(&tab.events) = Some(sender);
        tabs.insert(name.to_owned(), Arc::clone(&tab));
        Some((tab, receiver))
    }

    fn close(&self, name: &str) {
        if let Some(tab) = lock(&self.0).remove(name) {
            tab.cancel();
            *lock(&tab.events) = None;
        }
    }
}

/// Sends what happens until the page goes away.
pub(crate) fn stream_events(studios: &Studios, request: &Request, mut stream: TcpStream) {
    let name = request.parameter("tab").unwrap_or_default();
    let is_name = !name.is_empty() && name.len() <= 64;
    let is_name = is_name && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let opened = is_name.then(|| studios.tabs.open(name)).flatten();
    let Some((tab, events)) = opened else {
        let response = Response::error(409, "there is such a tab already, or there are too many");
        let _ = http::write(&mut stream, &response, false);
        return;
    };

    if http::write_stream_head(&mut stream).is_ok() {
        let mut feed = Feed {
            studios,
            tab: &tab,
            stream,
            last_sent: Instant::now(),
            told: None,
        };
        feed.run(&events);
    }
    studios.tabs.close(name);
}

struct Feed<'a> {
    studios: &'a Studios,
    tab: &'a Tab,
    stream: TcpStream,
    last_sent: Instant,
    /// The fingerprint of the last change on the disk that was told.
    told: Option<String>,
}

impl Feed<'_> {
    fn run(&mut self, events: &Receiver<Json>) {
        let mut goes_on = self.send(&json!({ "kind": "hello" }));
        let mut last_look = Instant::now();
        while goes_on {
            goes_on = match events.recv_timeout(PAUSE) {
                Ok(event) => self.send(&event),
                Err(RecvTimeoutError::Timeout) => true,
                Err(RecvTimeoutError::Disconnected) => false,
            };
            if last_look.elapsed() >= PAUSE {
                last_look = Instant::now();
                goes_on = goes_on && !self.is_closed() && self.look_at_file();
            }
            if self.last_sent.elapsed() >= HEARTBEAT {
                goes_on = goes_on && self.send(&json!({ "kind": "alive" }));
            }
        }
    }

    fn send(&mut self, event: &Json) -> bool {
        self.last_sent = Instant::now();
        let line = format!("data: {event}\n\n");
        let sent = self.stream.write_all(line.as_bytes());
        sent.and_then(|()| self.stream.flush()).is_ok()
    }

    /// Has the page closed the connection? It never sends anything on it.
    fn is_closed(&self) -> bool {
        if self.stream.set_nonblocking(true).is_err() {
            return true;
        }
        let peeked = self.stream.peek(&mut [0]);
        let is_blocking_again = self.stream.set_nonblocking(false).is_ok();
        let is_open = match peeked {
            Ok(n_bytes) => n_bytes > 0,
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        };
        !is_open || !is_blocking_again
    }

    /// Tells the page when the open file has become another one on the disk.
    fn look_at_file(&mut self) -> bool {
        let Some((path, known)) = lock(&self.tab.watched).clone() else {
            return true;
        };
        // A file that is gone has no text; the page keeps the one that it has.
        let Ok(text) = self.studios.folder.read(&path) else {
            return true;
        };
        let now = fingerprint(&text);
        if now == known || self.told.as_deref() == Some(now.as_str()) {
            if now == known {
                self.told = None;
            }
            return true;
        }
        self.told = Some(now.clone());
        self.send(&json!({ "kind": "changed", "path": path, "hash": now, "text": text }))
    }
}

/// A lock that a panic elsewhere does not spoil: what is inside is replaced as a whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
