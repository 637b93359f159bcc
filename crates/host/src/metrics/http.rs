//! As much of HTTP as a scrape needs, for any client that may connect.
//!
//! One request without a body on each connection, then it is closed. Everything is bounded: the head in length, reading and
//! writing in time, connections in number; where one too many comes, one goes that has not asked, or else one that has its
//! answer, and only then one that is being answered. One thread serves all, so no client can make it wait for a single one.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant, SystemTime};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// What a client may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) connections: usize,
    /// From the first byte to the empty line.
    pub(super) head_bytes: usize,
    /// For the whole of the head, and likewise for the whole of the answer.
    pub(super) patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 16, head_bytes: 8 << 10, patience: Duration::from_secs(5) }
    }
}

const FIELDS: usize = 64;
/// What is thrown away of what comes after the head, so that closing does not take the answer back.
const REST_BYTES: usize = 64 << 10;
const PLAIN: &str = "text/plain; charset=utf-8";

/// What a path stands for.
pub(super) struct Answer {
    pub(super) status: Status,
    pub(super) kind: &'static str,
    pub(super) body: String,
}

/// A code and what it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Status(u16, &'static str);

pub(super) const OK: Status = Status(200, "OK");
const BAD_REQUEST: Status = Status(400, "Bad Request");
pub(super) const NOT_FOUND: Status = Status(404, "Not Found");
const METHOD_NOT_ALLOWED: Status = Status(405, "Method Not Allowed");
const REQUEST_TIMEOUT: Status = Status(408, "Request Timeout");
const CONTENT_TOO_LARGE: Status = Status(413, "Content Too Large");
const HEAD_TOO_LARGE: Status = Status(431, "Request Header Fields Too Large");
pub(super) const INTERNAL_ERROR: Status = Status(500, "Internal Server Error");

impl Answer {
    pub(super) fn plain(status: Status, body: impl Into<String>) -> Self {
        Self { status, kind: PLAIN, body: body.into() }
    }
}

/// Listens, and holds those that are connected.
pub(super) struct Server {
    listener: TcpListener,
    limits: Limits,
    /// The oldest first.
    clients: Vec<Client>,
}

struct Client {
    stream: TcpStream,
    deadline: Instant,
    doing: Doing,
}

enum Doing {
    /// The head, as far as it has come.
    Reading(Vec<u8>),
    /// The answer, and how much of it has gone.
    Writing(Vec<u8>, usize),
    /// Throwing away what still comes: how much has.
    Closing(usize),
    Over,
}

impl Server {
    pub(super) fn listen(address: SocketAddr, limits: Limits) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, limits, clients: Vec::new() })
    }

    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }

    /// Goes on with whatever can go on, after waiting for that no longer than `patience`.
    ///
    /// What becomes of a client is its own trouble; an error is the listener's.
    pub(super) fn poll(
        &mut self,
        patience: Duration,
        mut answer: impl FnMut(&str) -> Answer,
    ) -> io::Result<()> {
        let now = Instant::now();
        let due = self.clients.iter().map(|client| client.deadline.saturating_duration_since(now)).min();
        let wait = due.map_or(patience, |due| due.min(patience));
        // Up to a whole millisecond, so that what waits for a deadline does not come back just before it.
        let wait = PollTimeout::try_from(wait + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX);
        let mut polled = vec![PollFd::new(self.listener.as_fd(), PollFlags::POLLIN)];
        polled.extend(self.clients.iter().map(|client| PollFd::new(client.stream.as_fd(), client.awaited())));
        match poll(&mut polled, wait) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready: Vec<bool> = polled.iter().map(|fd| fd.any().unwrap_or(true)).collect();
        let now = Instant::now();
        for (client, _) in self.clients.iter_mut().zip(&ready[1..]).filter(|(_, ready)| **ready) {
            client.go_on(self.limits, &mut answer);
        }
        for client in &mut self.clients {
            if client.deadline <= now {
                client.expire();
            }
        }
        self.clients.retain(|client| !matches!(client.doing, Doing::Over));
        if ready[0] {
            self.accept(&mut answer)?;
        }
        Ok(())
    }

    fn accept(&mut self, answer: &mut impl FnMut(&str) -> Answer) -> io::Result<()> {
        // No more at once than may be there, so that those who connect and go away again do not keep this thread.
        for _ in 0..self.limits.connections {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) => match Errno::from_raw(error.raw_os_error().unwrap_or(0)) {
                    Errno::EAGAIN => return Ok(()),
                    Errno::EMFILE | Errno::ENFILE | Errno::ENOBUFS | Errno::ENOMEM
                        if !self.clients.is_empty() =>
                    {
                        self.make_room();
                        continue;
                    }
                    // The client has gone, or its network has.
                    Errno::EMFILE | Errno::ENFILE | Errno::EBADF | Errno::EINVAL => return Err(error),
                    _ => continue,
                },
            };
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            // Answering others takes no time of this one's.
            let deadline = Instant::now() + self.limits.patience;
            let mut client = Client { stream, deadline, doing: Doing::Reading(Vec::new()) };
            // A scrape has mostly asked already, and then gives way last.
            client.go_on(self.limits, answer);
            if matches!(client.doing, Doing::Over) {
                continue;
            }
            if self.clients.len() >= self.limits.connections {
                self.make_room();
            }
            self.clients.push(client);
        }
        Ok(())
    }

    /// Ends the oldest of those that are worth the least.
    fn make_room(&mut self) {
        let worth = |client: &Client| match &client.doing {
            Doing::Over => 0,
            Doing::Reading(head) if head.is_empty() => 1,
            Doing::Reading(_) | Doing::Closing(_) => 2,
            Doing::Writing(..) => 3,
        };
        if let Some((oldest, _)) = self.clients.iter().enumerate().min_by_key(|(_, client)| worth(client)) {
            self.clients.remove(oldest);
        }
    }
}

impl Client {
    fn awaited(&self) -> PollFlags {
        match self.doing {
            Doing::Writing(..) => PollFlags::POLLOUT,
            _ => PollFlags::POLLIN,
        }
    }

    fn go_on(&mut self, limits: Limits, answer: &mut impl FnMut(&str) -> Answer) {
        if let Doing::Reading(head) = &mut self.doing {
            let mut block = [0; 2048];
            match self.stream.read(&mut block) {
                Ok(0) => self.doing = Doing::Over,
                Ok(count) => {
                    head.extend_from_slice(&block[..count]);
                    if let Some(answered) = respond(head, limits, answer) {
                        self.answer(limits, answered);
                    }
                }
                Err(error) => self.failed(&error),
            }
        }
        if let Doing::Writing(text, gone) = &mut self.doing {
            match self.stream.write(&text[*gone..]) {
                Ok(count) => {
                    *gone += count;
                    if *gone == text.len() {
                        let _ = self.stream.shutdown(Shutdown::Write);
                        self.doing = Doing::Closing(0);
                    }
                }
                Err(error) => self.failed(&error),
            }
        } else if let Doing::Closing(thrown) = &mut self.doing {
            let mut block = [0; 8192];
            match self.stream.read(&mut block) {
                Ok(count) if count > 0 && *thrown + count <= REST_BYTES => *thrown += count,
                Ok(_) => self.doing = Doing::Over,
                Err(error) => self.failed(&error),
            }
        }
    }

    fn answer(&mut self, limits: Limits, text: Vec<u8>) {
        self.doing = Doing::Writing(text, 0);
        self.deadline = Instant::now() + limits.patience;
    }

    fn failed(&mut self, error: &io::Error) {
        if !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) {
            self.doing = Doing::Over;
        }
    }

    /// Its time is over. A client that had begun a request gets an answer, if that takes no waiting.
    fn expire(&mut self) {
        if let Doing::Reading(head) = &self.doing
            && !head.is_empty()
        {
            let text = written(&Answer::plain(REQUEST_TIMEOUT, "the request takes too long\n"), true);
            let _ = self.stream.write(&text);
        }
        self.doing = Doing::Over;
    }
}

/// The answer to a head, once that is whole or beyond hope.
pub(super) fn respond(
    head: &[u8],
    limits: Limits,
    answer: &mut impl FnMut(&str) -> Answer,
) -> Option<Vec<u8>> {
    let too_large = || written(&Answer::plain(HEAD_TOO_LARGE, "the head of the request is too long\n"), true);
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    // What follows the head within the limit is not part of it.
    let parsed = request.parse(&head[..head.len().min(limits.head_bytes)]);
    Some(match parsed {
        Ok(httparse::Status::Partial) if head.len() < limits.head_bytes => return None,
        Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => too_large(),
        Err(error) => written(&Answer::plain(BAD_REQUEST, format!("{error}\n")), true),
        Ok(httparse::Status::Complete(_)) => {
            let method = request.method.unwrap_or_default();
            let target = request.path.unwrap_or_default();
            let with_body = method != "HEAD";
            let answer = match method {
                _ if has_body(request.headers) => {
                    Answer::plain(CONTENT_TOO_LARGE, "a request has no body here\n")
                }
                "GET" | "HEAD" => answer(target.split('?').next().unwrap_or(target)),
                _ => Answer::plain(METHOD_NOT_ALLOWED, "only GET\n"),
            };
            written(&answer, with_body)
        }
    })
}

fn has_body(fields: &[httparse::Header<'_>]) -> bool {
    fields.iter().any(|field| {
        field.name.eq_ignore_ascii_case("Transfer-Encoding")
            || (field.name.eq_ignore_ascii_case("Content-Length") && field.value.trim_ascii() != b"0")
    })
}

/// As it goes over the line.
fn written(answer: &Answer, with_body: bool) -> Vec<u8> {
    let date = httpdate::fmt_http_date(SystemTime::now());
    let (Status(code, reason), kind, length) = (answer.status, answer.kind, answer.body.len());
    let allow = if answer.status == METHOD_NOT_ALLOWED { "Allow: GET, HEAD\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {code} {reason}\r\nDate: {date}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{allow}\
         Connection: close\r\n\r\n"
    );
    let body = if with_body { answer.body.as_str() } else { "" };
    [head.as_bytes(), body.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    const LIMITS: Limits = Limits { connections: 4, head_bytes: 1024, patience: Duration::from_millis(300) };
    /// Longer than what a socket holds that is not read.
    const LONG: usize = 32 << 20;
    const SCRAPE: &str = "GET /metrics?x=1 HTTP/1.1\r\nHost: x\r\n\r\n";

    fn answer(path: &str) -> Answer {
        match path {
            "/metrics" => Answer { status: OK, kind: "text/plain", body: "counted 1\n".into() },
            "/long" => Answer::plain(OK, "x".repeat(LONG)),
            _ => Answer::plain(NOT_FOUND, "no\n"),
        }
    }

    /// What clients do, next to a server; and how many it held at most.
    fn beside<T: Send>(limits: Limits, clients: impl FnOnce(SocketAddr) -> T + Send) -> (T, usize) {
        let mut server = Server::listen(([127, 0, 0, 1], 0).into(), limits).expect("it listens");
        let (address, most) = (server.address().expect("of IP"), AtomicUsize::new(0));
        let done = thread::scope(|scope| {
            let clients = scope.spawn(|| clients(address));
            while !clients.is_finished() {
                server.poll(Duration::from_millis(20), answer).expect("it can wait");
                most.fetch_max(server.clients.len(), Ordering::Relaxed);
            }
            clients.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        (done, most.into_inner())
    }

    fn connect(address: SocketAddr, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).expect("it listens");
        // One that is closed already is none of the test's troubles: the answer says why.
        let _ = stream.write_all(text.as_bytes());
        stream
    }

    /// All that comes until the server closes.
    fn rest(mut stream: TcpStream) -> String {
        let mut text = Vec::new();
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("SO_RCVTIMEO");
        let _ = stream.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    fn ask(address: SocketAddr, text: &str) -> String {
        rest(connect(address, text))
    }

    #[test]
    fn requests_are_answered_and_the_connection_closed() {
        beside(LIMITS, |address| {
            let said = ask(address, SCRAPE);
            assert!(
                said.starts_with("HTTP/1.1 200 OK\r\nDate: ") && said.contains("Connection: close\r\n"),
                "{said}"
            );
            assert!(
                said.contains("Content-Length: 10\r\n") && said.ends_with("\r\n\r\ncounted 1\n"),
                "{said}"
            );
            // Two at once: one answer.
            assert_eq!(ask(address, &SCRAPE.repeat(2)).matches("HTTP/1.1").count(), 1);
            let head = ask(address, "HEAD /metrics HTTP/1.0\r\n\r\n");
            assert!(head.contains("Content-Length: 10\r\n") && head.ends_with("\r\n\r\n"), "{head}");
            assert!(ask(address, "GET /../etc/passwd HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
            let post = ask(address, "DELETE /metrics HTTP/1.1\r\n\r\n");
            assert!(post.starts_with("HTTP/1.1 405 ") && post.contains("Allow: GET, HEAD\r\n"), "{post}");
            // A head that comes in pieces.
            let mut stream = connect(address, &SCRAPE[..9]);
            stream.write_all(&SCRAPE.as_bytes()[9..]).expect("it waits");
            assert!(rest(stream).ends_with("counted 1\n"));
        });
    }

    #[test]
    fn what_is_no_short_request_without_a_body_is_refused() {
        beside(LIMITS, |address| {
            for field in [
                "Content-Length: 99999999999",
                "Content-Length: 18446744073709551615",
                "Content-Length: 5000",
                "content-length: 5\r\nExpect: 100-continue",
                "Content-Length: -1",
                "Content-Length: 0\r\nContent-Length: 7",
                "Transfer-Encoding: chunked",
            ] {
                let said = ask(address, &format!("GET /metrics HTTP/1.1\r\nHost: x\r\n{field}\r\n\r\n"));
                assert!(said.starts_with("HTTP/1.1 413 "), "{field}: {said}");
            }
            let body =
                format!("POST /metrics HTTP/1.1\r\nContent-Length: 20000\r\n\r\n{}", "x".repeat(20_000));
            assert!(ask(address, &body).starts_with("HTTP/1.1 413 "));
            assert!(ask(address, "GET /metrics HTTP/1.1\r\nContent-Length: 0\r\n\r\n").contains("counted 1"));
            let line = format!("GET /metrics HTTP/1.1\r\nA: {}\r\n\r\n", "x".repeat(2000));
            let many = format!("GET /metrics HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(FIELDS + 1));
            for long in [line, many, "x".repeat(2000)] {
                let said = ask(address, &long);
                assert!(said.starts_with("HTTP/1.1 431 "), "{} bytes: {said}", long.len());
            }
            for garbage in
                ["\0\0\r\n\r\n", "GET /metrics HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\na b: c\r\n\r\n"]
            {
                let said = ask(address, garbage);
                assert!(said.starts_with("HTTP/1.1 400 "), "{garbage:?}: {said}");
            }
            assert!(ask(address, SCRAPE).ends_with("counted 1\n"));
        });
    }

    #[test]
    fn nobody_who_takes_his_time_keeps_others_waiting() {
        let ((), most) = beside(LIMITS, |address| {
            let deaf = connect(address, "GET /long HTTP/1.1\r\n\r\n");
            assert!(deaf.peek(&mut [0; 1]).is_ok_and(|begun| begun == 1));
            let idle = connect(address, "");
            let slow = connect(address, &SCRAPE[..20]);
            assert!(ask(address, SCRAPE).ends_with("counted 1\n"));
            assert_eq!(rest(idle), "");
            assert!(rest(slow).starts_with("HTTP/1.1 408 "));
            // It came before them: once their time is over, so is its.
            assert!(rest(deaf).len() < LONG);
        });
        assert_eq!(most, 4);
    }

    #[test]
    fn of_too_many_the_oldest_goes() {
        let patient = Limits { patience: Duration::from_secs(60), ..LIMITS };
        let (answered, most) = beside(patient, |address| {
            let held: Vec<_> = (0..100).map(|_| connect(address, &SCRAPE[..20])).collect();
            let answered = ask(address, SCRAPE);
            assert_eq!(held.into_iter().take(90).map(rest).collect::<String>(), "");
            answered
        });
        assert!(answered.ends_with("counted 1\n"), "{answered}");
        assert_eq!(most, 4);
    }

    #[test]
    fn who_is_being_answered_gives_way_to_nobody_who_has_not_asked() {
        let patient = Limits { patience: Duration::from_secs(60), ..LIMITS };
        let (length, most) = beside(patient, |address| {
            let slow = connect(address, "GET /long HTTP/1.1\r\n\r\n");
            // Its answer has begun.
            let mut first = [0; 1];
            slow.peek(&mut first).expect("it comes");
            let _held: Vec<_> = (0..100).map(|n| connect(address, &SCRAPE[..n % 20])).collect();
            assert!(ask(address, SCRAPE).ends_with("counted 1\n"));
            rest(slow).len()
        });
        assert!(length > LONG, "{length}");
        assert_eq!(most, 4);
    }

    #[test]
    fn nobodys_time_passes_while_another_is_answered() {
        let mut server = Server::listen(([127, 0, 0, 1], 0).into(), LIMITS).expect("it listens");
        let address = server.address().expect("of IP");
        let asking = connect(address, SCRAPE);
        let mut waiting = None;
        while waiting.is_none() {
            server
                .poll(Duration::from_millis(20), |path| {
                    // He comes while the answer is made, which takes longer than anybody has.
                    waiting = Some(connect(address, ""));
                    let began = Instant::now();
                    while began.elapsed() < LIMITS.patience {
                        thread::yield_now();
                    }
                    answer(path)
                })
                .expect("it can wait");
        }
        while server.clients.len() < 2 {
            server.poll(Duration::from_millis(20), answer).expect("it can wait");
        }
        let now = Instant::now();
        assert!(server.clients.iter().all(|client| client.deadline > now), "both have time left");
        drop(asking);
    }
}
