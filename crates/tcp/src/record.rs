//! One outstanding segment, and what an ACK says of it.

use rampcc::Time;
use rampcc_avoidance::Stamp;

/// One outstanding segment, as of its last transmission.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Record {
    /// When it was last sent.
    pub(crate) sent: Time,
    /// The sender's total of sent bytes just after.
    pub(crate) sent_bytes: u64,
    /// Of the rate sampler: when the flight that it belongs to began.
    pub(crate) first_sent: Time,
    /// Of the rate sampler: bytes delivered when it left, and when that was.
    pub(crate) delivered: u64,
    pub(crate) delivered_at: Time,
    pub(crate) bytes: u32,
    pub(crate) flags: u8,
}

impl Record {
    /// What the rate sampler left with it.
    #[inline]
    pub(crate) fn stamp(&self) -> Stamp {
        let Self { sent, first_sent, delivered, delivered_at, .. } = *self;
        Stamp { sent, first_sent, delivered, delivered_at }
    }

    /// Of a segment that leaves with this stamp.
    #[inline]
    pub(crate) fn of(stamp: Stamp) -> Self {
        let Stamp { sent, first_sent, delivered, delivered_at } = stamp;
        Self { sent, first_sent, delivered, delivered_at, ..Self::default() }
    }
}

pub(crate) struct Flags;
impl Flags {
    pub(crate) const SACKED: u8 = 1;
    /// Believed lost; stays set while a retransmission is on its way.
    pub(crate) const LOST: u8 = 2;
    /// A retransmission is on its way.
    pub(crate) const RETRANSMITTED: u8 = 4;
    pub(crate) const EVER_RETRANSMITTED: u8 = 8;
    /// Sent with nothing more to send.
    pub(crate) const APP_LIMITED: u8 = 16;
    /// Carries the end of the data.
    pub(crate) const LAST: u8 = 32;
    /// Its bytes count as delivered, although the SACK that said so has been forgotten (ns-2).
    pub(crate) const COUNTED: u8 = 64;
}

/// What one ACK brought.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivery {
    /// Newly delivered payload bytes.
    pub(crate) bytes: u64,
    /// Whether any segment was newly delivered.
    pub(crate) any: bool,
    /// How far the cumulative point moved.
    pub(crate) advanced_segments: u64,
    pub(crate) advanced_bytes: u64,
    /// Whether a segment was newly SACKed.
    pub(crate) sacked: bool,
    /// The newly delivered segment that was sent last.
    pub(crate) newest_number: u64,
    pub(crate) newest: Record,
    /// When the oldest and the newest newly acknowledged segments that were never retransmitted were sent;
    /// `Time::NEVER`: there are none.
    pub(crate) first_clean_sent: Time,
    pub(crate) last_clean_sent: Time,
    /// Whether a segment that was once retransmitted is among them: whose round trip it was is unknown (Karn).
    pub(crate) ambiguous: bool,
    /// The lowest newly delivered number that was never retransmitted: below the highest SACKed one, it shows reordering.
    pub(crate) lowest_clean: u64,
}

impl Delivery {
    /// Nothing so far.
    #[inline]
    pub(crate) fn new() -> Self {
        Self {
            first_clean_sent: Time::NEVER,
            last_clean_sent: Time::NEVER,
            lowest_clean: u64::MAX,
            ..Self::default()
        }
    }

    #[inline]
    pub(crate) fn take(&mut self, number: u64, record: &Record) {
        self.any = true;
        if record.flags & Flags::COUNTED != 0 {
            return;
        }
        self.bytes += u64::from(record.bytes);
        if record.sent >= self.newest.sent {
            self.newest = *record;
            self.newest_number = number;
        }
        if record.flags & Flags::EVER_RETRANSMITTED == 0 {
            if self.first_clean_sent == Time::NEVER {
                self.first_clean_sent = record.sent;
            }
            self.last_clean_sent = record.sent;
            self.lowest_clean = self.lowest_clean.min(number);
        } else {
            self.ambiguous = true;
        }
    }
}
