//! Web sessions: nginx serves, and clients load pages as the scenario draws them, one object after the other, each over
//! a connection of its own.

mod server;

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::sched::{CloneFlags, setns};
use rampcc::Time;
use rampcc_emulator::{End, Host, TcpInfo, run_above_engine};
use rampcc_scenario::{Arrival, Generator};
use rampcc_trace::{FlowEvent, FlowEventKind, FlowTotals, next_round_number};

use crate::applications::{Stage, Transfer, is_wait};
use crate::{Result, TestbedError};
use server::Server;
pub(crate) use server::nginx;

/// Objects that one generator's clients load at a time; each has a thread.
const OBJECTS_MAX: usize = 400;
/// How often a waiting generator looks whether the run is over.
const LOOK: Duration = Duration::from_millis(100);
/// Read at once.
const CHUNK: usize = 64 << 10;
/// A thread that loads needs no more.
const STACK: usize = 256 << 10;
/// Most lines of an answer's head, and bytes.
const FIELDS: usize = 32;
const HEAD_MAX: usize = 8 << 10;

/// The servers of a run.
pub(crate) struct Web<'a> {
    stage: &'a Stage<'a>,
    seed: u64,
    /// By node.
    servers: BTreeMap<usize, Server>,
    next_flow: AtomicU32,
}

/// An object, and how far its transfer came.
pub(crate) struct Object {
    pub(crate) flow: u32,
    under_test: bool,
    size_bytes: u64,
    mss_bytes: u32,
    /// The server's and the client's, once they are connected.
    pub(crate) ends: Option<[SocketAddr; 2]>,
    pub(crate) transfer: Transfer,
    head_bytes: u64,
    /// That arrived, each copy counted.
    data_packets: u64,
}

/// What a generator asks for.
#[derive(Clone, Copy)]
struct Wanted {
    flow: u32,
    pair: (usize, usize),
    size_bytes: u64,
    under_test: bool,
}

impl<'a> Web<'a> {
    /// Starts the servers in a control group, if the scenario has web sessions.
    pub(crate) fn start(stage: &'a Stage<'a>, seed: u64, cgroup: Option<&Path>) -> Result<Self> {
        let (running, scenario) = (stage.running, stage.scenario);
        let mut servers = BTreeMap::new();
        for (number, traffic) in scenario.traffic.iter().enumerate() {
            let name = &stage.controls.names[scenario.flows.len() + number];
            for &(from, to) in &traffic.pairs {
                running.steer(to, name)?;
                if let (None, Some(host)) = (servers.get(&from), stage.host(from)) {
                    let server = Server::start(running, host, cgroup);
                    let server =
                        server.map_err(|cause| TestbedError::Io { action: "starting nginx", cause })?;
                    servers.insert(from, server);
                }
            }
        }
        let next_flow = AtomicU32::new(scenario.flows.len() as u32);
        Ok(Self { stage, seed, servers, next_flow })
    }

    /// The sessions of one `[[traffic]]` from first to last. An error ends the run.
    pub(crate) fn load(&self, traffic: usize) -> Result<Vec<Object>> {
        // A late page is a later page; it must not be the emulator that is late.
        let _ = run_above_engine();
        thread::scope(|scope| {
            // Before those that still load are waited for.
            self.generate(scope, traffic).inspect_err(|_| self.stage.give_up())
        })
    }

    fn generate<'s>(&'s self, scope: &'s thread::Scope<'s, '_>, index: usize) -> Result<Vec<Object>> {
        let traffic = &self.stage.scenario.traffic[index];
        let clock = self.stage.running.clock();
        let mut generator = Generator::new(traffic, index, self.seed);
        let (tell, told) = mpsc::channel::<(Option<u32>, Result<Object>)>();
        let (mut objects, mut loading) = (Vec::new(), 0);
        loop {
            let over = self.stage.over().is_some();
            if over && loading == 0 {
                return Ok(objects);
            }
            while !over && let Some(arrival) = generator.poll_arrival(clock.now()) {
                let Arrival::Flow { pair, size_bytes, under_test, session, .. } = arrival else { continue };
                if loading == OBJECTS_MAX {
                    let problem =
                        format!("more than {OBJECTS_MAX} objects under way: the path is too slow for it");
                    return Err(TestbedError::Web { traffic: traffic.name.clone(), problem });
                }
                let flow = self.next_flow.fetch_add(1, Ordering::Relaxed);
                let wanted = Wanted { flow, pair, size_bytes, under_test };
                let tell = tell.clone();
                // The receiver is gone after an error.
                let work = move || tell.send((session, self.fetch(&wanted))).unwrap_or_default();
                let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
                thread.map_err(|cause| TestbedError::Io { action: "starting a thread", cause })?;
                loading += 1;
            }
            let left = Duration::from_nanos((generator.poll_timeout() - clock.now()).ns());
            let wait = if over { LOOK } else { left.min(LOOK) };
            let Ok((session, object)) = told.recv_timeout(wait) else { continue };
            loading -= 1;
            let object = object?;
            if let (Some(session), Some(at)) = (session, object.transfer.completed) {
                generator.on_completed(at, session);
            }
            objects.push(object);
        }
    }

    fn fetch(&self, wanted: &Wanted) -> Result<Object> {
        let _ = run_above_engine();
        let (from, to) = wanted.pair;
        let stage = self.stage;
        let io = |action| move |cause| TestbedError::Io { action, cause };
        let end = stage.host(to).map_or(End::Receiver, |host| host.end);
        setns(stage.running.namespace(end), CloneFlags::CLONE_NEWNET)
            .map_err(|error| io("entering a network namespace")(error.into()))?;
        let server =
            self.servers.get(&from).ok_or_else(|| io("finding a server")(io::ErrorKind::NotFound.into()))?;
        let request = server.request(wanted.size_bytes).map_err(io("extending a file"))?;
        let mut object = Object::new(wanted, stage.running.clock().now());
        let dialled = stage.running.dial(to, server.address(), || stage.over().is_none())?;
        let Some(stream) = dialled else { return Ok(object) };
        object.event(stage.running.clock().now(), FlowEventKind::Established);
        object.ends = stream.local_addr().ok().map(|client| [server.address(), client]);
        let loaded = self.read(&stream, &request, &mut object);
        if let Ok(info) = TcpInfo::of(&stream) {
            object.data_packets = u64::from(info.data_segs_in);
            object.mss_bytes = info.rcv_mss;
        }
        // At the end of the run nothing more is read.
        if stage.over().is_none() {
            loaded.map_err(io("loading from nginx"))?;
        }
        Ok(object)
    }

    fn read(&self, mut stream: &TcpStream, request: &str, object: &mut Object) -> io::Result<()> {
        stream.write_all(request.as_bytes())?;
        let mut buffer = vec![0; CHUNK];
        let mut head = Vec::new();
        let mut report_from = 1;
        while object.transfer.completed.is_none() {
            if self.stage.over().is_some() {
                return Ok(());
            }
            let read = match stream.read(&mut buffer) {
                Ok(0) => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "nginx stopped early")),
                Ok(read) => read,
                Err(error) if is_wait(&error) => continue,
                Err(error) => return Err(error),
            };
            let now = self.stage.running.clock().now();
            let mut body = read as u64;
            if object.head_bytes == 0 {
                head.extend_from_slice(&buffer[..read]);
                let Some(length) = head_length(&head, object.size_bytes)? else { continue };
                object.head_bytes = length as u64;
                body = (head.len() - length) as u64;
            }
            object.transfer.received_bytes += body;
            let bytes = object.transfer.received_bytes;
            if bytes >= report_from {
                report_from = next_round_number(bytes);
                object.event(now, FlowEventKind::Received { bytes });
            }
            if bytes >= object.size_bytes {
                object.event(now, FlowEventKind::Completed { bytes });
                object.transfer.completed = Some(now);
            }
        }
        Ok(())
    }
}

/// Length of the head of an answer with so many bytes of an object; `None`: not all of it is here.
fn head_length(answer: &[u8], size_bytes: u64) -> io::Result<Option<usize>> {
    let wrong = |said: String| io::Error::new(io::ErrorKind::InvalidData, said);
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut response = httparse::Response::new(&mut fields);
    let parsed = response.parse(answer).map_err(|error| wrong(format!("nginx's answer: {error}")))?;
    let httparse::Status::Complete(length) = parsed else {
        return if answer.len() > HEAD_MAX {
            Err(wrong("nginx's answer has no end of its head".into()))
        } else {
            Ok(None)
        };
    };
    let code = response.code.unwrap_or_default();
    let content = response.headers.iter().find(|field| field.name.eq_ignore_ascii_case("Content-Length"));
    let content = content.and_then(|field| std::str::from_utf8(field.value).ok()?.trim().parse().ok());
    if code != 206 || content != Some(size_bytes) {
        return Err(wrong(format!(
            "nginx answered {code} with {content:?} bytes; {size_bytes} were asked for"
        )));
    }
    Ok(Some(length))
}

impl Object {
    fn new(wanted: &Wanted, now: Time) -> Self {
        let Wanted { flow, size_bytes, under_test, .. } = *wanted;
        let mut object = Self {
            flow,
            under_test,
            size_bytes,
            mss_bytes: 0,
            ends: None,
            transfer: Transfer { opened: Some(now), ..Transfer::default() },
            head_bytes: 0,
            data_packets: 0,
        };
        object.event(now, FlowEventKind::Opened { size_bytes, under_test });
        object
    }

    fn event(&mut self, now: Time, kind: FlowEventKind) {
        self.transfer.events.push(FlowEvent { now, flow: self.flow, kind });
    }

    /// Whether the server has sent something.
    #[cfg(feature = "bpf")]
    pub(crate) fn began(&self) -> bool {
        self.transfer.received_bytes > 0
    }

    /// What the client and the links know; the server's socket is nginx's.
    pub(crate) fn totals(&self, dropped_packets: u64) -> FlowTotals {
        let mss = u64::from(self.mss_bytes.max(1));
        let needed = (self.head_bytes + self.transfer.received_bytes).div_ceil(mss);
        let data_packets = self.data_packets + dropped_packets;
        FlowTotals {
            opened: self.transfer.opened.unwrap_or(Time::NEVER),
            completed: self.transfer.completed.unwrap_or(Time::NEVER),
            size_bytes: self.size_bytes,
            received_bytes: self.transfer.received_bytes,
            retransmitted_bytes: data_packets.saturating_sub(needed) * mss,
            data_packets,
            dropped_packets,
            under_test: self.under_test,
        }
    }
}

/// Which object a packet belonged to. A client's port may be used again.
#[derive(Default)]
pub(crate) struct Whose {
    opened: BTreeMap<([SocketAddr; 2], Time), u32>,
}

impl Whose {
    pub(crate) fn new(objects: &[Object]) -> Self {
        let known = |object: &Object| Some(((object.ends?, object.transfer.opened?), object.flow));
        Self { opened: objects.iter().filter_map(known).collect() }
    }

    /// The one that was under way between these ends, in either direction.
    pub(crate) fn flow(&self, from: SocketAddr, to: SocketAddr, now: Time) -> Option<u32> {
        [[from, to], [to, from]].into_iter().find_map(|ends| {
            let before = self.opened.range((ends, Time::ZERO)..=(ends, now)).next_back();
            before.map(|(_, flow)| *flow)
        })
    }
}

impl Stage<'_> {
    fn host(&self, node: usize) -> Option<&Host> {
        self.running.hosts().iter().find(|host| host.node == node)
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    fn answer(code: u16, length: u64) -> String {
        format!("HTTP/1.1 {code} Said\r\nServer: nginx\r\nContent-Length: {length}\r\n\r\nbody")
    }

    #[test]
    fn the_head_of_an_answer_ends_where_the_object_begins() {
        let text = answer(206, 9);
        assert_eq!(head_length(text.as_bytes(), 9).unwrap(), Some(text.len() - 4));
        assert_eq!(head_length(&text.as_bytes()[..30], 9).unwrap(), None);
        assert!(head_length(answer(404, 9).as_bytes(), 9).unwrap_err().to_string().contains("answered 404"));
        assert!(head_length(text.as_bytes(), 8).is_err());
        assert!(head_length(b"\0\x01 not http\r\n\r\n", 9).is_err());
        assert!(head_length(format!("HTTP/1.1 206 A\r\nX: {}", "y".repeat(HEAD_MAX)).as_bytes(), 9).is_err());
    }

    #[test]
    fn a_port_that_is_used_again_belongs_to_the_later_object() {
        let at = |host, port| SocketAddr::new([10, 77, 0, host].into(), port);
        let object = |flow, ms| {
            let wanted = Wanted { flow, pair: (0, 1), size_bytes: 1, under_test: true };
            let mut object = Object::new(&wanted, Time::from_ms(ms));
            object.ends = Some([at(1, 8080), at(2, 4000)]);
            object
        };
        let whose = Whose::new(&[object(7, 10), object(9, 500)]);
        let flow = |ms| whose.flow(at(1, 8080), at(2, 4000), Time::from_ms(ms));
        assert_eq!([flow(9), flow(10), flow(499), flow(500)], [None, Some(7), Some(7), Some(9)]);
        assert_eq!(whose.flow(at(2, 4000), at(1, 8080), Time::from_ms(20)), Some(7), "its ACKs too");
        assert_eq!(whose.flow(at(1, 8080), at(2, 4001), Time::from_ms(20)), None);
    }

    #[test]
    fn what_was_sent_again_is_what_came_or_was_dropped_beyond_the_need() {
        let wanted = Wanted { flow: 0, pair: (0, 1), size_bytes: 10_000, under_test: false };
        let mut object = Object::new(&wanted, Time::ZERO);
        (object.mss_bytes, object.head_bytes, object.data_packets) = (1000, 250, 12);
        object.transfer.received_bytes = 10_000;
        let totals = object.totals(3);
        assert_eq!((totals.data_packets, totals.dropped_packets, totals.retransmitted_bytes), (15, 3, 4000));
        assert_eq!(object.totals(0).retransmitted_bytes, 1000);
    }
}
