//! ramp's own client: one object by HTTP/1.1, over a connection of its own.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rampcc::Time;
use rampcc_emulator::Clock;
use rampcc_trace::next_round_number;

use crate::applications::is_wait;

/// Read at once.
const CHUNK: usize = 64 << 10;
/// Most lines of an answer's head, and bytes.
const FIELDS: usize = 64;
const HEAD_MAX: usize = 16 << 10;
/// How often it looks whether it shall go on.
const LOOK: Duration = Duration::from_millis(100);

/// What arrived, and when.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    /// Bytes of the object so far, whenever they passed a round number.
    pub(super) received: Vec<(Time, u64)>,
    /// When the last byte arrived; `None`: it has not.
    pub(super) completed: Option<Time>,
    pub(super) bytes: u64,
}

/// What is loaded.
pub(super) struct Object<'a> {
    pub(super) server: SocketAddr,
    pub(super) url: &'a str,
    pub(super) size_bytes: u64,
    /// Until the server must have answered.
    pub(super) longest: Duration,
}

/// Loads `object` from a thread in the client's namespace. The error is a sentence about the server.
pub(super) fn load(object: &Object<'_>, clock: Clock, go_on: impl Fn() -> bool) -> Result<Loaded, String> {
    let Object { server, url, size_bytes, longest } = *object;
    let path = url.splitn(4, '/').nth(3).unwrap_or_default();
    let refused = |cause: io::Error| format!("the client cannot connect to {server}: {cause}");
    let mut stream = TcpStream::connect_timeout(&server, longest).map_err(refused)?;
    let request =
        format!("GET /{path} HTTP/1.1\r\nHost: {server}\r\nUser-Agent: ramp\r\nConnection: close\r\n\r\n");
    let broken = |cause: io::Error| format!("the connection broke: {cause}");
    stream
        .set_read_timeout(Some(LOOK))
        .and_then(|()| stream.write_all(request.as_bytes()))
        .map_err(broken)?;
    let mut loaded = Loaded::default();
    let mut buffer = vec![0; CHUNK];
    let (mut head, mut in_body, mut report_from) = (Vec::new(), false, 1);
    while go_on() {
        let read = match stream.read(&mut buffer) {
            Ok(0) if !in_body => return Err("the server closed the connection without an answer".to_owned()),
            Ok(0) => return Err(short(loaded.bytes, size_bytes)),
            Ok(read) => read,
            Err(error) if is_wait(&error) => continue,
            Err(error) => return Err(broken(error)),
        };
        let now = clock.now();
        let mut body = read;
        if !in_body {
            head.extend_from_slice(&buffer[..read]);
            let Some(length) = head_length(&head, size_bytes)? else { continue };
            in_body = true;
            body = head.len() - length;
        }
        loaded.bytes += body as u64;
        if loaded.bytes >= report_from {
            report_from = next_round_number(loaded.bytes);
            loaded.received.push((now, loaded.bytes));
        }
        if loaded.bytes >= size_bytes {
            loaded.completed = Some(now);
            return Ok(loaded);
        }
    }
    Ok(loaded)
}

/// The sentence for an object that is too small.
pub(super) fn short(bytes: u64, size_bytes: u64) -> String {
    format!("the server sent {bytes} bytes of {size_bytes}, and no more")
}

/// Length of the head of an answer with the whole object; `None`: not all of it is here.
fn head_length(answer: &[u8], size_bytes: u64) -> Result<Option<usize>, String> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut response = httparse::Response::new(&mut fields);
    let parsed =
        response.parse(answer).map_err(|cause| format!("the server does not speak HTTP/1.1: {cause}"))?;
    let httparse::Status::Complete(length) = parsed else {
        return if answer.len() > HEAD_MAX {
            Err(format!(
                "the server's answer begins with {HEAD_MAX} bytes that are no whole head of HTTP/1.1"
            ))
        } else {
            Ok(None)
        };
    };
    let code = response.code.unwrap_or_default();
    if code != 200 {
        return Err(format!("the server answers with status {code}"));
    }
    let field = |name: &str| {
        let found = response.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name));
        found.and_then(|field| std::str::from_utf8(field.value).ok()).map(str::trim)
    };
    if let Some(coding) = field("Transfer-Encoding").filter(|coding| !coding.eq_ignore_ascii_case("identity"))
    {
        return Err(format!("the server's answer is `{coding}`, which ramp's own client does not read"));
    }
    match field("Content-Length").and_then(|length| length.parse::<u64>().ok()) {
        Some(bytes) if bytes < size_bytes => Err(short(bytes, size_bytes)),
        _ => Ok(Some(length)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Result<Option<usize>, String> {
        head_length(text.as_bytes(), 1000)
    }

    #[test]
    fn answers_are_whole_objects_or_sentences() {
        let good = "HTTP/1.0 200 OK\r\nContent-length: 1000\r\n\r\n";
        assert_eq!(head(&format!("{good}body")), Ok(Some(good.len())));
        assert_eq!(head(&good[..20]), Ok(None));
        for (answer, said) in [
            ("HTTP/1.1 404 No\r\n\r\n", "status 404"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n", "999 bytes of 1000"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "`chunked`"),
            ("SSH-2.0-OpenSSH_9.2\r\n", "does not speak HTTP/1.1"),
        ] {
            assert!(head(answer).unwrap_err().contains(said), "{answer:?}");
        }
        assert!(head(&format!("HTTP/1.1 200 OK\r\nX: {}", "y".repeat(HEAD_MAX))).is_err());
    }
}
