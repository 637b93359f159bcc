//! How far beyond what was in flight an algorithm may open the window, whatever its host calls window-limited.

/// What the window may not exceed: this, or the first one (the host's, or the one remembered).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum Bound {
    /// Times the most that was ever in flight, tenths, and a packet.
    Flights(u64),
    /// With the first window, all that was acknowledged, times.
    Acknowledged(u64),
}

/// Three flights where a row paces, or grows beyond doubling.
pub(crate) const FLIGHTS: Bound = Bound::Flights(30);

/// The bound of a row, and why it is not [`FLIGHTS`].
pub(crate) fn bound(id: &str) -> (Bound, &'static str) {
    match id {
        "slow_start" | "limited" | "hystart11" | "hystart" | "hystartpp" | "astart" | "capstart"
        | "inflight" | "smooth" | "best" | "enhanced" | "search" | "search4" | "hoe" | "vegas"
        | "vegas_lin" | "esse" | "tris" | "hystart_pq" => (
            Bound::Acknowledged(1),
            "RFC 5681: it grows by what is acknowledged, and use is the host's to judge",
        ),
        "quickstart" => {
            (Bound::Acknowledged(1), "RFC 4782: the same after a grant, which has been used or taken back")
        }
        "paced" => (
            Bound::Acknowledged(2),
            "[HS03]: a train is twice as long as the one before it, which has been sent whole, however slowly",
        ),
        "bbr" | "bbr3" | "bbr_quic" => (
            Bound::Acknowledged(1),
            "by what is acknowledged until as much as the first window is delivered, then 2.89 BDPs",
        ),
        "quicly" => {
            (Bound::Flights(40), "its jump to 20 packets needs half of a first window of 10 in flight")
        }
        _ => (FLIGHTS, "the rule"),
    }
}
