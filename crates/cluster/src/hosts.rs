//! Where the processes are.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};

/// The addresses of all processes, by their numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hosts(Vec<String>);

/// More processes than this are a mistake.
const MAX_PROCESSES: usize = 1024;

impl Hosts {
    /// Reads a list of hosts: one `HOST:PORT` a line, that of process 0 first; what follows `#` is a
    /// comment.
    ///
    /// # Errors
    /// Says which line is wrong, and what to write.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut hosts: Vec<String> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let port = line.rsplit_once(':').map(|(_, port)| port.parse::<u16>());
            if !matches!(port, Some(Ok(port)) if port != 0) {
                return Err(format!(
                    "line {}: `{line}` is not an address; write HOST:PORT, such as node-0:7401",
                    number + 1
                ));
            }
            if hosts.iter().any(|host| host == line) {
                return Err(format!(
                    "line {}: `{line}` is listed twice; every process needs an address of its own",
                    number + 1
                ));
            }
            hosts.push(line.to_owned());
        }
        match hosts.len() {
            0 => Err("there is no host; write one HOST:PORT a line, process 0 first".to_owned()),
            n if n > MAX_PROCESSES => Err(format!("there are more than {MAX_PROCESSES} hosts")),
            _ => Ok(Self(hosts)),
        }
    }

    /// How many processes there are.
    #[must_use]
    pub fn n_processes(&self) -> usize {
        self.0.len()
    }

    /// The address of a process as it was written.
    #[must_use]
    pub fn name(&self, process: usize) -> &str {
        &self.0[process]
    }

    /// The addresses that a name stands for. Names may become known later, while machines start.
    pub(crate) fn addresses(&self, process: usize) -> Vec<SocketAddr> {
        let found = self.0[process].to_socket_addrs();
        found.map(Iterator::collect).unwrap_or_default()
    }

    /// Are all processes on this machine, so that no other can connect?
    #[must_use]
    pub fn are_local(&self) -> bool {
        let is_local = |address: SocketAddr| match address.ip() {
            IpAddr::V4(ip) => ip.is_loopback(),
            IpAddr::V6(ip) => ip.is_loopback(),
        };
        (0..self.n_processes()).all(|process| {
            let addresses = self.addresses(process);
            !addresses.is_empty() && addresses.into_iter().all(is_local)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_or_refused() {
        let hosts = Hosts::parse("# two\n127.0.0.1:7401\n [::1]:7402 # the other\n\n");
        let hosts = hosts.expect("it is a list");
        assert_eq!(hosts.n_processes(), 2);
        assert_eq!(hosts.name(1), "[::1]:7402");
        assert!(hosts.are_local());
        for wrong in ["", "node", "node:0", "node:x", "a:1\na:1", ":"] {
            assert!(Hosts::parse(wrong).is_err(), "{wrong}");
        }
        let far = Hosts::parse("192.0.2.1:7401").expect("it is a list");
        assert!(!far.are_local());
    }
}
