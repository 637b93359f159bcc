//! Quick-Start's options (RFC 4782): what hosts ask of routers, and how a rate is written.

use rampcc::Rate;

/// What a packet asks of the routers that it passes, or tells them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuickStart {
    /// Whether it asks for a rate, or reports the one that was granted.
    pub kind: QuickStartKind,
    /// The rate: 40 kbit/s times two to the power of this; 0: none.
    pub code: u8,
    /// A router has passed it on that does not know the option: the difference of its time to live from the option's
    /// own is no longer what it was.
    pub unheeded: bool,
}

/// Why the option is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuickStartKind {
    /// Rate Request, and its echo in the answer.
    Request,
    /// Report of Approved Rate.
    Report,
}

impl QuickStart {
    /// The largest rate that can be asked for: 1.31072 Gbit/s.
    pub const CODE_MAX: u8 = 15;

    /// Asks for the largest rate; routers lower it.
    pub const fn request() -> Self {
        Self { kind: QuickStartKind::Request, code: Self::CODE_MAX, unheeded: false }
    }

    /// Reports the rate that was granted.
    pub const fn report(code: u8) -> Self {
        Self { kind: QuickStartKind::Report, code, unheeded: false }
    }

    /// The rate of a code (RFC 4782 §3.1).
    pub const fn rate(code: u8) -> Rate {
        Rate::from_bits_per_s(if code == 0 { 0 } else { 40_000 << code })
    }

    /// The code of the largest rate that is no larger; 0: none.
    pub fn code_within(rate: Rate) -> u8 {
        (1..=Self::CODE_MAX).rev().find(|&code| Self::rate(code) <= rate).unwrap_or(0)
    }

    /// The rate that an answer grants if the largest was asked for: every router heeded it, and none refused.
    pub fn granted(self) -> Option<u8> {
        (self.kind == QuickStartKind::Request && !self.unheeded && self.code > 0).then_some(self.code)
    }

    /// As one word that is not 0.
    pub(crate) fn packed(self) -> u32 {
        let kind = if self.kind == QuickStartKind::Request { 1 } else { 2 };
        u32::from(self.code) | u32::from(self.unheeded) << 8 | kind << 16
    }

    /// What [`QuickStart::packed`] has packed; 0: there is no option.
    pub(crate) fn unpacked(word: u32) -> Option<Self> {
        let kind = match word >> 16 {
            1 => QuickStartKind::Request,
            2 => QuickStartKind::Report,
            _ => return None,
        };
        Some(Self { kind, code: (word & 0xff) as u8, unheeded: word & 0x100 != 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4782 §3.1, and what a wish of 0.079, 0.1, 1, 10, 1000 and 2000 Mbit/s may ask for.
    #[test]
    fn rates_are_powers_of_two() {
        for (code, kbits) in [(0, 0), (1, 80), (2, 160), (5, 1280), (10, 40_960), (15, 1_310_720)] {
            assert_eq!(QuickStart::rate(code), Rate::from_bits_per_s(kbits * 1000));
        }
        for (kbits, code) in
            [(79, 0), (80, 1), (100, 1), (1000, 4), (10_000, 7), (1_000_000, 14), (2_000_000, 15)]
        {
            assert_eq!(QuickStart::code_within(Rate::from_bits_per_s(kbits * 1000)), code, "{kbits}");
        }
    }

    #[test]
    fn an_option_survives_its_packing() {
        for option in [
            QuickStart::request(),
            QuickStart::report(7),
            QuickStart { unheeded: true, ..QuickStart::request() },
        ] {
            assert_eq!(QuickStart::unpacked(option.packed()), Some(option));
        }
        assert_eq!(QuickStart::unpacked(0), None);
    }

    #[test]
    fn a_grant_needs_every_router() {
        assert_eq!(QuickStart { code: 9, ..QuickStart::request() }.granted(), Some(9));
        assert_eq!(QuickStart { code: 0, ..QuickStart::request() }.granted(), None);
        assert_eq!(QuickStart { unheeded: true, ..QuickStart::request() }.granted(), None);
        assert_eq!(QuickStart::report(9).granted(), None);
    }
}
