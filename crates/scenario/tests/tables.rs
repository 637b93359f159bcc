//! Tables of a scenario file, and what they become.

use rampcc::{Rate, Time};
use rampcc_path::{AckFilter, Capacity, Demand, Jitter, Limit, LossConfig, Propagation, QueueConfig};
use rampcc_scenario::{Scenario, Sessions, SizeDistribution, Source, TrafficKind};
use rampcc_tcp::{AckPolicy, Avoidance, Pacing, ReceiveWindow, Recovery};

const PATH: &str = "[path]\nrate = \"10 Mbit/s\"\nrtt = \"50 ms\"\n";

fn parse(text: &str) -> Scenario {
    Scenario::parse("x", text, None).unwrap_or_else(|e| panic!("{}\n{text}", e.explain()))
}

#[test]
fn a_path_is_two_links_with_half_the_round_trip_each() {
    let scenario = parse(PATH);
    assert_eq!(scenario.topology.nodes, ["sender", "receiver"]);
    let [forward, back] = &scenario.topology.links[..] else { panic!("two links") };
    assert_eq!((forward.from, forward.to, back.from, back.to), (0, 1, 1, 0));
    for link in [forward, back] {
        assert_eq!(link.config.capacity, Capacity::Constant(Rate::from_bits_per_s(10_000_000)));
        assert_eq!(link.config.delay.propagation, Propagation::Constant(Time::from_ms(25)));
    }
    assert_eq!(forward.config.queue, QueueConfig::DropTail { limit: Limit::Bytes(62_500) });
    assert_eq!(back.config.queue, QueueConfig::DropTail { limit: Limit::Unlimited });
    assert_eq!(scenario.flows[0].source, Source::Bulk);
    assert!(scenario.flows[0].under_test && !scenario.stop.when_complete);
    assert_eq!(scenario.stop.after, Time::from_secs(60));
}

#[test]
fn the_way_back_may_differ() {
    let text = format!(
        "{PATH}[path.reverse]\nrate = \"384 kbit/s\"\ndelay = \"40 ms\"\nbuffer = \"10 packets\"\n\
         ack-filter = {{ kind = \"thin\", keep = 2 }}\n\
         jitter = [\"1 ms\", {{ kind = \"grant\", period = \"6 ms\", jitter = \"2 ms\" }}]\n"
    );
    let scenario = parse(&text);
    let back = &scenario.topology.links[1].config;
    assert_eq!(back.capacity, Capacity::Constant(Rate::from_bits_per_s(384_000)));
    assert_eq!(back.delay.propagation, Propagation::Constant(Time::from_ms(40)));
    assert_eq!(scenario.topology.links[0].config.delay.propagation, Propagation::Constant(Time::from_ms(10)));
    assert_eq!(back.queue, QueueConfig::DropTail { limit: Limit::Packets(10) });
    assert_eq!(back.ack_filter, Some(AckFilter::Thin { keep: 2, hold: Time::from_ms(10) }));
    let uniform = Jitter::Uniform { max: Time::from_ms(1), step: Time::ZERO };
    let grant = Jitter::Grant { period: Time::from_ms(6), jitter: Time::from_ms(2), demand: None };
    assert_eq!(back.delay.jitter, Some(Jitter::Sum(vec![uniform, grant])));
}

#[test]
fn grants_on_demand() {
    let grant = |fields: &str| {
        let text =
            format!("{PATH}[path.reverse]\njitter = {{ kind = \"grant\", period = \"40 ms\"{fields} }}\n");
        parse(&text).topology.links[1].config.delay.jitter.clone()
    };
    let with = |demand| Some(Jitter::Grant { period: Time::from_ms(40), jitter: Time::ZERO, demand });
    let demand = |assured_bytes, ms| Some(Demand { assured_bytes, delay: Time::from_ms(ms), free: 1 });
    assert_eq!(grant(""), with(None));
    assert_eq!(grant(", assured = \"60 B\""), with(demand(60, 500)));
    assert_eq!(grant(", assured = 0, request-delay = \"300 ms\""), with(demand(0, 300)));
    let free = demand(60, 500).map(|demand| Demand { free: 2, ..demand });
    assert_eq!(grant(", assured = \"60 B\", free = 2"), with(free));
}

#[test]
fn every_queue_and_loss() {
    let queue = |value: &str| {
        let scenario = parse(&format!("{PATH}buffer = \"60 kB\"\nqueue = {value}\n"));
        scenario.topology.links[0].config.queue.clone()
    };
    let limit = Limit::Bytes(60_000);
    assert_eq!(queue("\"drop-tail\""), QueueConfig::DropTail { limit });
    assert_eq!(
        queue(
            "{ kind = \"red\", min = 5, max = 15, weight = 0.5, max-p = \"20 %\", gentle = false, wait = false, ecn = true }"
        ),
        QueueConfig::Red {
            limit,
            min: 5.0,
            max: 15.0,
            weight: 0.5,
            max_p: 0.2,
            gentle: false,
            wait: false,
            ecn: true
        }
    );
    let (target, interval) = (Time::from_ms(5), Time::from_ms(100));
    assert_eq!(queue("\"codel\""), QueueConfig::CoDel { limit, target, interval, ecn: false });
    assert_eq!(
        queue("\"random-drop\""),
        QueueConfig::RandomDrop { limit, above_bytes: 30_000, probability: 0.25 }
    );
    let loss = |value: &str| parse(&format!("{PATH}loss = {value}\n")).topology.links[0].config.loss.clone();
    assert_eq!(loss("0"), LossConfig::None);
    assert_eq!(loss("\"1 %\""), LossConfig::Random { probability: 0.01 });
    assert_eq!(
        loss("{ kind = \"gilbert-elliott\", to-bad = 0.01, to-good = 0.5 }"),
        LossConfig::GilbertElliott { to_bad: 0.01, to_good: 0.5, good: 0.0, bad: 1.0 }
    );
    assert_eq!(loss("{ kind = \"listed\", packets = [7, 3, 3] }"), LossConfig::Listed([3, 7].into()));
}

#[test]
fn rates_and_delays_in_steps() {
    let scenario = parse(
        "[path]\nrate = [{ at = \"0 s\", rate = \"30 Mbit/s\" }, { at = \"1 s\", rate = \"10 Mbit/s\" }]\n\
         rate-period = \"2 s\"\nrtt = [{ at = \"0 s\", rtt = \"40 ms\" }, { at = \"1 s\", rtt = \"20 ms\" }]\n\
         buffer = \"1 bdp\"\n",
    );
    let facts = scenario.facts(0);
    // Mean 20 Mbit/s on the wire, smallest delay 20 ms.
    assert_eq!(
        scenario.topology.links[0].config.queue,
        QueueConfig::DropTail { limit: Limit::Bytes(50_000) }
    );
    let payload = |bits: u64| Rate::from_bits_per_s(bits * 1448 / 1500);
    assert_eq!(facts.capacity.len(), 60);
    assert_eq!(
        facts.capacity[..2],
        [(Time::ZERO, payload(30_000_000)), (Time::from_secs(1), payload(10_000_000))]
    );
    // A full segment at 30 Mbit/s takes 400 us, and the way back serves at once.
    assert_eq!(facts.base_rtt, Time::from_us(20_400));
    assert_eq!(facts.bdp_bytes, payload(20_000_000).bytes_in(facts.base_rtt));
}

#[test]
fn senders_and_receivers_by_friendly_names() {
    let scenario = parse(&format!(
        "profile = \"era\"\n{PATH}[sender]\nmss = \"960 B\"\nheaders = \"40 B\"\ninitial-window = \"3 packets\"\n\
         initial-ssthresh = 32\nabc-limit = 2\ncongestion-control = \"vegas\"\nrecovery = \"newreno-steady\"\nprr = true\n\
         rack-tlp = true\nlimited-transmit = true\nundo = true\nfrto = true\nrto-initial = \"2 s\"\nrto-min = \"1 s\"\n\
         rto-max = \"30 s\"\nrto-tick = \"1 ms\"\nrto-min-of-variance = true\npacing = \"always\"\nmax-burst = 5\n\
         send-buffer = \"64 KiB\"\nsend-buffer-max = \"4 MB\"\nidle-restart = true\nhandshake = false\ncubic-beta = 0.5\n\
         vegas-alpha = 2\nvegas-beta = 6\nvegas-mean-rtt = false\nextra-startup-rounds = 1\n\
         [receiver]\nacks = \"delayed\"\nack-every = 3\nack-timer = \"200 ms\"\nsack-blocks = 2\nsack-suppression = 9\n\
         window = \"autotuned\"\nwindow-initial = \"14600 B\"\nwindow-max = \"1 MB\"\nack-size = \"60 B\"\ntimestamps = \"4 ms\"\n"
    ));
    let (s, r) = (&scenario.flows[0].sender, &scenario.flows[0].receiver);
    assert_eq!((s.mss_bytes, s.header_bytes, s.initial_window_packets), (960, 40, 3));
    assert_eq!((s.initial_ssthresh_packets, s.abc_limit_packets), (Some(32), 2));
    assert_eq!(
        (s.avoidance, s.recovery, s.pacing),
        (Avoidance::Vegas, Recovery::NewRenoSteady, Pacing::Always)
    );
    assert!(s.prr && s.rack_tlp && s.limited_transmit && s.undo && s.frto && s.idle_restart && !s.handshake);
    assert_eq!((s.rto.initial, s.rto.min), (Time::from_secs(2), Time::from_secs(1)));
    assert_eq!((s.rto.max, s.rto.tick, s.rto.min_of_variance), (Time::from_secs(30), Time::from_ms(1), true));
    assert_eq!((s.max_burst_packets, s.send_buffer_bytes, s.send_buffer_max_bytes), (5, 65_536, 4_000_000));
    assert_eq!((s.cubic_beta_1024, s.extra_startup_rounds, s.delayed_acks), (512, 1, true));
    assert_eq!((s.vegas.alpha_packets, s.vegas.beta_packets, s.vegas.mean_rtt), (2, 6, false));
    assert_eq!(r.ack_policy, AckPolicy::Delayed { every: 3, timer: Time::from_ms(200) });
    assert_eq!((r.sack_blocks, r.sack_suppression_segments, r.ack_bytes), (2, 9, 60));
    assert_eq!(r.window, ReceiveWindow::Autotuned { initial: 14_600, max: 1_000_000 });
    assert_eq!(r.timestamp_tick, Time::from_ms(4));
}

#[test]
fn receivers_timestamps_by_profile_by_ack_size_and_as_written() {
    let tick = |text: &str| parse(text).flows[0].receiver.timestamp_tick;
    assert_eq!(tick(PATH), Time::from_ms(1));
    for profile in ["era", "ns2"] {
        assert_eq!(tick(&format!("profile = \"{profile}\"\n{PATH}")), Time::ZERO, "{profile}");
    }
    for (fields, ticks) in [
        ("timestamps = \"1 us\"", Time::from_us(1)),
        ("timestamps = \"off\"", Time::ZERO),
        ("ack-size = \"40 B\"", Time::ZERO),
        ("ack-size = \"40 B\"\ntimestamps = \"10 ms\"", Time::from_ms(10)),
        ("ack-size = \"64 B\"", Time::from_ms(1)),
    ] {
        assert_eq!(tick(&format!("{PATH}[receiver]\n{fields}\n")), ticks, "{fields}");
    }
    let flow = "[[flow]]\nsize = \"1 MB\"\nreceiver = { acks = \"quick\" }\n";
    let both = format!("{PATH}[receiver]\nack-size = \"40 B\"\ntimestamps = \"4 ms\"\n{flow}");
    assert_eq!(tick(&both), Time::from_ms(4), "the flow says nothing of it");
}

#[test]
fn flows_of_every_kind() {
    let scenario = parse(&format!(
        "{PATH}[[flow]]\nname = \"a\"\nsize = \"1 MB\"\nstart = \"2 s\"\nstart-jitter = \"10 ms\"\n\
         [[flow]]\nalgorithm = \"hystart++\"\ncongestion-control = \"reno\"\ncount = 2\nsampled = false\n\
         [[flow]]\nchunks = {{ size = \"100 kB\", interval = \"1 s\", count = 5 }}\nreceiver = {{ acks = \"quick\" }}\n\
         [[flow]]\nresponses = {{ size = \"1 MB\", first-flight = \"4 kB\", think = \"30 ms\" }}\n"
    ));
    let [a, b, c, d, answered] = &scenario.flows[..] else { panic!("five flows") };
    let think = Time::from_ms(30);
    assert_eq!(
        answered.source,
        Source::Responses { first_bytes: 4_000, response_bytes: 1_000_000, think, responses: 1 }
    );
    assert_eq!((a.name.as_str(), a.start, a.start_jitter), ("a", Time::from_secs(2), Time::from_ms(10)));
    assert_eq!((a.source, a.under_test, a.sender.sampled), (Source::Sized(1_000_000), true, true));
    assert_eq!((b.name.as_str(), c.name.as_str()), ("flow-2", "flow-3"));
    assert_eq!((b.sender.startup.id, b.under_test, b.sender.sampled), ("hystartpp", false, false));
    assert_eq!(b.sender.avoidance, Avoidance::Reno);
    let (interval, chunk_bytes) = (Time::from_secs(1), 100_000);
    assert_eq!(d.source, Source::Chunks { chunk_bytes, interval, chunks: 5 });
    assert_eq!((d.receiver.ack_policy, d.sender.delayed_acks), (AckPolicy::Quick, false));
    assert!(scenario.stop.when_complete, "both flows under test end");
}

#[test]
fn traffic_of_every_kind() {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("listed");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("flows.csv"), "start_s,bytes\n2.5,1000\n0.5,2000\n").unwrap();
    let text = format!(
        "{PATH}[[traffic]]\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\nstart = \"1 s\"\nend = \"5 s\"\n\
         [[traffic]]\nkind = \"poisson\"\nflows-per-second = 2\nsize = \"50 packets\"\nflows = 9\nunder-test = 0.5\n\
         [[traffic]]\nkind = \"web\"\nsessions = 3\nsize = {{ kind = \"pareto\", mean = \"12 kB\", shape = 1.5 }}\n\
         [[traffic]]\nkind = \"listed\"\nfile = \"flows.csv\"\n"
    );
    let scenario =
        Scenario::parse("x", &text, Some(&directory)).unwrap_or_else(|e| panic!("{}", e.explain()));
    assert!(scenario.flows.is_empty(), "traffic under test is enough");
    let [cbr, poisson, web, listed] = &scenario.traffic[..] else { panic!("four generators") };
    assert_eq!(
        (cbr.start, cbr.end, cbr.pairs.as_slice()),
        (Time::from_secs(1), Time::from_secs(5), &[(0, 1)][..])
    );
    assert!(matches!(cbr.kind, TrafficKind::Cbr { packet_bytes: 1000, .. }));
    let TrafficKind::Poisson { size, flows, sender, under_test_share, .. } = &poisson.kind else { panic!() };
    assert_eq!((*size, *flows), (SizeDistribution::Exponential { mean_bytes: 50.0 * 1448.0 }, 9));
    assert_eq!((sender.startup.id, sender.sampled, *under_test_share > 0.4), ("slow_start", true, true));
    let TrafficKind::Web { sessions: Sessions::Constant(3), size, .. } = &web.kind else { panic!() };
    assert_eq!(
        *size,
        SizeDistribution::Pareto { mean_bytes: 12_000.0, shape: 1.5, max_bytes: f64::INFINITY }
    );
    let TrafficKind::Listed { flows, .. } = &listed.kind else { panic!() };
    assert_eq!(flows[..], [(Time::from_ms(500), 0, 1, 2000), (Time::from_ms(2500), 0, 1, 1000)]);
    std::fs::write(directory.join("flows.csv"), "1,2,sender,nobody\n").unwrap();
    let error = Scenario::parse("x", &text, Some(&directory)).unwrap_err().explain();
    assert!(
        error.contains("traffic[3].file: line 1 of the file: there is no node \"nobody\"; expected lines"),
        "{error}"
    );
}

#[test]
fn routes_take_the_fewest_hops() {
    let link =
        |a: &str, b: &str, rate: &str| format!("[[link]]\nfrom = \"{a}\"\nto = \"{b}\"\nrate = \"{rate}\"\n");
    let scenario = parse(&format!(
        "{}{}{}{}{}",
        link("a", "b", "1 Gbit/s"),
        link("b", "c", "10 Mbit/s"),
        link("c", "d", "1 Gbit/s"),
        link("a", "d", "1 Gbit/s"),
        "[[flow]]\nfrom = \"a\"\nto = \"c\"\n"
    ));
    let names = |route: Vec<usize>| {
        route.into_iter().map(|l| scenario.topology.links[l].name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(scenario.route(0, 2).unwrap()), ["a->b", "b->c"]);
    assert_eq!(names(scenario.route(3, 0).unwrap()), ["d->a"]);
    assert_eq!(scenario.route(1, 1), Some(vec![]));
    assert_eq!(scenario.topology.links[scenario.bottleneck].name, "b->c");
}

#[test]
fn behind_a_policer_the_path_is_what_its_tokens_let_through() {
    let text = "size = \"1 MB\"\n[path]\nrate = \"1 Gbit/s\"\nrtt = \"40 ms\"\nbuffer = \"1 MB\"\n\
                queue = { kind = \"policer\", rate = \"10 Mbit/s\", burst = \"30 kB\" }\n";
    let scenario = parse(text);
    let limit = Limit::Bytes(1_000_000);
    let rate = Rate::from_bits_per_s(10_000_000);
    assert_eq!(
        scenario.topology.links[0].config.queue,
        QueueConfig::Policer { limit, rate, burst_bytes: 30_000 }
    );
    let facts = scenario.facts(0);
    assert_eq!(facts.capacity, [(Time::ZERO, Rate::from_bits_per_s(10_000_000 * 1448 / 1500))]);
    assert!((48_000..48_500).contains(&facts.bdp_bytes), "{}", facts.bdp_bytes);
    let wide = parse(&text.replace("10 Mbit/s", "2 Gbit/s")).facts(0);
    assert!(
        (4_800_000..4_850_000).contains(&wide.bdp_bytes),
        "{}: tokens beyond the rate bind nothing",
        wide.bdp_bytes
    );
}
