//! An HTTP endpoint for scrapes.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::http::{Answer, INTERNAL_ERROR, Limits, NOT_FOUND, OK, Server};
use super::{CONTENT_TYPE, text};
use crate::error::{HostError, Result};
use crate::host::Host;

const INDEX: &str = "<!doctype html><title>ramp</title><a href=\"/metrics\">metrics</a>\n";

/// Listens.
pub struct MetricsServer {
    server: Server,
    host: Host,
    last: Option<Last>,
}

/// The last answer. It stands for as long as making it took, so that no number of requests takes more than half of a
/// processor.
struct Last {
    text: String,
    until: Instant,
}

impl MetricsServer {
    /// From now on, connections wait for [`Self::poll`].
    pub fn listen(host: &Host, address: SocketAddr) -> Result<Self> {
        let server = Server::listen(address, Limits::default())
            .map_err(HostError::system(format!("listen on {address}")))?;
        Ok(Self { server, host: host.clone(), last: None })
    }

    /// Address, with the port that the system has chosen if asked to.
    pub fn address(&self) -> Option<SocketAddr> {
        self.server.address()
    }

    /// Goes on with whatever clients want, after waiting for that no longer than `patience`.
    pub fn poll(&mut self, patience: Duration) -> Result {
        let Self { server, host, last } = self;
        server
            .poll(patience, |path| answer(path, || latest(last, || text(host))))
            .map_err(HostError::system("wait for requests"))
    }
}

fn latest(last: &mut Option<Last>, text: impl FnOnce() -> Result<String>) -> Result<String> {
    let began = Instant::now();
    if let Some(last) = last.as_ref().filter(|last| began < last.until) {
        return Ok(last.text.clone());
    }
    let text = text()?;
    let now = Instant::now();
    *last = Some(Last { text: text.clone(), until: now + (now - began) });
    Ok(text)
}

fn answer(path: &str, text: impl FnOnce() -> Result<String>) -> Answer {
    match path {
        "/metrics" => match text() {
            Ok(body) => Answer { status: OK, kind: CONTENT_TYPE, body },
            Err(error) => Answer::plain(INTERNAL_ERROR, format!("{error}\n")),
        },
        "/" => Answer { status: OK, kind: "text/html; charset=utf-8", body: INDEX.to_owned() },
        _ => Answer::plain(NOT_FOUND, "only /metrics is here\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_stands_for_as_long_as_making_it_took() {
        let (mut last, mut made) = (None, 0);
        let mut ask = |last: &mut Option<Last>, takes: Duration| {
            let text = || {
                made += 1;
                let began = Instant::now();
                while began.elapsed() < takes {
                    std::thread::yield_now();
                }
                Ok(made.to_string())
            };
            latest(last, text).expect("it is made")
        };
        assert_eq!(ask(&mut last, Duration::from_millis(1)), "1");
        last = last.map(|last| Last { until: Instant::now() + Duration::from_secs(3600), ..last });
        assert_eq!(ask(&mut last, Duration::ZERO), "1", "no time has passed");
        last = last.map(|last| Last { until: Instant::now(), ..last });
        let before = Instant::now();
        assert_eq!(ask(&mut last, Duration::from_millis(2)), "2");
        assert!(last.expect("it is kept").until >= before + Duration::from_millis(4));
        let mut failed = None;
        let refused = latest(&mut failed, || Err(HostError::refused("no", "")));
        assert!(refused.is_err() && failed.is_none());
    }
}
