//! A stack gone mad, as bytes: whatever they are, they are calls of a connection.

use rampcc::{Algorithm, Time, algorithms};
use rampcc_avoidance::Avoidance;
use rampcc_quic::{Congestion, Connection, PacketId, Rules, Spacing};

/// `RAMP_CWND_MAX_BYTES`.
const WINDOW_MAX: u64 = 1 << 40;

/// Takes numbers out of bytes; zeros when there are none left.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// Up to 2^32 and a few that are far larger.
    fn number(&mut self) -> u64 {
        match self.byte() {
            255 => u64::MAX - u64::from(self.byte()),
            shift => u64::from(self.byte()) << (shift % 25),
        }
    }
}

fn rules(bytes: &mut Bytes<'_>) -> Rules {
    let all: Vec<&'static Algorithm> =
        algorithms().iter().filter(|one| Rules::unmet(one, true).is_none()).collect();
    let spacing = [Spacing::None, Spacing::Stack, Spacing::Linux];
    let avoidance = [Avoidance::Cubic, Avoidance::Reno];
    Rules {
        spacing: spacing[usize::from(bytes.byte()) % spacing.len()],
        avoidance: avoidance[usize::from(bytes.byte()) % avoidance.len()],
        initial_window_packets: 1 + u32::from(bytes.byte()),
        initial_ssthresh_packets: (bytes.byte().is_multiple_of(4)).then_some(20),
        delayed_acks: bytes.byte().is_multiple_of(2),
        ..Rules::of(all[usize::from(bytes.byte()) % all.len()])
    }
}

/// What a stack may do in any order: send, acknowledge what was sent, what was not, and all again, lose everything, change the
/// size of packets, move to another port, and drop from the flight without a word what a server rejects of 0-RTT.
///
/// # Panics
///
/// If a window is out of bounds.
pub(crate) fn play(bytes: &[u8]) -> Connection {
    let mut bytes = Bytes(bytes);
    let mut mtu: u16 = 1200;
    let mut connection = Connection::new(&rules(&mut bytes), mtu);
    let mut now = Time::from_ms(1);
    let mut sent: Vec<(PacketId, u32)> = Vec::new();
    while !bytes.0.is_empty() {
        let call = bytes.byte();
        now += Time::from_ns(bytes.number() & 0xff_ffff_ffff);
        match call % 12 {
            0..=2 => {
                for _ in 0..=bytes.byte() % 64 {
                    let id = PacketId { sent: now, number: sent.len() as u64 };
                    let size = if call % 12 == 2 { u32::from(bytes.byte()) } else { u32::from(mtu) };
                    sent.push((id, size));
                    connection.on_packet_sent(now, id, size);
                }
            }
            3..=5 => {
                let (from, many) = (bytes.number() as usize, usize::from(bytes.byte()));
                let from = from % sent.len().max(1);
                for &(id, size) in sent.iter().skip(from).take(many) {
                    connection.on_packet_acked(id, size.into());
                }
                connection.on_ack_end(now, bytes.number());
            }
            6 => {
                let id = PacketId { sent: Time::from_ns(bytes.number()), number: bytes.number() };
                connection.on_packet_acked(id, bytes.number());
                connection.on_ack_end(now, 0);
            }
            7 => {
                let from = bytes.number() as usize % sent.len().max(1);
                let lost = sent.get(from).copied().unwrap_or_default();
                connection.on_packet_lost(lost.0.number, lost.1.into());
                let kinds = [Congestion::Loss, Congestion::Mark, Congestion::Persistent];
                let kind = kinds[usize::from(bytes.byte()) % kinds.len()];
                connection.on_congestion(now, kind, lost.0.sent, lost.1.into());
            }
            8 => {
                for &(id, size) in &sent {
                    connection.on_packet_lost(id.number, size.into());
                    connection.on_congestion(now, Congestion::Loss, id.sent, size.into());
                }
                connection.on_congestion(now, Congestion::Persistent, now, bytes.number());
            }
            9 => connection.on_spurious_congestion(now),
            10 => {
                mtu = 1200 + u16::from(bytes.byte()) * 32;
                connection.on_mtu(mtu);
            }
            _ => match bytes.byte() % 3 {
                0 => connection.on_rebinding(),
                1 => connection.on_window_limited(),
                _ => connection.on_app_limited(),
            },
        }
        let (window, flight) = (connection.window_bytes(), connection.in_flight_bytes());
        assert!(window >= 1200, "{window} after call {call}");
        assert!(window <= WINDOW_MAX + flight, "{window} after call {call}");
        assert_ne!(connection.pacing_bytes_per_s(), Some(0), "a rate of nothing after call {call}");
    }
    connection
}
