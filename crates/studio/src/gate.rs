//! Who may ask: the page that was opened with the token, and no other.
//!
//! A page of another site can make the browser send requests here, but it cannot read the token, set
//! the header that carries it, or change `Host` and `Origin`. A name that suddenly resolves to this
//! machine (DNS rebinding) is found out by its `Host`.

use std::net::{IpAddr, SocketAddr};

use crate::http::Request;

/// The header that carries the token.
pub(crate) const TOKEN_HEADER: &str = "x-fair-token";

/// What requests are held against.
#[derive(Debug)]
pub(crate) struct Gate {
    address: SocketAddr,
    token: String,
}

impl Gate {
    pub(crate) fn new(address: SocketAddr, token: String) -> Self {
        Self { address, token }
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// May the request get anything at all?
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn check_origin(&self, request: &Request) -> Result<(), &'static str> {
        let host = request
            .header("host")
            .ok_or("the request has no single `Host`")?;
        if !self.is_own(host) {
            return Err("the `Host` is not this server");
        }
        let origin = request.header("origin");
        if request.n_headers("origin") > 0 && origin != Some(format!("http://{host}").as_str()) {
            return Err("the `Origin` is another site");
        }
        match request.header("sec-fetch-site") {
            None | Some("same-origin" | "none") => Ok(()),
            // A link that was clicked elsewhere may show the page, which holds no secret.
            Some(_) if request.header("sec-fetch-mode") == Some("navigate") => Ok(()),
            Some(_) => Err("the request comes from another site"),
        }
    }

    /// Does the request carry the token?
    ///
    /// # Errors
    /// That it does not.
    pub(crate) fn check_token(&self, request: &Request) -> Result<(), &'static str> {
        let given = request.header(TOKEN_HEADER).unwrap_or_default();
        if is_same(given.as_bytes(), self.token.as_bytes()) {
            Ok(())
        } else {
            Err("the token is missing or wrong: use the address that `fair studio` printed")
        }
    }

    /// Is this a name of the server itself? Names can be made to point anywhere, numbers cannot.
    fn is_own(&self, host: &str) -> bool {
        let own = self.address.ip();
        if host == format!("localhost:{}", self.address.port()) {
            return own.is_loopback() || own.is_unspecified();
        }
        match host.parse::<SocketAddr>() {
            Ok(named) if named.port() == self.address.port() => {
                named.ip() == own || is_local(own, named.ip())
            }
            _ => false,
        }
    }
}

/// A server on all addresses answers to each of them.
fn is_local(own: IpAddr, named: IpAddr) -> bool {
    own.is_unspecified() && !named.is_unspecified()
}

/// Compares in a time that does not tell where the difference is.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    let differences = a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b));
    a.len() == b.len() && differences == 0
}

/// A token that cannot be guessed.
pub(crate) fn random_token() -> std::io::Result<String> {
    let mut bytes = [0_u8; 24];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
