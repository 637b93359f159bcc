//! What can be seen of connections in start-up.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use rampcc::ExitReason;
use rampcc::algorithm;
use rampcc_host::live::{Exit, Flow, Live, Snapshot};
use rampcc_host::metrics::{MetricsServer, text};
use rampcc_host::{Host, Scope};
use rampcc_linux::Options;

use crate::support::judged::{judged, require};
use crate::support::left_out::{complete, repeated};
use crate::support::{BpfFileSystem, Cgroup, Line, Load, Open, ready, snapshots};

/// 4 Mbit/s, RTT 80 ms, BDP 28 packets, and room for a good deal more.
const PATH: &str = "rate = '4 Mbit/s'\nrtt = '80 ms'\nbuffer = '60 packets'";
const LOAD: Load = Load { open: Open::Clients, connections: 3, lanes: 3, bytes: 400_000, control: None };

fn watched(host: &Host, line: &Line, load: Load) -> Vec<Snapshot> {
    let mut live = Live::new(host, false);
    live.refresh().unwrap_or_else(|error| panic!("{error}"));
    snapshots(live, line, load)
}

#[test]
fn connections_are_seen_from_start_up_to_their_exit() {
    if ready().is_some() {
        judged(|| repeated(seen_from_start_up_to_exit));
    }
}

fn seen_from_start_up_to_exit() -> Result<(), String> {
    let (cgroup, pins) = (Cgroup::enter(), BpfFileSystem::new());
    let host = pins.host();
    let line = Line::new(PATH);
    let slow_start = algorithm("slow_start").expect("a row");
    let scope = Scope::Cgroup(cgroup.path().to_path_buf());
    host.attach(&scope, slow_start, &Options::new(slow_start)).unwrap_or_else(|error| panic!("{error}"));
    let seen = watched(&host, &line, LOAD);
    let name = scope.to_string();
    assert!(seen.iter().all(|s| s.attached == [("slow_start".to_owned(), name.clone())] && s.missed == 0));

    let flows: Vec<&Flow> =
        seen.iter().flat_map(|snapshot| &snapshot.flows).filter(|flow| flow.sent_bytes > 10_000).collect();
    require(flows.len() >= 3, || format!("{} looks, {flows:?}", seen.len()))?;
    for flow in &flows {
        assert!(
            (flow.phase, flow.algorithm.as_str(), flow.scope.as_str()) == ("startup", "slow_start", &name)
        );
        // Three connections fill pipe and buffer, 88 packets, and overshoot by no more than as much again.
        require((10..250).contains(&flow.cwnd_packets), || format!("{flow:?}"))?;
        require(flow.in_flight_packets <= flow.cwnd_packets, || format!("{flow:?}"))?;
        assert_eq!(flow.local.port(), 5001, "{flow:?}");
        require(flow.ssthresh_packets.is_none(), || format!("{flow:?}"))?;
        assert!(flow.min_rtt_s.is_none_or(|rtt| rtt >= 0.078), "{flow:?}");
        require(flow.min_rtt_s.is_none_or(|rtt| rtt < 10.0), || format!("{flow:?}"))?;
        assert!(flow.age_s.is_some_and(|age| age > 0.0 && age < 60.0), "{flow:?}");
    }
    let measured: Vec<_> = flows.iter().filter_map(|flow| flow.delivery_bytes_per_s).collect();
    // 4 Mbit/s are 500 kB/s; ACKs that come together may show twice that.
    require(measured.iter().any(|rate| (10_000..1_000_000).contains(rate)), || format!("{measured:?}"))?;

    let exits: Vec<&Exit> = seen.iter().flat_map(|snapshot| &snapshot.exits).collect();
    // A timeout begins start-up again, so there may be more.
    let left: BTreeSet<_> = exits.iter().map(|exit| exit.number).collect();
    complete(left.len() >= 3, &exits);
    assert_eq!(left.len(), 3, "{exits:?}");
    for exit in &exits {
        assert!(matches!(exit.reason, ExitReason::Loss | ExitReason::Timeout), "{exit:?}");
        assert_eq!(exit.local.port(), 5001, "{exit:?}");
        require(exit.lost_packets > 0, || format!("{exit:?}"))?;
        assert!(exit.startup_s > 0.15 && exit.rtt_s > 0.078, "{exit:?}");
        let before = flows.iter().any(|flow| (flow.number, flow.remote) == (exit.number, exit.remote));
        require(before, || format!("it left without having been seen: {exit:?}"))?;
    }

    // What happened can be looked at later, as often as one likes; the last connection may still be closing.
    let later = || {
        let mut live = Live::new(&host, true);
        live.refresh().unwrap_or_else(|error| panic!("{error}"));
        live.look().unwrap_or_else(|error| panic!("{error}"))
    };
    let mut looks = 0;
    while later().open > 0 && looks < 500 {
        thread::sleep(Duration::from_millis(20));
        looks += 1;
    }
    let last = later();
    complete(last.open == 0, last.open);
    assert_eq!((last.exits.len(), last.flows.len()), (exits.len(), 0));
    exported(&host, exits.len());
    host.detach(Some(&scope)).unwrap_or_else(|error| panic!("{error}"));
    let mut live = Live::new(&host, true);
    live.refresh().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(live.look().unwrap_or_else(|error| panic!("{error}")), Snapshot::default());
    Ok(())
}

/// Over HTTP, as Prometheus does.
fn exported(host: &Host, exits: usize) {
    let mut server =
        MetricsServer::listen(host, ([127, 0, 0, 1], 0).into()).unwrap_or_else(|error| panic!("{error}"));
    let address = server.address().expect("it listens on IP");
    let answered = thread::scope(|scope| {
        let client = scope.spawn(|| get(address, "/metrics"));
        while !client.is_finished() {
            server.poll(Duration::from_millis(20)).unwrap_or_else(|error| panic!("{error}"));
        }
        client.join().expect("the client")
    });
    let (head, body) = answered.split_once("\r\n\r\n").expect("an HTTP answer");
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("text/plain; version=0.0.4"), "{head}");
    let scrape =
        prometheus_parse::Scrape::parse(body.lines().map(|line| Ok(line.to_owned()))).expect("its format");
    let sum = |name: &str| -> f64 {
        let samples = scrape.samples.iter().filter(|sample| sample.metric == name);
        samples
            .map(|sample| if let prometheus_parse::Value::Counter(n) = sample.value { n } else { 0.0 })
            .sum()
    };
    let opened = sum("ramp_connections_opened_total");
    // Both ends of three connections, of the last one, which says that it is over, and maybe already of this one.
    complete(opened >= 8.0, body);
    assert!(opened <= 10.0, "{body}");
    assert!((8.0..=10.0).contains(&sum("ramp_cgroup_assigned_total")), "{body}");
    assert!((sum("ramp_startup_exits_total") - exits as f64).abs() < 0.1, "{body}");
    assert!(text(host).is_ok_and(|text| text.contains("ramp_startup_duration_seconds_count")));
}

fn get(address: std::net::SocketAddr, path: &str) -> String {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(address).expect("it listens");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}
