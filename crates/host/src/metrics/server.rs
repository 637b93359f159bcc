//! An HTTP endpoint for scrapes.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tiny_http::{Header, Method, Request, Response, Server};

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
        let server = Server::http(address).map_err(|cause| {
            HostError::system::<io::Error>(format!("listen on {address}"))(io::Error::other(cause))
        })?;
        Ok(Self { server, host: host.clone() })
    }

    /// Where, with the port that the system has chosen if it was to.
    pub fn address(&self) -> Option<SocketAddr> {
        self.server.server_addr().to_ip()
    }

    /// Answers one request, if one comes within `patience`. That a client goes away is none of its troubles.
    pub fn poll(&self, patience: Duration) -> Result<(), HostError> {
        let request = self.server.recv_timeout(patience).map_err(HostError::system("receive a request"))?;
        if let Some(request) = request {
            self.answer(request);
        }
        Ok(())
    }

    fn answer(&self, request: Request) {
        let (status, kind, body) = match (request.method(), request.url().split('?').next()) {
            (Method::Get | Method::Head, Some("/metrics")) => match text(&self.host) {
                Ok(text) => (200, CONTENT_TYPE, text),
                Err(error) => (500, "text/plain; charset=utf-8", format!("{error}\n")),
            },
            (Method::Get | Method::Head, Some("/")) => (200, "text/html; charset=utf-8", INDEX.to_owned()),
            (Method::Get | Method::Head, _) => {
                (404, "text/plain; charset=utf-8", "only /metrics is here\n".to_owned())
            }
            _ => (405, "text/plain; charset=utf-8", "only GET\n".to_owned()),
        };
        let header = Header::from_bytes("Content-Type", kind).expect("the names are ASCII");
        let response = Response::from_string(body).with_status_code(status).with_header(header);
        let _ = request.respond(response);
    }
}
