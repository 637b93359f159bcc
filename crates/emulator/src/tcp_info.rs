//! Information from the kernel about a TCP socket.

use std::io;
use std::os::fd::AsFd;

use rampcc::{Phase, Time, UNSET};
use rampcc_trace::{FlowSample, SenderState};

use crate::sys::{self, TCP_CC_INFO_BYTES, TCP_INFO_BYTES};

/// `struct tcp_info` of Linux, as much of it as is used here. What the running kernel does not tell is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the field of the same name in linux/tcp.h, without its `tcpi_`")]
pub struct TcpInfo {
    pub ca_state: u8,
    pub snd_mss: u32,
    pub rcv_mss: u32,
    pub unacked: u32,
    pub sacked: u32,
    pub lost: u32,
    pub retrans: u32,
    pub rtt_us: u32,
    pub snd_ssthresh: u32,
    pub snd_cwnd: u32,
    pub total_retrans: u32,
    pub pacing_rate: u64,
    pub bytes_acked: u64,
    pub min_rtt_us: u32,
    pub data_segs_in: u32,
    pub data_segs_out: u32,
    pub delivery_rate: u64,
    pub bytes_sent: u64,
    pub bytes_retrans: u64,
    pub snd_wnd: u32,
    pub total_rto: u16,
}

/// The kernel's "no threshold yet".
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;
/// States of `enum tcp_ca_state` from which a loss or a mark is being repaired.
const CA_CWR: u8 = 2;
const CA_LOSS: u8 = 4;

impl TcpInfo {
    /// Asks the kernel.
    pub fn of(socket: &impl AsFd) -> io::Result<Self> {
        let (bytes, length) = sys::tcp_info(socket.as_fd())?;
        Ok(Self::parse(&bytes, length))
    }

    /// True if the window has not met a threshold: the kernel's own notion of slow start.
    pub fn in_slow_start(&self) -> bool {
        self.snd_cwnd < self.snd_ssthresh
    }

    /// True if losses, or a timeout, are being repaired.
    pub fn repairs(&self) -> bool {
        self.ca_state >= CA_CWR
    }

    /// As a sample of `flow`. The kernel tells no single RTT samples and no total of losses: `rtt` is zero, and
    /// `lost_bytes` is what was retransmitted or waits for it. `paces`: whether the congestion control uses its pacing rate.
    pub fn sample(&self, now: Time, flow: u32, paces: bool) -> FlowSample {
        let bytes = |packets: u32| u64::from(packets) * u64::from(self.snd_mss);
        let in_flight = (self.unacked + self.retrans).saturating_sub(self.sacked + self.lost);
        let infinite = self.snd_ssthresh >= INFINITE_SSTHRESH;
        FlowSample {
            now,
            flow,
            cwnd_bytes: bytes(self.snd_cwnd),
            ssthresh_bytes: if infinite { UNSET } else { bytes(self.snd_ssthresh) },
            in_flight_bytes: bytes(in_flight),
            sent_bytes: self.bytes_sent,
            delivered_bytes: self.bytes_acked + bytes(self.sacked),
            retransmitted_bytes: self.bytes_retrans,
            lost_bytes: self.bytes_retrans + bytes(self.lost.saturating_sub(self.retrans)),
            rtt: Time::ZERO,
            // The kernel starts from the largest number.
            min_rtt: if self.min_rtt_us == u32::MAX {
                Time::ZERO
            } else {
                Time::from_us(u64::from(self.min_rtt_us))
            },
            smoothed_rtt: Time::from_us(u64::from(self.rtt_us)),
            pacing_bytes_per_s: if paces && self.pacing_rate != u64::MAX { self.pacing_rate } else { 0 },
            delivery_bytes_per_s: self.delivery_rate,
            receive_window_bytes: u64::from(self.snd_wnd),
            phase: if self.in_slow_start() { Phase::Startup } else { Phase::Done },
            state: match self.ca_state {
                CA_LOSS.. => SenderState::Loss,
                CA_CWR.. => SenderState::Recovery,
                _ => SenderState::Open,
            },
        }
    }

    fn parse(bytes: &[u8; TCP_INFO_BYTES], length: usize) -> Self {
        let known = &bytes[..length.min(TCP_INFO_BYTES)];
        let word = |at: usize| {
            let word = known.get(at..).and_then(|rest| rest.first_chunk());
            word.map_or(0, |word| u32::from_ne_bytes(*word))
        };
        let half = |at: usize| {
            let half = known.get(at..).and_then(|rest| rest.first_chunk());
            half.map_or(0, |half| u16::from_ne_bytes(*half))
        };
        let long = |at: usize| {
            let long = known.get(at..).and_then(|rest| rest.first_chunk());
            long.map_or(0, |long| u64::from_ne_bytes(*long))
        };
        // Offsets in `struct tcp_info`, include/uapi/linux/tcp.h: fields are only ever added at its end.
        Self {
            ca_state: known.get(1).copied().unwrap_or(0),
            snd_mss: word(16),
            rcv_mss: word(20),
            unacked: word(24),
            sacked: word(28),
            lost: word(32),
            retrans: word(36),
            rtt_us: word(68),
            snd_ssthresh: word(76),
            snd_cwnd: word(80),
            total_retrans: word(100),
            pacing_rate: long(104),
            bytes_acked: long(120),
            min_rtt_us: word(148),
            data_segs_in: word(152),
            data_segs_out: word(156),
            delivery_rate: long(160),
            bytes_sent: long(200),
            bytes_retrans: long(208),
            snd_wnd: word(228),
            total_rto: half(240),
        }
    }
}

/// Information from BBR about itself: `struct tcp_bbr_info`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BbrInfo {
    /// Its estimate of the bottleneck's rate.
    pub bytes_per_s: u64,
    /// Its estimate of the round-trip time without queues.
    pub min_rtt: Time,
    /// Times 256.
    pub pacing_gain: u32,
    /// Times 256.
    pub cwnd_gain: u32,
}

impl BbrInfo {
    /// Asks the kernel; `None`: the socket is not BBR's.
    pub fn of(socket: &impl AsFd) -> Option<Self> {
        let (bytes, length) = sys::tcp_cc_info(socket.as_fd()).ok()?;
        Self::parse(&bytes, length)
    }

    /// True if start-up is over: BBR has drained what it had queued, and probes around its estimate. Probing for the RTT
    /// interrupts a start-up and does not end it.
    pub fn left_startup(&self) -> bool {
        /// `bbr_cwnd_gain`, of its state `PROBE_BW`.
        const PROBING: u32 = 512;
        self.cwnd_gain == PROBING
    }

    fn parse(bytes: &[u8; TCP_CC_INFO_BYTES], length: usize) -> Option<Self> {
        let (words, _) = bytes.get(..length)?.as_chunks::<4>();
        let words: Vec<u32> = words.iter().map(|word| u32::from_ne_bytes(*word)).collect();
        let [low, high, min_rtt_us, pacing_gain, cwnd_gain] = *words.first_chunk()?;
        let min_rtt = if min_rtt_us == u32::MAX { Time::ZERO } else { Time::from_us(u64::from(min_rtt_us)) };
        Some(Self { bytes_per_s: u64::from(high) << 32 | u64::from(low), min_rtt, pacing_gain, cwnd_gain })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bbr_has_left_when_it_has_drained() {
        let info = |pacing_gain: u32, cwnd_gain: u32| {
            let mut bytes = [0; TCP_CC_INFO_BYTES];
            for (to, word) in bytes.chunks_exact_mut(4).zip([12_000_000, 0, 40_000, pacing_gain, cwnd_gain]) {
                to.copy_from_slice(&u32::to_ne_bytes(word));
            }
            BbrInfo::parse(&bytes, TCP_CC_INFO_BYTES).expect("it is whole")
        };
        assert_eq!((info(739, 739).bytes_per_s, info(739, 739).min_rtt), (12_000_000, Time::from_ms(40)));
        let left = [(739, 739), (256, 256), (88, 739), (320, 512), (256, 512)]
            .map(|(p, c)| info(p, c).left_startup());
        assert_eq!(left, [false, false, false, true, true]);
        assert_eq!(BbrInfo::parse(&[0; TCP_CC_INFO_BYTES], 16), None);
    }

    #[test]
    fn an_old_kernel_tells_less() {
        let mut bytes = [0u8; TCP_INFO_BYTES];
        bytes[16..20].copy_from_slice(&1448u32.to_ne_bytes());
        bytes[80..84].copy_from_slice(&10u32.to_ne_bytes());
        bytes[200..208].copy_from_slice(&5_000u64.to_ne_bytes());
        let whole = TcpInfo::parse(&bytes, TCP_INFO_BYTES);
        let old = TcpInfo::parse(&bytes, 192);
        assert_eq!((whole.snd_mss, whole.snd_cwnd, whole.bytes_sent), (1448, 10, 5_000));
        assert_eq!((old.snd_mss, old.snd_cwnd, old.bytes_sent), (1448, 10, 0));
    }

    #[test]
    fn samples_speak_in_bytes() {
        let info = TcpInfo {
            snd_mss: 1000,
            snd_cwnd: 20,
            snd_ssthresh: INFINITE_SSTHRESH,
            unacked: 15,
            sacked: 4,
            lost: 2,
            retrans: 1,
            bytes_acked: 7_000,
            min_rtt_us: u32::MAX,
            pacing_rate: 9,
            ca_state: 3,
            ..TcpInfo::default()
        };
        let sample = info.sample(Time::from_ms(1), 3, false);
        assert_eq!((sample.cwnd_bytes, sample.ssthresh_bytes), (20_000, UNSET));
        assert_eq!((sample.in_flight_bytes, sample.delivered_bytes), (10_000, 11_000));
        assert_eq!((sample.min_rtt, sample.pacing_bytes_per_s), (Time::ZERO, 0));
        assert_eq!((sample.phase, sample.state), (Phase::Startup, SenderState::Recovery));
        assert_eq!(info.sample(Time::ZERO, 0, true).pacing_bytes_per_s, 9);
        assert!(info.in_slow_start() && info.repairs());
        assert!(!TcpInfo { ca_state: 1, ..info }.repairs(), "reordering is not a loss");
    }
}
