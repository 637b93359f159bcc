//! Accuracy of a path that was played in real time, and its hosts.

use rampcc::figures::counted;
use rampcc_trace::{Emulation, HostLateness};
use serde::{Deserialize, Serialize};

/// [`Emulation`] over several runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EmulationSummary {
    /// Whose TCP it was.
    pub kernel: String,
    /// Runs.
    pub runs: u32,
    /// Of these, marked ones.
    pub marked: u32,
    /// Attempts that were refused and played again.
    pub played_again: u32,
    /// Largest median, microseconds.
    pub lateness_median_us: f64,
    /// Largest 99 %, microseconds.
    pub lateness_p99_us: f64,
    /// The latest packet of all, microseconds.
    pub lateness_max_us: f64,
    /// Lateness that the path tolerates for 99 %, microseconds.
    pub tolerated_us: f64,
    /// True if all had real-time priority.
    pub realtime: bool,
    /// Samples and events.
    pub samples: u64,
    /// Those that were lost.
    pub samples_lost: u64,
    /// Setup of the sockets.
    pub sockets: String,
    /// How late hosts that are threads of ramp were: the largest of each over all runs; `None`: there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostLateness>,
    /// True if programs played, of which the path sees packets alone: every window is the bytes in flight.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_wire: bool,
    /// Largest median turn-around of a program, seconds; `None`: no program played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_around_median_s: Option<f64>,
    /// Largest 90 %, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_around_p90_s: Option<f64>,
    /// The reason of the first marked run.
    pub reason: Option<String>,
}

impl EmulationSummary {
    /// Of all runs that were emulated; `None`: there are none.
    pub fn of<'a>(runs: impl Iterator<Item = &'a Emulation>) -> Option<Self> {
        let mut summary: Option<Self> = None;
        let mut sockets: Vec<&str> = Vec::new();
        for run in runs {
            let sum = summary.get_or_insert_with(|| Self {
                kernel: run.kernel.clone(),
                tolerated_us: run.tolerated_us,
                realtime: true,
                ..Self::default()
            });
            if !sockets.contains(&run.sockets.as_str()) {
                sockets.push(&run.sockets);
            }
            sum.runs += 1;
            sum.marked += u32::from(!run.marked.is_empty());
            sum.played_again += run.attempts.saturating_sub(1);
            sum.lateness_median_us = sum.lateness_median_us.max(run.lateness_median_us);
            sum.lateness_p99_us = sum.lateness_p99_us.max(run.lateness_p99_us);
            sum.lateness_max_us = sum.lateness_max_us.max(run.lateness_max_us);
            sum.realtime &= run.realtime;
            sum.hosts = [sum.hosts, run.hosts].into_iter().flatten().reduce(latest);
            let most = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::max);
            sum.on_wire |= run.wire.is_some();
            let wire = run.wire.unwrap_or_default();
            sum.turn_around_median_s = most(sum.turn_around_median_s, wire.turn_around_median_s);
            sum.turn_around_p90_s = most(sum.turn_around_p90_s, wire.turn_around_p90_s);
            sum.samples += run.samples;
            sum.samples_lost += run.samples_lost;
            sum.reason = sum.reason.take().or_else(|| run.marked.first().cloned());
        }
        summary.map(|sum| Self { sockets: sockets.join(". "), ..sum })
    }

    /// One line on how true the path was.
    pub fn sentence(&self) -> String {
        let ms = |us: f64| crate::format::seconds(us * 1e-6);
        let mut text = format!("{}, in real time: ", self.kernel);
        text.push_str(&match self.marked {
            0 => format!("{} ok", runs(self.runs)),
            marked => format!("{} of {} marked", marked, runs(self.runs)),
        });
        if self.played_again > 0 {
            text.push_str(&format!(", {} played again after a refusal", runs(self.played_again)));
        }
        text.push_str(&format!(
            "; 99 % of packets at most {} late ({} is tolerated), the latest {}; ",
            ms(self.lateness_p99_us),
            ms(self.tolerated_us),
            ms(self.lateness_max_us)
        ));
        text.push_str(&match self.samples_lost {
            0 => "no sample lost".to_owned(),
            lost => format!("{lost} of {} samples lost", self.samples + lost),
        });
        if let Some(hosts) = self.hosts {
            text.push_str(&format!(
                "; the hosts attended to 99 % of packets and timers at most {} late, to the latest {}",
                ms(hosts.p99_us),
                ms(hosts.max_us)
            ));
        }
        if let (Some(median), Some(p90)) = (self.turn_around_median_s, self.turn_around_p90_s) {
            let (median, p90) = (crate::format::seconds(median), crate::format::seconds(p90));
            text.push_str(&format!(
                "; servers answered within {median} in half of the cases and {p90} in 90 %, in the slowest run"
            ));
        }
        if !self.realtime {
            text.push_str("; without real-time priority");
        }
        text + "."
    }
}

fn latest(a: HostLateness, b: HostLateness) -> HostLateness {
    HostLateness {
        count: a.count + b.count,
        median_us: a.median_us.max(b.median_us),
        p99_us: a.p99_us.max(b.p99_us),
        max_us: a.max_us.max(b.max_us),
    }
}

fn runs(count: u32) -> String {
    counted(count, "run")
}

#[cfg(test)]
mod tests {
    use rampcc_trace::Wire;

    use super::*;

    #[test]
    fn the_worst_run_speaks_for_all() {
        let run = |p99, attempts, marked: &[&str]| Emulation {
            kernel: "Linux 6.12".to_owned(),
            lateness_p99_us: p99,
            lateness_max_us: 900.0,
            tolerated_us: 500.0,
            attempts,
            realtime: true,
            samples: 10,
            marked: marked.iter().map(|m| (*m).to_owned()).collect(),
            ..Emulation::default()
        };
        let calm = EmulationSummary::of([run(30.0, 1, &[]), run(41.0, 1, &[])].iter()).unwrap();
        assert_eq!(
            calm.sentence(),
            "Linux 6.12, in real time: 2 runs ok; 99 % of packets at most 41.0 us late (500 us is tolerated), the \
             latest 900 us; no sample lost."
        );
        let mut busy = [run(30.0, 1, &[]), run(600.0, 2, &["late"])];
        busy[0].samples_lost = 3;
        busy[1].realtime = false;
        let text = EmulationSummary::of(busy.iter()).unwrap().sentence();
        assert!(text.contains("1 of 2 runs marked, 1 run played again after a refusal"), "{text}");
        assert!(text.contains("3 of 23 samples lost; without real-time priority"), "{text}");
        let (turn_around_median_s, turn_around_p90_s) = (Some(40e-6), Some(90e-6));
        busy[0].wire = Some(Wire { turn_around_median_s, turn_around_p90_s, ..Wire::default() });
        let text = EmulationSummary::of(busy.iter()).unwrap().sentence();
        assert!(text.contains("answered within 40.0 us in half of the cases and 90.0 us in 90 %"), "{text}");
        for (run, p99_us) in busy.iter_mut().zip([70.0, 30.0]) {
            run.hosts = Some(HostLateness { p99_us, max_us: 95.0, ..HostLateness::default() });
        }
        let text = EmulationSummary::of(busy.iter()).unwrap().sentence();
        let hosts =
            "the hosts attended to 99 % of packets and timers at most 70.0 us late, to the latest 95.0 us";
        assert!(text.contains(hosts), "{text}");
        assert_eq!(EmulationSummary::of([].iter()), None);
    }
}
