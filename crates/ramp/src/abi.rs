//! Mirror of `include/ramp/interface.h`; all calls into C are in `calls`.
#![expect(unsafe_code, reason = "the only border between Rust and the C core")]

mod calls;

use crate::Algorithm;

pub use calls::foreign_algorithms;
pub(crate) use calls::{Functions, Row, State, rows};

include!(concat!(env!("OUT_DIR"), "/lists.rs"));
include!(concat!(env!("OUT_DIR"), "/structures.rs"));

/// One number of a structure of the contract.
pub struct Field<T> {
    /// As C names it.
    pub name: &'static str,
    /// Largest value.
    pub max: u64,
    /// Its value.
    pub get: fn(&T) -> u64,
    /// Sets it to a value that is not above `max`.
    pub set: fn(&mut T, u64),
}

/// No value: `RAMP_UNSET`.
pub const UNSET: u64 = u64::MAX;
/// In [`Decision::pacing_bytes_per_s`]: unspaced, whatever the host does for others.
pub const BACK_TO_BACK: u64 = UNSET;
/// The most parameters one algorithm may have: `RAMP_PARAMETERS_MAX`.
pub const PARAMETERS_MAX: usize = 24;

/// `ramp_config.flags`.
pub struct ConfigFlags;
impl ConfigFlags {
    /// The receiver may acknowledge every second packet.
    pub const DELAYED_ACKS: u32 = 1;
}

/// `ramp_ack.flags`.
pub struct AckFlags;
impl AckFlags {
    /// The window, not the application or the receiver, held the sender back.
    pub const CWND_LIMITED: u32 = 1;
    /// The newest acknowledged packet was sent with nothing more to send.
    pub const APP_LIMITED: u32 = 2;
    /// This ACK reports congestion marks.
    pub const ECE: u32 = 4;
    /// The host paces now, so ACK trains are spread.
    pub const PACED: u32 = 8;
    /// Fast recovery: the window is the host's own for now.
    pub const RECOVERING: u32 = 16;
    /// The rate sample holds pauses of the application.
    pub const RATE_APP_LIMITED: u32 = 32;
}

/// Properties of an algorithm that a host must know before it runs: bits of `RAMP_TRAITS`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Traits(u32);

/// One bit of [`Traits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trait {
    /// The bit.
    pub bit: Traits,
    /// As command lines and tables spell it.
    pub word: &'static str,
    /// What it says of an algorithm.
    pub meaning: &'static str,
}

impl Traits {
    /// No trait: every row has it.
    pub const NONE: Self = Self(0);

    /// True if it has all of these.
    pub const fn has(self, traits: Self) -> bool {
        self.0 & traits.0 == traits.0
    }

    pub(crate) const fn of_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// As C has them.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Words of all it has.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        self.of(&Self::ALL).map(|each| each.word)
    }

    /// What an algorithm needs from its host or the path.
    pub fn needs(self) -> impl Iterator<Item = &'static Trait> {
        self.of(&Self::NEEDS)
    }

    /// Families that an algorithm is in.
    pub fn families(self) -> impl Iterator<Item = &'static Trait> {
        self.of(&Self::FAMILIES)
    }

    fn of(self, list: &'static [Trait]) -> impl Iterator<Item = &'static Trait> {
        list.iter().filter(move |each| self.has(each.bit))
    }
}

impl Hint {
    /// Nothing is known.
    pub const NONE: Self = Self::of(HintSource::None);

    /// A hint from there, which says nothing yet.
    pub const fn of(source: HintSource) -> Self {
        Self { source: source as u32, ..Self::ZERO }
    }

    /// The path itself, which only a yardstick knows.
    pub const fn path(window_bytes: u64, bytes_per_s: u64) -> Self {
        Self { window_bytes, bytes_per_s, ..Self::of(HintSource::Path) }
    }

    /// Whose knowledge it is.
    pub fn source(&self) -> HintSource {
        HintSource::from_number(self.source).unwrap_or_default()
    }
}

impl Default for Hint {
    fn default() -> Self {
        Self::NONE
    }
}

impl Config {
    /// A connection of which nothing is known but the size of its segments and its initial window, with the defaults of
    /// the algorithm's parameters.
    pub fn new(algorithm: &Algorithm, mss_bytes: u32, initial_window_packets: u64) -> Self {
        Self {
            mss_bytes,
            flags: 0,
            initial_window_bytes: initial_window_packets.saturating_mul(u64::from(mss_bytes)),
            initial_ssthresh_bytes: UNSET,
            size_bytes: 0,
            receive_window_bytes: UNSET,
            now_ns: 0,
            abc_limit_packets: 0,
            handshake_rtt_us: 0,
            unpaced_packets: 0,
            tsval: 0,
            hint: Hint::NONE,
            parameter: algorithm.default_parameters(),
        }
    }
}

impl Default for Ack {
    /// All zero but the receive window, which is not in the way.
    fn default() -> Self {
        Self { receive_window_bytes: UNSET, ..Self::ZERO }
    }
}

impl Decision {
    /// A decision before any algorithm has spoken.
    pub const fn new() -> Self {
        Self { ssthresh_bytes: UNSET, ..Self::ZERO }
    }

    /// The same in this phase, for this reason.
    #[must_use]
    pub const fn placed(mut self, phase: Phase, exit_reason: ExitReason) -> Self {
        self.phase = phase as u32;
        self.exit_reason = exit_reason as u32;
        self
    }

    /// Phase of the connection's start-up.
    #[inline]
    pub fn phase(&self) -> Phase {
        Phase::from_number(self.phase).unwrap_or(Phase::Done)
    }

    /// Reason of the end of start-up.
    pub fn exit_reason(&self) -> ExitReason {
        ExitReason::from_number(self.exit_reason).unwrap_or_default()
    }
}

impl Default for Decision {
    fn default() -> Self {
        Self::new()
    }
}

impl ExitReason {
    /// Unit of evidence and limit; empty: there are none.
    pub const fn unit(self) -> &'static str {
        Self::TEXTS[self as usize][1]
    }

    /// The deciding comparison in words, each side as `side` writes it.
    pub fn comparison(self, evidence: u64, limit: u64, side: impl Fn(u64) -> String) -> String {
        let text = Self::TEXTS[self as usize][3];
        if text.contains("{evidence}") && evidence == 0 && limit == 0 {
            // The observer of the exit did not see the numbers.
            return self.clause().to_owned();
        }
        let text = match text.split_once('[') {
            None => text.to_owned(),
            Some((always, optional)) => {
                let (optional, rest) = optional.split_once(']').unwrap_or((optional, ""));
                format!("{always}{}{rest}", if limit == 0 { "" } else { optional })
            }
        };
        text.replace("{evidence}", &side(evidence))
            .replace("{limit}", &side(limit))
            .replace("{share}", &Self::share(evidence, limit))
    }

    /// `± 6 %`: by how much an estimate may be off.
    pub fn share(off: u64, estimate: u64) -> String {
        let percent = 100.0 * off as f64 / estimate.max(1) as f64;
        let digits = usize::from(percent < 9.95);
        let text = format!("{percent:.digits$}");
        format!("± {} %", text.strip_suffix(".0").unwrap_or(&text))
    }

    /// Whether limit is an estimate, and evidence by how much it may be off.
    pub fn is_estimate(self) -> bool {
        Self::TEXTS[self as usize][2] == "estimate"
    }

    /// The same as a clause about "it", without numbers.
    pub const fn clause(self) -> &'static str {
        Self::TEXTS[self as usize][4]
    }

    /// True if the path ended start-up, by a loss, a mark or a timeout, and not the algorithm.
    pub const fn is_congestion(self) -> bool {
        matches!(self, Self::Loss | Self::Ecn | Self::Timeout)
    }
}

macro_rules! as_bytes {
    ($($type:ty),+) => {$(
        impl $type {
            /// As it lies in memory, here and in C: what a BPF program is handed.
            pub fn bytes(&self) -> &[u8] {
                // SAFETY: integers and enumerations of integers without padding between or behind them (a test looks at
                // every field), so each byte is initialised.
                unsafe { std::slice::from_raw_parts(std::ptr::from_ref(self).cast(), size_of::<Self>()) }
            }
        }
    )+};
}

as_bytes!(Config, Ack, Event, Decision);

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    unsafe extern "C" {
        static ramp_layout: usize;
        static ramp_layout_count: usize;
        static ramp_numbers: u64;
        static ramp_number_count: usize;
    }

    /// Offset and size of each field.
    macro_rules! layout {
        ($type:ty: $($field:ident),+) => {{
            const fn size<T, F>(_: fn(&T) -> &F) -> usize {
                size_of::<F>()
            }
            let fields = [$(offset_of!($type, $field), size(|value: &$type| &value.$field)),+];
            let total: usize = fields.chunks(2).map(|f| f[1]).sum();
            assert_eq!(total, size_of::<$type>(), "{} has hidden padding", stringify!($type));
            [vec![size_of::<$type>()], fields.to_vec()].concat()
        }};
    }

    #[test]
    fn rust_mirrors_every_field_of_the_interface() {
        let mirror = include!(concat!(env!("OUT_DIR"), "/layout.rs")).concat();
        // SAFETY: `ramp_layout` is an array of `ramp_layout_count` constants.
        let layout = unsafe { std::slice::from_raw_parts(&raw const ramp_layout, ramp_layout_count) };
        assert_eq!(mirror, layout);
    }

    #[test]
    fn rust_writes_the_same_numbers_as_the_interface() {
        let mirror = [
            UNSET,
            0,
            BACK_TO_BACK,
            PARAMETERS_MAX as u64,
            ConfigFlags::DELAYED_ACKS.into(),
            AckFlags::CWND_LIMITED.into(),
            AckFlags::APP_LIMITED.into(),
            AckFlags::ECE.into(),
            AckFlags::PACED.into(),
            AckFlags::RECOVERING.into(),
            AckFlags::RATE_APP_LIMITED.into(),
        ];
        // SAFETY: `ramp_numbers` is an array of `ramp_number_count` constants.
        let numbers = unsafe { std::slice::from_raw_parts(&raw const ramp_numbers, ramp_number_count) };
        assert_eq!(mirror, numbers);
    }
}
