//! Connections.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::api::{self, Studios};
use crate::folder::Folder;
use crate::gate::{Gate, random_token};
use crate::http::{self, Request, Response, Unreadable};
use crate::{assets, tab};

/// Connections beyond this number are refused.
const MAX_CONNECTIONS: usize = 64;
/// Enough for every nesting that the front ends allow. Pages that are never used cost nothing.
pub(crate) const STACK_BYTES: usize = 512 << 20;

/// How the studio is started.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder whose files can be read and written.
    pub folder: PathBuf,
    /// The file that is opened first, below the folder.
    pub file: Option<String>,
    /// Where to listen.
    pub address: IpAddr,
    /// The port; 0 leaves the choice to the system.
    pub port: u16,
    /// How much memory the structures of one search may need.
    pub max_memory: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            folder: PathBuf::from("."),
            file: None,
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 0,
            max_memory: 4 << 30,
        }
    }
}

/// A studio that listens.
pub struct Studio {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    gate: Gate,
    studios: Studios,
    n_connections: AtomicUsize,
}

impl Studio {
    /// Begins to listen.
    ///
    /// # Errors
    /// The folder does not exist, the port is taken, or the system has no random numbers.
    pub fn bind(settings: Settings) -> io::Result<Self> {
        let folder = Folder::open(&settings.folder)?;
        let listener = TcpListener::bind((settings.address, settings.port))?;
        let address = listener.local_addr()?;
        let shared = Shared {
            gate: Gate::new(address, random_token()?),
            studios: Studios::new(folder, settings.file, settings.max_memory),
            n_connections: AtomicUsize::new(0),
        };
        Ok(Self {
            listener,
            address,
            shared: Arc::new(shared),
        })
    }

    /// Where the server listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The secret that requests must carry.
    #[must_use]
    pub fn token(&self) -> &str {
        self.shared.gate.token()
    }

    /// What to open in a browser. The token stands behind `#`, so that it is sent to no server.
    #[must_use]
    pub fn url(&self) -> String {
        let mut named = self.address;
        if named.ip().is_unspecified() {
            named.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
        }
        format!("http://{named}/#token={}", self.token())
    }

    /// Answers requests forever.
    pub fn run(&self) {
        for stream in self.listener.incoming() {
            let Ok(stream) = stream else {
                continue;
            };
            let shared = Arc::clone(&self.shared);
            if shared.n_connections.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
                refuse(stream);
                shared.n_connections.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let serve = {
                let shared = Arc::clone(&shared);
                move || {
                    // A bug while answering one request must not end the others.
                    let _ = catch_unwind(AssertUnwindSafe(|| shared.serve(stream)));
                    shared.n_connections.fetch_sub(1, Ordering::Relaxed);
                }
            };
            let builder = thread::Builder::new().stack_size(STACK_BYTES);
            if builder.spawn(serve).is_err() {
                shared.n_connections.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}

fn refuse(mut stream: TcpStream) {
    let response = Response::error(503, "too many connections");
    let _ = http::write(&mut stream, &response, false);
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) {
        let request = match http::read(&mut stream) {
            Ok(request) => request,
            Err(Unreadable::Gone) => return,
            Err(Unreadable::Refused(status, why)) => {
                let _ = http::write(&mut stream, &Response::error(status, why), false);
                return;
            }
        };

        if request.path == "/events" && request.method == "GET" {
            match self.admit(&request) {
                Ok(()) => tab::stream_events(&self.studios, &request, stream),
                Err(response) => {
                    let _ = http::write(&mut stream, &response, false);
                }
            }
            return;
        }

        let answered = catch_unwind(AssertUnwindSafe(|| self.answer(&request)));
        let bug = |_| Response::error(500, "this is a bug in fair; please report it");
        let response = answered.unwrap_or_else(bug);
        let _ = http::write(&mut stream, &response, request.method == "HEAD");
    }

    fn answer(&self, request: &Request) -> Response {
        if let Err(why) = self.gate.check_origin(request) {
            return Response::error(403, why);
        }
        let Some(name) = request.path.strip_prefix("/api/") else {
            return match request.method.as_str() {
                "GET" | "HEAD" => assets::find(&request.path),
                _ => Response::error(405, "only GET is possible here"),
            };
        };
        if request.method != "POST" {
            return Response::error(405, "only POST is possible here");
        }
        if let Err(response) = self.admit(request) {
            return response;
        }
        api::answer(&self.studios, name, &request.body)
    }

    /// Lets the page of this server through.
    fn admit(&self, request: &Request) -> Result<(), Response> {
        let checked = self.gate.check_origin(request);
        let checked = checked.and_then(|()| self.gate.check_token(request));
        checked.map_err(|why| Response::error(403, why))
    }
}
