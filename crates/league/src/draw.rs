//! Populations drawn from the design: a scrambled Sobol sequence for each access type, one dimension for each property.

use std::fmt::Write as _;

use crate::design::{ACCESS, Access, Common, Design, Shares};

/// Wire bytes of a full packet, for buffers.
const PACKET: f64 = 1500.0;
/// Smallest buffer, packets: below it no burst of ten gets through.
const SMALLEST_BUFFER: f64 = 10.0;
/// What a download takes at most if the path is known, seconds: files that take longer are of the next smaller size.
const LONGEST_S: f64 = 40.0;
/// Packets that cross traffic may send in a run: what bounds the time that one takes to simulate.
const CROSS_PACKETS: f64 = 1_500_000.0;
/// Beyond this rate no flows are simulated next to the download, only packets at a constant rate.
const FASTEST_WITH_FLOWS_MBIT: f64 = 300.0;
/// Traffic of a web session with pages of five objects of 12 kB and a second to think, Mbit/s.
const WEB_SESSION_MBIT: f64 = 0.4;

/// A property that is drawn: a dimension of the sequence.
#[derive(Clone, Copy)]
enum Of {
    Rate,
    Rtt,
    Buffer,
    Noise,
    NoiseSize,
    Queue,
    Acks,
    AcksSize,
    Return,
    Cross,
    CrossSize,
    Loss,
    LossSize,
    Steps,
    StepsEvery,
    Receiver,
    Window,
    WindowSize,
    NoiseWhere,
    Plain,
    Stretch,
    Handshake,
    HandshakeSize,
    Flight,
    FlightSize,
    Tokens,
    Bucket,
    /// And eight more.
    Step,
}

/// The text of a population: of each access type so many paths.
pub(crate) fn population(name: &str, seed: u64) -> String {
    let design = Design::shipped();
    let mut text = format!(
        "# Paths of the league, each a scenario. Made from design.toml with seed {seed}; a test holds this file to it.\n"
    );
    for (stratum, kind) in (0_u64..).zip(ACCESS) {
        let access = &design.access[kind];
        for index in 0..design.paths {
            let draw = Draw { index, seed: scramble(seed, stratum), access, common: &design.common };
            let path = if name.is_empty() { String::new() } else { format!("{name}-") };
            write!(text, "\n[{path}{kind}-{:02}]\naccess = \"{kind}\"\n", index + 1).expect("a string grows");
            draw.write(&mut text);
        }
    }
    text
}

/// The generator `splitmix64`, folded: neighbouring seeds scramble differently.
fn scramble(seed: u64, stratum: u64) -> u32 {
    let mut z = seed.wrapping_mul(8).wrapping_add(stratum).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 32) as u32
}

/// One path.
struct Draw<'a> {
    index: u32,
    seed: u32,
    access: &'a Access,
    common: &'a Common,
}

/// What a download depends on.
struct Way {
    rate_mbit: f64,
    rtt_ms: f64,
    size_mb: f64,
    /// How long the fastest start-up takes, roughly.
    best_s: f64,
    /// Share of the rate that constant cross traffic takes.
    taken: f64,
}

impl Draw<'_> {
    fn at(&self, dimension: u32) -> f64 {
        f64::from(sobol_burley::sample(self.index, dimension, self.seed))
    }

    fn share(&self, of: Of) -> f64 {
        self.at(of as u32)
    }

    /// The word that is drawn; on a plain path the `usual` one.
    fn word<'a>(&self, of: Of, shares: &'a Shares, usual: &'a str) -> &'a str {
        if self.share(Of::Plain) < self.common.plain { usual } else { shares.at(self.share(of)) }
    }

    fn log(&self, of: Of, [low, high]: [f64; 2]) -> f64 {
        low * libm::pow(high / low, self.share(of))
    }

    fn linear(&self, of: Of, [low, high]: [f64; 2]) -> f64 {
        low + (high - low) * self.share(of)
    }

    /// Nearer servers and farther ones: logarithmic below and above the median.
    fn rtt_ms(&self) -> f64 {
        let [low, middle, high] = self.access.rtt_ms;
        let share = self.share(Of::Rtt);
        let (from, to, part) =
            if share < 0.5 { (low, middle, 2.0 * share) } else { (middle, high, 2.0 * share - 1.0) };
        from * libm::pow(to / from, part)
    }

    fn write(&self, text: &mut String) {
        let (access, common) = (self.access, self.common);
        let mut line = |words: String| writeln!(text, "{words}").expect("a string grows");
        let rtt_ms = self.rtt_ms();
        let kind = self.word(Of::Steps, &access.rate, "constant");
        // What a measured link carries on average is known well enough for sizes: some ten Mbit/s.
        let rate_mbit = if kind == "trace" { 30.0 } else { self.log(Of::Rate, access.rate_mbit) };
        let bdp_packets = rate_mbit * 1e6 / 8.0 * rtt_ms * 1e-3 / PACKET;
        let cross = match self.word(Of::Cross, &access.cross, "none") {
            "long" | "web" if kind == "trace" || rate_mbit > FASTEST_WITH_FLOWS_MBIT => "cbr",
            other => other,
        };
        let taken = if cross == "cbr" { self.linear(Of::CrossSize, common.cross_share) } else { 0.0 };
        let queue = match self.word(Of::Queue, &access.queue, "drop-tail") {
            // The time of a download is the tokens' alone.
            "policer" if cross != "none" || kind != "constant" => "drop-tail",
            other => other,
        };
        let tokens_mbit = rate_mbit * self.log(Of::Tokens, common.tokens_share);
        let left_mbit = match (queue, cross) {
            ("policer", _) => tokens_mbit,
            (_, "long") => rate_mbit / 2.0,
            _ => rate_mbit * (1.0 - taken),
        };
        let size_mb = [100.0, 10.0].into_iter().find(|mb| mb * 8.0 / left_mbit <= LONGEST_S).unwrap_or(1.0);
        let best_s = 2.5e-3 * rtt_ms + size_mb * 8.0 / left_mbit;
        self.ends(&mut line, cross, &Way { rate_mbit, rtt_ms, size_mb, best_s, taken });
        match kind {
            "trace" => {
                for (field, file) in &access.trace {
                    line(format!("path.{field} = \"{file}\""));
                }
                line("path.random-trace-offset = true".to_owned());
            }
            "early" => {
                let [low, high] = common.steps_factor;
                let first = rate_mbit * low * libm::pow(high / low, self.at(Of::Step as u32));
                let [soon, late] = common.early_rtts;
                let after_ms = rtt_ms * soon * libm::pow(late / soon, self.share(Of::StepsEvery));
                line(format!(
                    "path.rate = [{{ at = \"0 s\", rate = \"{} Mbit/s\" }}, {{ at = \"{} ms\", rate = \"{} Mbit/s\" }}]",
                    number(first),
                    number(after_ms),
                    number(rate_mbit)
                ));
            }
            "steps" => {
                // At least three of them in the best possible download.
                let every = self
                    .log(Of::StepsEvery, access.steps_every_s.unwrap_or(common.steps_every_s))
                    .min(best_s / 3.0);
                let step = |n: u32| {
                    let share = self.at(Of::Step as u32 + n);
                    let [low, high] = common.steps_factor;
                    let rate = rate_mbit * if n == 0 { 1.0 } else { low * libm::pow(high / low, share) };
                    format!(
                        "{{ at = \"{} s\", rate = \"{} Mbit/s\" }}",
                        number(f64::from(n) * every),
                        number(rate)
                    )
                };
                let steps: Vec<String> = (0..8).map(step).collect();
                line(format!("path.rate = [{}]", steps.join(", ")));
                line(format!("path.rate-period = \"{} s\"", number(8.0 * every)));
            }
            _ => line(format!("path.rate = \"{} Mbit/s\"", number(rate_mbit))),
        }
        match self.word(Of::Handshake, &common.handshake, "same") {
            // The first handshake of a path with a running flow is that flow's.
            "slower" if cross != "long" && kind != "trace" => {
                let [low, high] = common.handshake_factor;
                let first_ms = rtt_ms * low * libm::pow(high / low, self.share(Of::HandshakeSize));
                // The SYN-ACK is on its way by then, and the first data packet is not.
                line(format!(
                    "path.rtt = [{{ at = \"0 s\", rtt = \"{} ms\" }}, {{ at = \"{} ms\", rtt = \"{} ms\" }}]",
                    number(first_ms),
                    number(0.9 * first_ms),
                    number(rtt_ms)
                ));
            }
            _ => line(format!("path.rtt = \"{} ms\"", number(rtt_ms))),
        }
        let in_time = access.buffer_ms.map(|range| self.log(Of::Buffer, range));
        let in_bdp = access.buffer_bdp.map(|range| self.log(Of::Buffer, range));
        let buffer = in_time.map(|ms| ms / rtt_ms).or(in_bdp).expect("a buffer in one of both units");
        let packets = buffer * bdp_packets;
        let small = packets < SMALLEST_BUFFER && kind != "trace";
        line(if small {
            format!("path.buffer = \"{SMALLEST_BUFFER} packets\"")
        } else if let Some(ms) = in_time {
            format!("path.buffer = \"{} ms\"", number(ms))
        } else {
            format!("path.buffer = \"{} bdp\"", number(buffer))
        });
        let packets = packets.max(SMALLEST_BUFFER);
        match queue {
            "policer" => line(format!(
                "path.queue = {{ kind = \"policer\", rate = \"{} Mbit/s\", burst = \"{} kB\" }}",
                number(tokens_mbit),
                number(self.log(Of::Bucket, common.bucket_kb))
            )),
            "red" => line(format!(
                "path.queue = {{ kind = \"red\", min = {}, max = {} }}",
                number((packets * 0.15).max(3.0)),
                number((packets * 0.5).max(8.0))
            )),
            "drop-tail" => {}
            other => line(format!("path.queue = \"{other}\"")),
        }
        match self.word(Of::Loss, &access.loss, "none") {
            "random" => {
                line(format!("path.loss = \"{} %\"", number(self.log(Of::LossSize, common.loss_percent))));
            }
            "bursts" => {
                // Bursts of three packets on average.
                let bad = self.log(Of::LossSize, common.loss_percent) / 100.0;
                line(format!(
                    "path.loss = {{ kind = \"gilbert-elliott\", to-bad = {}, to-good = 0.333 }}",
                    number(bad / 3.0)
                ));
            }
            _ => {}
        }
        self.back(&mut line, rate_mbit);
        match self.word(Of::Receiver, &common.receiver, "linux") {
            "linux" => {}
            "stretch" => {
                line("receiver.acks = \"delayed\"".to_owned());
                line(format!("receiver.ack-every = {}", 4 << (self.share(Of::Stretch) * 3.0) as u32));
            }
            other => line(format!("receiver.acks = \"{other}\"")),
        }
        match self.word(Of::Window, &common.window, "unlimited") {
            "autotuned" => line("receiver.window = \"autotuned\"".to_owned()),
            "fixed" => {
                let share = self.linear(Of::WindowSize, common.window_bdp);
                let bytes = (share * bdp_packets * PACKET / 1024.0).max(64.0);
                line(format!("receiver.window = \"{bytes:.0} KiB\""));
            }
            _ => {}
        }
    }

    /// How long, how much, and with which cross traffic.
    fn ends(&self, line: &mut impl FnMut(String), cross: &str, way: &Way) {
        let &Way { rate_mbit, rtt_ms, size_mb, best_s, taken } = way;
        let packets_per_s = rate_mbit * 1e6 / 8.0 / PACKET;
        match cross {
            "long" => {
                // The running flow has left start-up, and a slow download has time to finish.
                let start_s = (30e-3 * rtt_ms).max(3.0);
                let end_s = start_s + (6.0 * best_s).max(5.0);
                line(format!("duration = \"{} s\"", number(end_s)));
                line("stop = \"duration\"".to_owned());
                line(format!(
                    "flow = [{{ name = \"download\", size = \"{size_mb} MB\", start = \"{} s\" }}, {{ name = \"running\", algorithm = \"hystart\" }}]",
                    number(start_s)
                ));
            }
            "cbr" | "web" => {
                let share = if cross == "cbr" { taken } else { 0.5 };
                let bound_s = (CROSS_PACKETS / (packets_per_s * share)).max(10.0 * best_s).min(300.0);
                line(format!("duration = \"{} s\"", number(bound_s)));
                line(format!("size = \"{size_mb} MB\""));
                if cross == "web" {
                    let load = self.linear(Of::CrossSize, self.common.cross_share) * rate_mbit;
                    let sessions = (load / WEB_SESSION_MBIT).clamp(1.0, 150.0);
                    line(format!("traffic = [{{ kind = \"web\", sessions = {sessions:.0} }}]"));
                } else {
                    line(format!("path.cross-traffic = \"{} %\"", number(100.0 * taken)));
                }
            }
            _ => {
                line("duration = \"600 s\"".to_owned());
                if self.word(Of::Flight, &self.common.first_flight, "none") == "tls" {
                    let first = 1448 * (1 + (self.share(Of::FlightSize) * 4.0) as u64);
                    let rest = size_mb as u64 * 1_000_000 - first;
                    line(format!(
                        "flow = [{{ responses = {{ first-flight = \"{first} B\", size = \"{rest} B\" }} }}]"
                    ));
                } else {
                    line(format!("size = \"{size_mb} MB\""));
                }
            }
        }
    }

    /// Noise, and the way of the ACKs.
    fn back(&self, line: &mut impl FnMut(String), rate_mbit: f64) {
        let access = self.access;
        let share = self.log(Of::Return, access.return_share);
        line(format!("path.reverse.rate = \"{} Mbit/s\"", number(rate_mbit * share)));
        if share < 0.04 {
            // ACKs alone may fill such a link, and no modem queues them for seconds.
            line("path.reverse.buffer = \"200 ms\"".to_owned());
        }
        let noise_ms = self.log(Of::NoiseSize, access.noise_ms);
        let place = self.share(Of::NoiseWhere);
        let step =
            if place % 0.5 < 0.25 { String::new() } else { format!(", step = \"{} ms\"", number(noise_ms)) };
        let jitter = match self.word(Of::Noise, &access.noise, "none") {
            "uniform" => format!("{{ kind = \"uniform\", max = \"{} ms\"{step} }}", number(noise_ms)),
            "normal" => format!(
                "{{ kind = \"normal\", mean = \"{} ms\", sigma = \"{} ms\"{step} }}",
                number(noise_ms / 2.0),
                number(noise_ms / 4.0)
            ),
            "pareto" => format!(
                "{{ kind = \"pareto\", median = \"{} ms\", shape = 1.5, max = \"{} ms\", step = \"{} ms\" }}",
                number(noise_ms / 10.0),
                number(noise_ms * 2.0),
                number(noise_ms)
            ),
            "sine" => {
                format!("{{ kind = \"sine\", amplitude = \"{} ms\", period = \"2 s\" }}", number(noise_ms))
            }
            "grant" => {
                let jitter = format!(
                    "{{ kind = \"grant\", period = \"{} ms\", jitter = \"{} ms\" }}",
                    number(noise_ms),
                    number(noise_ms / 4.0)
                );
                line(format!("path.reverse.jitter = {jitter}"));
                String::new()
            }
            _ => String::new(),
        };
        if !jitter.is_empty() {
            let way = if place < 0.5 { "path" } else { "path.reverse" };
            line(format!("{way}.jitter = {jitter}"));
        }
        let size = self.share(Of::AcksSize);
        match self.word(Of::Acks, &access.acks, "each") {
            "aggregate" => {
                let [low, high] = access.noise_ms;
                let hold = low * libm::pow(high / low, size);
                line(format!("path.reverse.ack-filter = \"{} ms\"", number(hold)));
            }
            "thin" => {
                let keep = 2 + (size * 7.0) as u32;
                line(format!("path.reverse.ack-filter = {{ kind = \"thin\", keep = {keep} }}"));
            }
            _ => {}
        }
    }
}

/// Three significant digits, without an exponent.
fn number(value: f64) -> String {
    if value <= 0.0 {
        return "0".to_owned();
    }
    let digits = libm::floor(libm::log10(value)) as i32;
    if digits >= 2 {
        let step = libm::pow(10.0, f64::from(digits - 2));
        return format!("{:.0}", (value / step).round() * step);
    }
    rampcc::figures::decimals(value, (2 - digits) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        for (value, text) in [
            (1.0, "1"),
            (0.0, "0"),
            (0.012_345, "0.0123"),
            (99.96, "100"),
            (12_345.0, "12300"),
            (150.4, "150"),
        ] {
            assert_eq!(number(value), text, "{value}");
        }
    }

    #[test]
    fn seeds_make_different_paths_and_each_always_the_same() {
        let [one, two] = [1, 2].map(|seed| population("", seed));
        assert_ne!(one, two);
        assert_eq!(one, population("", 1));
    }
}
