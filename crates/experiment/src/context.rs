//! Identity of a scenario, and the facts that a judge needs about one.

use rampcc::{Rate, Time};
use rampcc_lab::{CapacityStep, Context, Writes};
use rampcc_scenario::{Scenario, Source, Traffic, TrafficKind};
use sha2::{Digest, Sha256};

use crate::store::hexadecimal;

/// Tells scenarios apart by everything they say, the files they name included.
pub fn digest(scenario: &Scenario) -> String {
    let mut hash = Sha256::new();
    hash.update(&scenario.name);
    hash.update([0]);
    // What is not known decides no run.
    hash.update(scenario.certain_text());
    for file in &scenario.files {
        hash.update(file.checksum.to_le_bytes());
    }
    hexadecimal(&hash.finalize()[..16])
}

/// Facts about a scenario's path, for judging runs over it.
pub fn context(scenario: &Scenario) -> Context {
    let flow = scenario.flows.iter().position(|f| f.under_test).unwrap_or(0);
    let facts = scenario.facts(flow);
    let under_test = || scenario.flows.iter().filter(|f| f.under_test);
    let config = scenario.flows.get(flow);
    let mut generated = scenario.traffic.iter().filter_map(steered).peekable();
    let is_generated = generated.peek().is_some();
    let listed = config.map(|flow| [flow.sender.mss_bytes, flow.sender.header_bytes]);
    let [mss_bytes, header_bytes] = listed.or_else(|| generated.next()).unwrap_or_default();
    let finite = |bytes: u64| (bytes != u64::MAX).then_some(bytes);
    let sizes: Vec<Option<u64>> = under_test().map(|f| finite(f.source.size_bytes())).collect();
    let writes: Vec<Option<Writes>> = under_test().map(|f| writes(&f.source)).collect();
    let crosses = |from, to| scenario.crosses_bottleneck(from, to);
    let other_flows = || scenario.flows.iter().filter(|flow| !flow.under_test);
    let mut pairs = scenario.traffic.iter().flat_map(|traffic| &traffic.pairs);
    let same = sizes.windows(2).all(|pair| pair[0] == pair[1]);
    Context {
        description: scenario.description.clone(),
        words: scenario.in_words(None),
        base_rtt_s: facts.base_rtt.secs_f64(),
        capacity: steps(&facts.capacity),
        drain: facts.drain.as_deref().map(steps).unwrap_or_default(),
        before_bottleneck_s: facts.before_bottleneck.map(Time::secs_f64),
        bdp_bytes: facts.bdp_bytes,
        buffer_bytes: (facts.buffer_bytes < u64::MAX).then_some(facts.buffer_bytes),
        buffer_stated_bdp: scenario.stated_buffer_bdp(),
        early_drops: facts.early_drops.unwrap_or_default(),
        mss_bytes,
        header_bytes,
        bottleneck: u32::try_from(scenario.bottleneck).unwrap_or(u32::MAX),
        size_bytes: if same { sizes.first().copied().flatten() } else { None },
        flows_under_test: u32::try_from(sizes.len()).unwrap_or(u32::MAX).max(1),
        endless_flows: Some(sizes.iter().filter(|size| size.is_none()).count())
            .filter(|endless| (1..sizes.len()).contains(endless))
            .and_then(|endless| u32::try_from(endless).ok()),
        generated: is_generated,
        shared: other_flows().any(|flow| crosses(flow.from, flow.to))
            || pairs.any(|(from, to)| crosses(*from, *to)),
        application_limited: under_test()
            .any(|f| matches!(f.source, Source::Chunks { .. } | Source::Responses { .. })),
        writes: if is_generated || writes.windows(2).any(|pair| pair[0] != pair[1]) {
            None
        } else {
            writes.first().copied().flatten()
        },
        end_s: scenario.stop.after.secs_f64(),
        chance: scenario.has_chance(),
    }
}

fn steps(rates: &[(Time, Rate)]) -> Vec<CapacityStep> {
    let step = |(at, rate): &(Time, Rate)| CapacityStep {
        from_s: at.secs_f64(),
        bytes_per_s: rate.bits_per_s() as f64 / 8.0,
    };
    rates.iter().map(step).collect()
}

/// Of responses without pauses the time of all is as good, and has the handshake in it.
fn writes(source: &Source) -> Option<Writes> {
    match *source {
        Source::Chunks { chunk_bytes, interval, .. } => {
            Some(Writes { bytes: chunk_bytes, interval_s: Some(interval.secs_f64()), ..Writes::default() })
        }
        Source::Responses { first_bytes, response_bytes, think, .. } if think > Time::ZERO => {
            Some(Writes { bytes: response_bytes, interval_s: None, think_s: think.secs_f64(), first_bytes })
        }
        _ => None,
    }
}

/// Payload and headers of the packets of generated traffic of which some flows are under test.
fn steered(traffic: &Traffic) -> Option<[u32; 2]> {
    match &traffic.kind {
        TrafficKind::Poisson { sender, under_test_share, .. }
        | TrafficKind::Web { sender, under_test_share, .. }
        | TrafficKind::Listed { sender, under_test_share, .. } => {
            (*under_test_share > 0.0).then_some([sender.mss_bytes, sender.header_bytes])
        }
        TrafficKind::Cbr { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_flows_have_packets_too() {
        let path = "[path]\nrate = \"50 Mbit/s\"\nrtt = \"50 ms\"\n";
        let traffic =
            "[[traffic]]\nkind = \"poisson\"\nflows-per-second = 5\nsize = \"30 kB\"\nunder-test = 1\n";
        let listed = context(&Scenario::parse("listed", path, None).unwrap());
        let generated = context(&Scenario::parse("generated", &format!("{path}{traffic}"), None).unwrap());
        assert_eq!((listed.generated, generated.generated), (false, true));
        assert_eq!((generated.mss_bytes, generated.header_bytes), (listed.mss_bytes, listed.header_bytes));
        assert!(generated.wire_factor() > 1.0);
    }

    #[test]
    fn what_drops_before_the_queue_is_full_is_said() {
        let drops = |path: &str| {
            let text = format!("[path]\nrate = \"50 Mbit/s\"\nrtt = \"50 ms\"\nbuffer = \"1 MB\"\n{path}");
            context(&Scenario::parse("early", &text, None).unwrap()).early_drops
        };
        let random = "queue = { kind = \"random-drop\", above = \"500 kB\", probability = \"25 %\" }\n";
        assert_eq!(drops(random), "25 % of arrivals dropped above 1.59 BDP");
        assert_eq!((drops("queue = \"codel\"\n").as_str(), drops("").as_str()), ("CoDel", ""));
    }

    #[test]
    fn what_applications_write_and_policers_let_through_is_known() {
        let of = |text: &str| {
            let path = "[path]\nrate = \"200 Mbit/s\"\nrtt = \"40 ms\"\nbuffer = \"1 MB\"\n";
            context(&Scenario::parse("written", &format!("{path}{text}"), None).unwrap())
        };
        let chunks = of("[[flow]]\nchunks = { size = \"20 kB\", interval = \"2 s\" }\n").writes.unwrap();
        assert_eq!((chunks.bytes, chunks.interval_s), (20_000, Some(2.0)));
        let responses = |think: &str| {
            of(&format!(
                "[[flow]]\nresponses = {{ size = \"50 kB\", count = 3, think = \"{think}\", first-flight = \"4 kB\" }}\n"
            ))
        };
        let waited = responses("1 s").writes.unwrap();
        assert_eq!(
            (waited.bytes, waited.interval_s, waited.think_s, waited.first_bytes),
            (50_000, None, 1.0, 4_000)
        );
        assert_eq!(responses("0 s").writes, None);
        let [mixed, all] = ["[[flow]]\n[[flow]]\nsize = \"1 MB\"\n", "[[flow]]\nsize = \"1 MB\"\n"].map(of);
        assert_eq!((mixed.endless_flows, all.endless_flows, all.writes), (Some(1), None, None));
        assert!(!all.policed());

        let policed = of("queue = { kind = \"policer\", rate = \"20 Mbit/s\", burst = \"200 kB\" }\n");
        assert!(policed.policed());
        // 100 kB of wire bytes at 200 Mbit/s.
        assert!(
            (policed.queueing_s(100_000, 0.0) - 0.004).abs() < 1e-6,
            "{}",
            policed.queueing_s(100_000, 0.0)
        );
        assert!((policed.capacity[0].bytes_per_s * 8.0 * policed.wire_factor() - 20e6).abs() < 1.0);
    }
}
