//! A scenario's path in words, for people who do not have its file before them.

use rampcc::{Rate, Time};
use rampcc_path::{
    AckFilter, Capacity, Demand, Jitter, LinkConfig, LossConfig, Opportunities, Propagation, QuickStartPolicy,
};
use rampcc_tcp::{Avoidance, Profile};

use crate::model::{Scenario, Sessions, SizeDistribution, Traffic, TrafficKind};
use crate::numbers::{bytes, number, percent, seconds, short};

impl Scenario {
    /// The path of the first flow under test in words, a heading and a sentence each: its links forward and back, the traces
    /// behind them, what else is on the way, and the hosts: `hosts`, where others play than those that the scenario describes.
    pub fn in_words(&self, hosts: Option<&str>) -> Vec<(String, String)> {
        let mut words = Vec::new();
        let flow = self.flows.iter().find(|flow| flow.under_test).or(self.flows.first());
        let pair = |traffic: &Traffic| traffic.pairs.first().copied();
        let ends = flow.map(|flow| (flow.from, flow.to)).or_else(|| self.traffic.iter().find_map(pair));
        if let Some((from, to)) = ends {
            for (heading, from, to) in [("Forward", from, to), ("Return", to, from)] {
                let links = self.route(from, to).unwrap_or_default();
                let shown: Vec<String> = links.iter().map(|&link| self.link(link, links.len() > 1)).collect();
                if !shown.is_empty() {
                    words.push((heading.to_owned(), shown.join("; ")));
                }
            }
        }
        words.extend(self.traces().map(|text| ("Traces".to_owned(), text)));
        words.extend(self.beside().map(|text| ("Traffic".to_owned(), text)));
        let drawn = |traffic: &'_ Traffic| match &traffic.kind {
            TrafficKind::Cbr { .. } => None,
            TrafficKind::Poisson { sender, .. }
            | TrafficKind::Web { sender, .. }
            | TrafficKind::Listed { sender, .. } => Some(self.hosts(sender)),
        };
        let own =
            || flow.map(|flow| self.hosts(&flow.sender)).or_else(|| self.traffic.iter().find_map(drawn));
        let hosts = hosts.map(str::to_owned).or_else(own);
        words.extend(hosts.map(|text| ("Hosts".to_owned(), text)));
        words
    }

    fn link(&self, index: usize, named: bool) -> String {
        let link = &self.topology.links[index];
        let LinkConfig { capacity, queue, delay, loss, ack_filter, quick_start, ties } = &link.config;
        let mut parts = vec![rate(capacity), one_way(&delay.propagation)];
        if !matches!(capacity, Capacity::Unlimited) {
            parts.push(crate::queue::in_words(queue));
        }
        parts.extend(delay.jitter.as_ref().map(|jitter| format!("jitter: {}", wobble(jitter))));
        parts.extend(lost(loss));
        parts.extend(
            delay
                .reordering
                .map(|r| format!("{} of packets held back by {}", percent(r.probability), r.delay)),
        );
        parts.extend(ack_filter.map(|filter| match filter {
            AckFilter::Aggregate { count, hold } => {
                format!("ACKs released {count} at a time, or after {hold}")
            }
            AckFilter::Thin { keep, hold } => format!("one ACK in {keep} kept, the newest, or after {hold}"),
        }));
        parts.extend(match quick_start {
            QuickStartPolicy::Unaware => None,
            QuickStartPolicy::Refuse => Some("a router that refuses Quick-Start".to_owned()),
            QuickStartPolicy::Grant => Some("a router that grants Quick-Start".to_owned()),
        });
        if *ties == rampcc_path::Ties::Arrival {
            parts.push("no room for a packet that arrives as another leaves".to_owned());
        }
        let name = if named { format!("{}: ", link.name) } else { String::new() };
        name + &parts.join(", ")
    }

    /// Which files, and where in them a run starts.
    fn traces(&self) -> Option<String> {
        if self.files.is_empty() {
            return None;
        }
        let name = |path: &std::path::Path| {
            path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
        };
        let names: Vec<String> = self.files.iter().map(|file| name(&file.path)).collect();
        let offset = self.topology.links.iter().find_map(|link| match &link.config.capacity {
            Capacity::Trace(trace) => Some(trace.offset),
            _ => match link.config.delay.propagation {
                Propagation::Trace { offset, .. } => Some(offset),
                _ => None,
            },
        });
        let start = match (offset, self.trace_offset_range) {
            (None, _) => String::new(),
            (Some(offset), Time::ZERO) => format!(", from {} s on", seconds(offset)),
            (Some(offset), range) => format!(
                "; each run starts at random between {} and {} s",
                seconds(offset),
                seconds(offset + range)
            ),
        };
        Some(names.join(", ") + &start)
    }

    fn beside(&self) -> Option<String> {
        let under_test = self.flows.iter().filter(|flow| flow.under_test).count();
        let rest = self.flows.len() - under_test;
        let mut parts = Vec::new();
        if under_test > 1 {
            parts.push(format!("{under_test} flows under test"));
        }
        if rest > 0 {
            parts.push(format!("{rest} other {}", if rest == 1 { "flow" } else { "flows" }));
        }
        parts.extend(self.traffic.iter().map(generated));
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    fn hosts(&self, sender: &rampcc_tcp::SenderConfig) -> String {
        let profile = match self.profile {
            Profile::Modern => "as Linux today",
            Profile::Era => "as when the papers were written",
            Profile::Ns2 => "as ns-2 has them",
        };
        let avoidance = match sender.avoidance_in_use() {
            Avoidance::Reno => "Reno",
            Avoidance::Cubic => "CUBIC",
            Avoidance::Vegas => "Vegas",
            Avoidance::Westwood => "Westwood+",
            Avoidance::Bbr => "BBR",
            Avoidance::Bbr3 => "BBR version 3",
        };
        format!(
            "{profile}; {avoidance} after start-up, initial window of {} packets, segments of {} bytes",
            sender.initial_window_packets, sender.mss_bytes
        )
    }
}

fn rate(capacity: &Capacity) -> String {
    match capacity {
        Capacity::Unlimited => "no limit of rate".to_owned(),
        Capacity::Constant(rate) => short(*rate),
        Capacity::Steps { steps, .. } => {
            let rates = || steps.iter().map(|(_, rate)| *rate);
            let outage = if rates().any(|rate| rate == Rate::default()) { " with outages" } else { "" };
            let low = rates().filter(|rate| *rate > Rate::default()).min().unwrap_or_default();
            format!("{} to {} in steps{outage}", short(low), short(rates().max().unwrap_or_default()))
        }
        Capacity::Trace(trace) => format!("measured rate, {} on average over the trace", short(mean(trace))),
    }
}

/// Wire rate over one period.
fn mean(trace: &Opportunities) -> Rate {
    let bits = trace.at.len() as f64 * f64::from(trace.bytes) * 8.0;
    let seconds = trace.period.secs_f64();
    Rate::from_bits_per_s(if seconds > 0.0 { (bits / seconds) as u64 } else { 0 })
}

fn one_way(propagation: &Propagation) -> String {
    let range = |low: Time, high: Time| {
        if low == high { format!("{low} one way") } else { format!("{low} to {high} one way") }
    };
    let of = |all: &mut dyn Iterator<Item = Time>| {
        let (low, high) = all.fold((Time::NEVER, Time::ZERO), |(low, high), t| (low.min(t), high.max(t)));
        range(low.min(high), high)
    };
    match propagation {
        Propagation::Constant(delay) => range(*delay, *delay),
        Propagation::Steps { steps, .. } => of(&mut steps.iter().map(|(_, delay)| *delay)) + " in steps",
        Propagation::Trace { values, .. } => of(&mut values.iter().copied()) + " as measured",
    }
}

fn wobble(jitter: &Jitter) -> String {
    let every = |step: Time| if step == Time::ZERO { String::new() } else { format!(" every {step}") };
    match jitter {
        Jitter::Uniform { max, step } => format!("uniform up to {max}{}", every(*step)),
        Jitter::Normal { mean, sigma, step } => format!("normal, {mean} ± {sigma}{}", every(*step)),
        Jitter::Pareto { median, max, step, .. } => {
            format!("Pareto, median {median}, at most {max}{}", every(*step))
        }
        Jitter::Sine { amplitude, period } => format!("a swing of {amplitude} in {period}"),
        Jitter::Grant { period, jitter, demand } => {
            let size = demand.map_or_else(String::new, |demand| {
                let times = if demand.free > 1 { format!(", {} times", demand.free) } else { String::new() };
                let Demand { assured_bytes, delay, .. } = demand;
                format!(" of {assured_bytes} B (more{times} {delay} after a request)")
            });
            format!("grants{size} every {period}, up to {jitter} late")
        }
        Jitter::Sum(several) => several.iter().map(wobble).collect::<Vec<_>>().join(" and "),
    }
}

fn lost(loss: &LossConfig) -> Option<String> {
    match loss {
        LossConfig::None => None,
        LossConfig::Random { probability } if *probability <= 0.0 => None,
        LossConfig::Random { probability } => Some(format!("random loss of {}", percent(*probability))),
        LossConfig::GilbertElliott { to_bad, to_good, good, bad } => {
            let share = if to_bad + to_good > 0.0 { to_bad / (to_bad + to_good) } else { 0.0 };
            let mean = share * bad + (1.0 - share) * good;
            Some(format!("loss of {} in bursts", percent(mean)))
        }
        LossConfig::Listed(packets) => Some(format!("{} listed packets lost", packets.len())),
    }
}

fn generated(traffic: &Traffic) -> String {
    let size = |size: &SizeDistribution| match *size {
        SizeDistribution::Constant(size) => bytes(size),
        SizeDistribution::Exponential { mean_bytes } | SizeDistribution::Pareto { mean_bytes, .. } => {
            format!("{} on average", bytes(mean_bytes as u64))
        }
    };
    let text = match &traffic.kind {
        TrafficKind::Cbr { rate, .. } => format!("{} at a constant rate", short(*rate)),
        TrafficKind::Poisson { flows_per_s, size: of, .. } => {
            format!("{} flows a second of {}", number(*flows_per_s), size(of))
        }
        TrafficKind::Web { sessions: Sessions::Constant(sessions), size: of, .. } => {
            format!("{sessions} web sessions with objects of {}", size(of))
        }
        TrafficKind::Web { sessions: Sessions::Arriving { load, .. }, size: of, .. } => {
            format!("web sessions that ask for {} with objects of {}", short(*load), size(of))
        }
        TrafficKind::Listed { flows, .. } => format!("{} listed flows", flows.len()),
    };
    match &traffic.kind {
        TrafficKind::Poisson { under_test_share: share, .. }
        | TrafficKind::Web { under_test_share: share, .. }
        | TrafficKind::Listed { under_test_share: share, .. }
            if *share > 0.0 =>
        {
            format!("{text}, {} under test", percent(*share))
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<(String, String)> {
        Scenario::parse("made-up", text, None).expect("a scenario").in_words(None)
    }

    fn said<'a>(words: &'a [(String, String)], heading: &str) -> &'a str {
        words.iter().find(|(known, _)| known == heading).map_or("", |(_, text)| text)
    }

    #[test]
    fn a_path_with_everything_names_all_of_it() {
        let words = words(
            "size = \"5 MB\"\n[path]\nrate = \"150 Mbit/s\"\nrtt = \"600 ms\"\nbuffer = \"36 MB\"\nloss = \"0.1 %\"\n\
             queue = { kind = \"random-drop\", above = \"18 MB\", probability = \"25 %\" }\n\
             jitter = { kind = \"uniform\", max = \"5 ms\", step = \"1 ms\" }\n\
             [path.reverse]\nrate = \"5 Mbit/s\"\njitter = { kind = \"grant\", period = \"20 ms\", jitter = \"5 ms\" }\n\
             ack-filter = { kind = \"thin\", keep = 4 }\n",
        );
        assert_eq!(
            said(&words, "Forward"),
            "150 Mbit/s, 300 ms one way, queue of 36 MB that drops 25 % of arrivals above 18 MB, jitter: uniform up to 5 ms \
             every 1 ms, random loss of 0.1 %"
        );
        let back = said(&words, "Return");
        assert!(back.starts_with("5 Mbit/s, 300 ms one way"), "{back}");
        assert!(
            back.contains("grants every 20 ms, up to 5 ms late")
                && back.ends_with("one ACK in 4 kept, the newest, or after 10 ms"),
            "{back}"
        );
        assert!(said(&words, "Hosts").starts_with("as Linux today; CUBIC after start-up"));
        assert_eq!(said(&words, "Traces"), "");
    }

    #[test]
    fn traffic_under_test_is_said_to_be() {
        let path = "duration = \"5 s\"\n[path]\nrate = \"50 Mbit/s\"\nrtt = \"50 ms\"\n";
        let traffic = "[[traffic]]\nkind = \"poisson\"\nflows-per-second = 5\nsize = \"30 kB\"\n";
        let said = |more: &str| said(&words(&format!("{path}{traffic}{more}")), "Traffic").to_owned();
        assert_eq!(said("under-test = 0.5\n"), "5 flows a second of 30 kB on average, 50 % under test");
        assert_eq!(said("[[flow]]\n"), "5 flows a second of 30 kB on average");
    }

    #[test]
    fn every_scenario_that_ships_has_words_for_its_path() {
        for name in Scenario::built_in_names() {
            let scenario = Scenario::built_in(name).expect("it ships");
            let words = scenario.in_words(None);
            for heading in ["Forward", "Return", "Hosts"] {
                assert!(!said(&words, heading).is_empty(), "{name}: {heading}");
            }
            assert!(
                words.iter().all(|(_, text)| !text.contains("NaN") && !text.contains("never")),
                "{name}: {words:?}"
            );
        }
    }
}
