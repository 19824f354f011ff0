//! HTTP/1.1, as much of it as a page on the same machine needs: one request for each connection,
//! heads and bodies of limited size, nothing chunked.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Heads above this size are refused.
const MAX_HEAD: usize = 16 << 10;
/// More headers than these are refused.
const MAX_HEADERS: usize = 64;
/// Bodies above this size are refused.
pub(crate) const MAX_BODY: usize = 16 << 20;
/// How long a request may take to arrive.
const PATIENCE: Duration = Duration::from_secs(10);

/// A request that was read in full.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path without the query.
    pub(crate) path: String,
    pub(crate) query: String,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// The value of a header; nothing unless it is there exactly once.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(other, _)| other == name);
        let first = values.next()?;
        values.next().is_none().then_some(first.1.as_str())
    }

    /// How often a header is there.
    pub(crate) fn n_headers(&self, name: &str) -> usize {
        let same = self.headers.iter().filter(|(other, _)| other == name);
        same.count()
    }

    /// A parameter of the query, which must need no decoding.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let mut pairs = self
            .query
            .split('&')
            .filter_map(|pair| pair.split_once('='));
        pairs.find_map(|(key, value)| (key == name).then_some(value))
    }
}

/// Why a request could not be read.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// The other side has gone, or took too long: there is nothing to answer.
    Gone,
    /// It is answered with this status.
    Refused(u16, &'static str),
}

/// Reads one request.
pub(crate) fn read(stream: &mut TcpStream) -> Result<Request, Unreadable> {
    let deadline = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    let head_length = loop {
        if let Some(end) = find_end(&bytes) {
            break end;
        }
        if bytes.len() > MAX_HEAD {
            return Err(Unreadable::Refused(
                431,
                "the head of the request is too large",
            ));
        }
        receive(stream, &mut bytes, deadline)?;
    };
    if head_length > MAX_HEAD {
        return Err(Unreadable::Refused(
            431,
            "the head of the request is too large",
        ));
    }

    let mut request = parse_head(&bytes[..head_length])?;
    let length = body_length(&request)?;
    let mut body = bytes.split_off(head_length);
    while body.len() < length {
        receive(stream, &mut body, deadline)?;
    }
    // What comes behind the body would be another request; there is one for each connection.
    body.truncate(length);
    request.body = body;
    Ok(request)
}

/// Where the body begins.
fn find_end(bytes: &[u8]) -> Option<usize> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    Some(end + 4)
}

fn receive(
    stream: &mut TcpStream,
    into: &mut Vec<u8>,
    deadline: Instant,
) -> Result<(), Unreadable> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
        return Err(Unreadable::Gone);
    }
    let mut buffer = [0; 16 << 10];
    match stream.read(&mut buffer) {
        Ok(0) => Err(Unreadable::Gone),
        Ok(n) => {
            into.extend_from_slice(&buffer[..n]);
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
        Err(_) => Err(Unreadable::Gone),
    }
}

fn parse_head(head: &[u8]) -> Result<Request, Unreadable> {
    const WRONG: Unreadable = Unreadable::Refused(400, "this is not an HTTP request");
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    match parsed.parse(head) {
        Ok(status) if status.is_complete() => {}
        Ok(_) => return Err(WRONG),
        Err(httparse::Error::TooManyHeaders) => {
            return Err(Unreadable::Refused(431, "the request has too many headers"));
        }
        Err(_) => return Err(WRONG),
    }

    let (Some(method), Some(target)) = (parsed.method, parsed.path) else {
        return Err(WRONG);
    };
    if !target.starts_with('/') {
        return Err(Unreadable::Refused(
            400,
            "the target of the request is not a path",
        ));
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut kept = Vec::new();
    for header in parsed.headers.iter() {
        let Ok(value) = std::str::from_utf8(header.value) else {
            return Err(WRONG);
        };
        kept.push((header.name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Ok(Request {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers: kept,
        body: Vec::new(),
    })
}

fn body_length(request: &Request) -> Result<usize, Unreadable> {
    if request.n_headers("transfer-encoding") > 0 {
        return Err(Unreadable::Refused(501, "bodies must say their length"));
    }

    // A length that is given twice is refused: proxies disagree about which one counts.
    let length = match (
        request.n_headers("content-length"),
        request.header("content-length"),
    ) {
        (0, _) => return Ok(0),
        (1, Some(length)) if length.bytes().all(|byte| byte.is_ascii_digit()) => {
            length.parse::<usize>().ok()
        }
        _ => None,
    };

    match length {
        Some(length) if length <= MAX_BODY => Ok(length),
        Some(_) => Err(Unreadable::Refused(
            413,
            "the body of the request is too large",
        )),
        None => Err(Unreadable::Refused(
            400,
            "the length of the body is not a number",
        )),
    }
}

/// What is sent back.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) body: Vec<u8>,
    /// Is the body compressed (gzip)? Every browser reads it.
    pub(crate) is_compressed: bool,
    /// What styles made by the page must carry.
    pub(crate) nonce: Option<String>,
}

impl Response {
    pub(crate) fn json(status: u16, body: &serde_json::Value) -> Self {
        Self {
            status,
            content_type: "application/json",
            body: body.to_string().into_bytes(),
            is_compressed: false,
            nonce: None,
        }
    }

    /// Says in one sentence why there is no result.
    pub(crate) fn error(status: u16, message: &str) -> Self {
        Self::json(status, &serde_json::json!({ "error": message }))
    }
}

/// Sends a response, without its body if only the head was asked for.
pub(crate) fn write(
    stream: &mut TcpStream,
    response: &Response,
    head_only: bool,
) -> io::Result<()> {
    let length = format!("Content-Length: {}\r\n", response.body.len());
    let mut head = head(response, &length);
    if !head_only {
        head.extend_from_slice(&response.body);
    }
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(&head)?;
    stream.flush()
}

/// Sends the head of a response that goes on until the connection is closed.
pub(crate) fn write_stream_head(stream: &mut TcpStream) -> io::Result<()> {
    let response = Response {
        status: 200,
        content_type: "text/event-stream",
        body: Vec::new(),
        is_compressed: false,
        nonce: None,
    };
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(&head(&response, ""))?;
    stream.flush()
}

/// The head. Nothing is fetched from elsewhere, nothing is framed, and no text becomes a script.
fn head(response: &Response, length: &str) -> Vec<u8> {
    let nonce = match &response.nonce {
        Some(nonce) => format!(" 'nonce-{nonce}'"),
        None => String::new(),
    };

    let encoding = if response.is_compressed {
        "Content-Encoding: gzip\r\n"
    } else {
        ""
    };

    let reason = match response.status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        413 => "Content Too Large",
        422 => "Unprocessable Content",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    };

    format!(
        "HTTP/1.1 {} {reason}\r\n\
         Content-Type: {}; charset=utf-8\r\n\
         {encoding}{length}\
         Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'{nonce}; \
         img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'\r\n\
         Cross-Origin-Opener-Policy: same-origin\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n\
         Referrer-Policy: no-referrer\r\n\
         X-Content-Type-Options: nosniff\r\n\
         X-Frame-Options: DENY\r\n\
         Cache-Control: no-store\r\n\
         Connection: close\r\n\r\n",
        response.status, response.content_type,
    )
    .into_bytes()
}
