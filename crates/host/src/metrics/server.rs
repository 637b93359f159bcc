//! An HTTP endpoint for scrapes.

use std::net::SocketAddr;
use std::time::Duration;

use super::http::{Answer, INTERNAL_ERROR, Limits, NOT_FOUND, OK, Server};
use super::{CONTENT_TYPE, text};
use crate::error::HostError;
use crate::host::Host;

const INDEX: &str = "<!doctype html><title>ramp</title><a href=\"/metrics\">metrics</a>\n";

/// Listens.
pub struct MetricsServer {
    server: Server,
    host: Host,
}

impl MetricsServer {
    /// From now on, connections wait for [`Self::poll`].
    pub fn listen(host: &Host, address: SocketAddr) -> Result<Self, HostError> {
        let server = Server::listen(address, Limits::default())
            .map_err(HostError::system(format!("listen on {address}")))?;
        Ok(Self { server, host: host.clone() })
    }

    /// Address, with the port that the system has chosen if asked to.
    pub fn address(&self) -> Option<SocketAddr> {
        self.server.address()
    }

    /// Goes on with whatever clients want, after waiting for that no longer than `patience`.
    pub fn poll(&mut self, patience: Duration) -> Result<(), HostError> {
        let Self { server, host } = self;
        server.poll(patience, |path| answer(host, path)).map_err(HostError::system("wait for requests"))
    }
}

fn answer(host: &Host, path: &str) -> Answer {
    match path {
        "/metrics" => match text(host) {
            Ok(body) => Answer { status: OK, kind: CONTENT_TYPE, body },
            Err(error) => Answer::plain(INTERNAL_ERROR, format!("{error}\n")),
        },
        "/" => Answer { status: OK, kind: "text/html; charset=utf-8", body: INDEX.to_owned() },
        _ => Answer::plain(NOT_FOUND, "only /metrics is here\n"),
    }
}
