//! Error of the emulator against the scenario.

use std::fmt;
use std::net::SocketAddr;

use hdrhistogram::Histogram;
use rampcc::Time;
use rampcc_path::{Count, Totals};
use rampcc_trace::LinkSample;

use crate::plan::End;

/// Error of an emulated run, and its verdict.
#[derive(Clone, Debug)]
pub struct ErrorReport {
    /// Lateness of packets handed to their host.
    pub lateness: Lateness,
    /// Lateness that the scenario tolerates; see [`Verdict`].
    pub tolerated: Time,
    /// Verdict on the results.
    pub verdict: Verdict,
    /// Answers that came more than the cap after the packet that caused them, and so keep part of its lateness.
    pub back_dating_capped: u64,
    /// The two devices, the sender's first.
    pub ports: [PortReport; 2],
    /// Totals of each link that a flow crosses.
    pub links: Vec<LinkReport>,
    /// Queue of the scenario's bottleneck after each arrival, if asked for.
    pub queue: Vec<LinkSample>,
    /// Samples of the queue that found no room.
    pub queue_samples_lost: u64,
    /// Packets that links dropped, if asked for.
    pub drops: Vec<Dropped>,
    /// Drops that found no room among them; the links' totals have them.
    pub drops_lost: u64,
    /// Packets that hosts sent, in the order in which the path took them in, if asked for.
    pub packets: Vec<Seen>,
    /// Packets that found no room among them.
    pub packets_lost: u64,
    /// How the first TCP payload from each address begins, a few bytes, if packets were asked for.
    pub greetings: Vec<(SocketAddr, Vec<u8>)>,
    /// Time for which the emulator ran.
    pub played: Time,
    /// Share of one processor that its thread took.
    pub cpu_share: f64,
    /// True if its thread had real-time priority.
    pub realtime: bool,
}

/// Percentiles of (time of the write - time at which the packet was due).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Packets.
    pub packets: u64,
    /// Half of them were at most this late.
    pub median: Time,
    /// 90 %.
    pub p90: Time,
    /// 99 %.
    pub p99: Time,
    /// 99.9 %.
    pub p999: Time,
    /// The latest.
    pub max: Time,
}

/// Packets and bytes that went through a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortReport {
    /// Read from it: what its hosts sent.
    pub read: Count,
    /// Of these, packets that belong to no flow of the scenario, and were thrown away.
    pub strays: u64,
    /// Written to it: what its hosts were sent.
    pub written: Count,
    /// Writes that the kernel refused.
    pub refused: u64,
    /// Dropped by the device before the emulator could read them.
    pub dropped_out: u64,
    /// Dropped by the kernel after the emulator had written them.
    pub dropped_in: u64,
}

/// Packets and bytes that went through a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkReport {
    /// Index into the scenario's links.
    pub index: usize,
    /// Its name there.
    pub name: String,
    /// Totals.
    pub totals: Totals,
}

/// A packet that a link dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Time on [`crate::Clock`].
    pub now: Time,
    /// Index into the scenario's links.
    pub link: u32,
    /// Sender.
    pub from: SocketAddr,
    /// To whom.
    pub to: SocketAddr,
    /// As links count it.
    pub wire_bytes: u32,
    /// True if it carried payload.
    pub data: bool,
}

/// A packet of a host, as a watcher at the path sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// When the path took it in, on [`crate::Clock`].
    pub taken: Time,
    /// Sender.
    pub from: SocketAddr,
    /// To whom.
    pub to: SocketAddr,
    /// True if it is a TCP segment.
    pub tcp: bool,
    /// Payload of its transport; of anything but TCP and UDP all behind the IP header.
    pub payload_bytes: u32,
    /// The two bits of ECN in its IP header, as the sender set them.
    pub ecn: u8,
    /// True if a link has marked it, and it arrived.
    pub marked: bool,
    /// When the scenario has it reach its host; `Time::NEVER`: it did not.
    pub due: Time,
    /// When the emulator handed it to its host: `due` and the emulator's lateness.
    pub written: Time,
    /// When a link dropped it; `Time::NEVER`: none did.
    pub dropped: Time,
}

/// Verdict on the results of a run.
///
/// The scenario sets what is tolerated: a fiftieth of the shortest round trip, and at most half a millisecond. That is
/// a sixth of the RTT rise and an eighth of the smallest threshold (4 ms) at which HyStart and its successors leave,
/// and a quarter of the gap (2 ms) that ends an ACK train.
///
/// - *ok*: 99 % of all packets were no later than that, and none more than ten times that;
/// - *marked*: something was;
/// - *refused*: 99 % exceed four times that, or the kernel lost a packet that the scenario does not lose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The error does not change the answer.
    Ok,
    /// The error may have changed the answer.
    Marked(Vec<String>),
    /// The error changes the answer.
    Refused(Vec<String>),
}

/// Most that is tolerated whatever the round trip.
const TOLERATED_MAX: Time = Time::from_us(500);

/// What a path of this round-trip time tolerates.
pub(crate) fn tolerated(base_rtt: Time) -> Time {
    Time::from_ns(base_rtt.ns() / 50).min(TOLERATED_MAX)
}

impl Lateness {
    pub(crate) fn new(histogram: &Histogram<u64>) -> Self {
        let at = |quantile| Time::from_ns(histogram.value_at_quantile(quantile));
        Self {
            packets: histogram.len(),
            median: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: Time::from_ns(histogram.max()),
        }
    }

    /// Of delays in any order.
    pub fn of(mut delays: Vec<Time>) -> Self {
        delays.sort_unstable();
        let at = |share: f64| {
            let rank = (delays.len() as f64 * share).ceil() as usize;
            delays.get(rank.max(1) - 1).copied().unwrap_or_default()
        };
        Self {
            packets: delays.len() as u64,
            median: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: at(1.0),
        }
    }
}

impl Verdict {
    pub(crate) fn new(lateness: &Lateness, tolerated: Time, ports: &[PortReport; 2]) -> Self {
        let lost: u64 = ports.iter().map(|port| port.refused + port.dropped_out + port.dropped_in).sum();
        Self::lost(lost, "packets").and(Self::late(["packets were", "packet was"], lateness, tolerated))
    }

    /// On what the kernel lost of `what`, and the scenario does not lose.
    pub fn lost(count: u64, what: &str) -> Self {
        match count {
            0 => Self::Ok,
            _ => {
                Self::Refused(vec![format!("the kernel lost {count} {what} that the scenario does not lose")])
            }
        }
    }

    /// On lateness alone; `what` was late, of many and of one.
    pub fn late(what: [&str; 2], lateness: &Lateness, tolerated: Time) -> Self {
        let times = |n: u64| Time::from_ns(tolerated.ns() * n);
        let ms = |time: Time| format!("{:.2} ms", time.secs_f64() * 1e3);
        let [many, one] = what;
        let late =
            format!("1 % of {many} more than {} late; {} is tolerated", ms(lateness.p99), ms(tolerated));
        if lateness.p99 > times(4) {
            return Self::Refused(vec![late]);
        }
        let mut marked = Vec::new();
        if lateness.p99 > tolerated {
            marked.push(late);
        }
        if lateness.max > times(10) {
            marked.push(format!("one {one} {} late; {} is tolerated once", ms(lateness.max), ms(times(10))));
        }
        if marked.is_empty() { Self::Ok } else { Self::Marked(marked) }
    }

    /// Both together: the worse of the two, with all its reasons.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Refused(mut a), Self::Refused(b)) => {
                a.extend(b);
                Self::Refused(a)
            }
            (Self::Refused(reasons), _) | (_, Self::Refused(reasons)) => Self::Refused(reasons),
            (Self::Marked(mut a), Self::Marked(b)) => {
                a.extend(b);
                Self::Marked(a)
            }
            (Self::Ok, other) | (other, Self::Ok) => other,
        }
    }

    /// True if nothing speaks against the results.
    pub fn is_ok(&self) -> bool {
        *self == Self::Ok
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok => f.write_str("ok"),
            Self::Marked(reasons) => write!(f, "marked: {}", reasons.join("; ")),
            Self::Refused(reasons) => write!(f, "refused: {}", reasons.join("; ")),
        }
    }
}

impl fmt::Display for ErrorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lateness { packets, median, p90, p99, p999, max } = self.lateness;
        let us = |time: Time| time.ns() as f64 / 1e3;
        writeln!(f, "emulation: {}", self.verdict)?;
        writeln!(
            f,
            "  lateness [us]: median {:.1}, 90 % {:.1}, 99 % {:.1}, 99.9 % {:.1}, most {:.1}; {packets} packets; \
             tolerated {:.0}",
            us(median),
            us(p90),
            us(p99),
            us(p999),
            us(max),
            us(self.tolerated),
        )?;
        let priority = if self.realtime { "real-time" } else { "normal" };
        writeln!(
            f,
            "  {:.1} s at {:.0} % of a processor, {priority} priority; {} answers beyond the back-dating cap",
            self.played.secs_f64(),
            self.cpu_share * 100.0,
            self.back_dating_capped,
        )?;
        for (end, port) in End::BOTH.iter().zip(&self.ports) {
            writeln!(
                f,
                "  {end:?}: {} packets read ({} strays), {} written ({} refused); device dropped {} out, {} in",
                port.read.packets,
                port.strays,
                port.written.packets,
                port.refused,
                port.dropped_out,
                port.dropped_in,
            )?;
        }
        for link in &self.links {
            let Totals { arrived, delivered, inside, peak_queue, .. } = link.totals;
            writeln!(
                f,
                "  link {}: {} packets in, {} out, {} dropped, {} inside; queue at most {} bytes",
                link.name,
                arrived.packets,
                delivered.packets,
                link.totals.dropped().packets,
                inside.packets,
                peak_queue.bytes,
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn late(p99: u64, max: u64) -> Lateness {
        Lateness { packets: 1000, p99: Time::from_us(p99), max: Time::from_us(max), ..Lateness::default() }
    }

    #[test]
    fn what_is_tolerated_follows_the_round_trip() {
        assert_eq!(tolerated(Time::from_ms(10)), Time::from_us(200));
        assert_eq!(tolerated(Time::from_ms(600)), Time::from_us(500));
    }

    #[test]
    fn verdicts_follow_the_rule() {
        let limit = Time::from_us(100);
        let clean = [PortReport::default(); 2];
        let verdict = |p99, max| Verdict::new(&late(p99, max), limit, &clean);
        assert_eq!(verdict(100, 1000), Verdict::Ok);
        assert!(matches!(verdict(101, 1000), Verdict::Marked(reasons) if reasons.len() == 1));
        assert!(matches!(verdict(100, 1001), Verdict::Marked(_)));
        assert!(matches!(verdict(101, 1001), Verdict::Marked(reasons) if reasons.len() == 2));
        assert!(matches!(verdict(401, 1000), Verdict::Refused(_)));
    }

    #[test]
    fn delays_have_the_percentiles_of_their_ranks() {
        let delays = (1..=1000).rev().map(Time::from_us).collect();
        let us = |us| Time::from_us(us);
        let all = Lateness::of(delays);
        assert_eq!((all.packets, all.median, all.p90, all.p99), (1000, us(500), us(900), us(990)));
        assert_eq!((all.p999, all.max), (us(999), us(1000)));
        assert_eq!(Lateness::of(Vec::new()), Lateness::default());
    }

    #[test]
    fn of_two_verdicts_the_worse_counts_with_all_its_reasons() {
        let limit = Time::from_us(100);
        let of = |p99| Verdict::late(["timers were", "timer was"], &late(p99, p99), limit);
        assert_eq!(of(100).and(of(100)), Verdict::Ok);
        assert!(matches!(of(101).and(of(102)), Verdict::Marked(reasons) if reasons.len() == 2));
        assert!(matches!(of(101).and(of(100)), Verdict::Marked(reasons) if reasons.len() == 1));
        let both = Verdict::lost(2, "datagrams").and(of(401));
        assert!(matches!(both, Verdict::Refused(reasons) if reasons.len() == 2));
        assert!(matches!(of(101).and(of(401)), Verdict::Refused(reasons) if reasons.len() == 1));
    }

    #[test]
    fn a_packet_that_the_kernel_lost_refuses_the_run() {
        for port in [
            PortReport { refused: 1, ..PortReport::default() },
            PortReport { dropped_out: 1, ..PortReport::default() },
            PortReport { dropped_in: 1, ..PortReport::default() },
        ] {
            let verdict = Verdict::new(&late(1, 1), Time::from_us(100), &[PortReport::default(), port]);
            assert_eq!(
                verdict.to_string(),
                "refused: the kernel lost 1 packets that the scenario does not lose"
            );
        }
    }
}
