//! Westwood+ after start-up, compared with Reno.

use std::sync::atomic::AtomicBool;

use rampcc::algorithm;
use rampcc_scenario::{Arm, Scenario};
use rampcc_sim::simulate;
use rampcc_trace::{FlowSample, Observer, SenderState};

/// Bytes delivered, and ssthresh whenever a repair has just ended.
#[derive(Default)]
struct Seen {
    delivered: u64,
    recovering: bool,
    thresholds: Vec<u64>,
}

impl Observer for Seen {
    fn on_flow(&mut self, sample: &FlowSample) {
        self.delivered = sample.delivered_bytes;
        let recovering = sample.state == SenderState::Recovery;
        if self.recovering && sample.state == SenderState::Open {
            self.thresholds.push(sample.ssthresh_bytes);
        }
        self.recovering = recovering;
    }
}

fn play(control: &str, loss: &str) -> Seen {
    let text = format!(
        "duration = \"60 s\"\n[path]\nrate = \"20 Mbit/s\"\nrtt = \"100 ms\"\nbuffer = \"1 bdp\"\nloss = {loss}\n\
         [sender]\ncongestion-control = \"{control}\"\n"
    );
    let scenario = Scenario::parse("westwood", &text, None).expect("a scenario");
    let algorithm = algorithm("slow_start").expect("a row");
    let arm = Arm { label: control.to_owned(), ..Arm::new(algorithm) };
    let mut seen = Seen::default();
    simulate(&scenario.with_arm(&arm), 1, &mut seen, &AtomicBool::new(false)).expect("it runs");
    seen
}

/// 20 Mbit/s are 2.413 MB/s of payload; times 100 ms.
const BDP: f64 = 241_300.0;

#[test]
fn a_full_queue_leaves_one_bdp() {
    let seen = play("westwood", "0");
    let [first, rest @ ..] = &seen.thresholds[..] else { panic!("no loss") };
    // Two filters of 7/8 have seen little of the path when slow start overflows the queue.
    assert!((*first as f64) < 0.5 * BDP, "{first}");
    assert!(!rest.is_empty());
    for threshold in rest {
        assert!((*threshold as f64 / BDP - 1.0).abs() < 0.1, "{threshold}");
    }
}

#[test]
fn losses_of_the_medium_cost_it_less_than_reno() {
    let (westwood, reno) = (play("westwood", "0.001"), play("reno", "0.001"));
    let share = |seen: &Seen| seen.delivered as f64 / 60.0 / (BDP * 10.0);
    assert!(share(&westwood) > 2.0 * share(&reno), "{} {}", share(&westwood), share(&reno));
}

/// Every kind of recovery ends with the estimate, a BDP; half of the window would be two thirds of that.
#[test]
fn whatever_repairs_the_estimate_follows() {
    for rules in [
        "profile = 'ns2'",
        "profile = 'era'",
        "recovery = 'newreno-steady'",
        "recovery = 'newreno-impatient'",
    ] {
        let (profile, sender) = if rules.starts_with("profile") { (rules, "") } else { ("", rules) };
        let text = format!(
            "{profile}\nduration = '60 s'\n[path]\nrate = '20 Mbit/s'\nrtt = '100 ms'\nbuffer = '0.3 bdp'\n\
             [sender]\ncongestion-control = 'westwood'\ninitial-ssthresh = 150\n{sender}\n"
        );
        let scenario = Scenario::parse("westwood", &text, None).expect("a scenario");
        let algorithm = algorithm("slow_start").expect("a row");
        let arm = Arm { label: "westwood".to_owned(), ..Arm::new(algorithm) };
        let mut seen = Seen::default();
        simulate(&scenario.with_arm(&arm), 1, &mut seen, &AtomicBool::new(false)).expect("it runs");
        // The window jumps, and what it lets out at once is more than the buffer: more repairs follow, from less.
        let most = seen.thresholds.iter().max().expect("a loss is repaired");
        assert!((*most as f64 / BDP - 1.0).abs() < 0.1, "{rules}: {:?}", seen.thresholds);
    }
}
