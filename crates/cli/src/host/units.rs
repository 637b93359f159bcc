//! Figures of live connections as people read them.

use rampcc::ExitReason;
use rampcc::figures::{decimals, multiple};

/// Two or three digits that tell.
pub(crate) fn number(value: f64) -> String {
    let digits = match value.abs() {
        size if size < 1e-9 => 0,
        size if size < 0.1 => 3,
        size if size < 1.0 => 2,
        size if size < 100.0 => 1,
        _ => 0,
    };
    decimals(value, digits)
}

/// `61.2 ms`.
pub(crate) fn seconds(value: f64) -> String {
    match value.abs() {
        size if size >= 120.0 => format!("{} min", number(value / 60.0)),
        size if size >= 1.0 => format!("{} s", number(value)),
        size if size >= 1e-3 || size <= 0.0 => format!("{} ms", number(value * 1e3)),
        _ => format!("{} us", number(value * 1e6)),
    }
}

/// `174 kB`.
pub(crate) fn bytes(value: u64) -> String {
    multiple(value as f64, "B", number)
}

/// `38 Mbit/s`, of payload bytes per second.
pub(crate) fn rate(bytes_per_s: u64) -> String {
    multiple(bytes_per_s as f64 * 8.0, "bit/s", number)
}

/// The two sides of the comparison that ended a start-up, `61.2 ms against 60 ms`, or the estimate that did, `1.87 MB ± 6 %`.
pub(crate) fn evidence(reason: ExitReason, evidence: u64, limit: u64) -> Option<String> {
    if evidence == 0 && limit == 0 {
        return None;
    }
    let side = |value: u64| match reason.unit() {
        "bytes" => Some(bytes(value)),
        "us" => Some(seconds(value as f64 * 1e-6)),
        "ns" => Some(seconds(value as f64 * 1e-9)),
        "bytes/s" => Some(rate(value)),
        _ => None,
    };
    if reason.is_estimate() {
        return Some(format!("{} {}", side(limit)?, ExitReason::share(evidence, limit)));
    }
    if reason.is_congestion() {
        let lost = (evidence > 0).then(|| format!("{} lost", bytes(evidence)));
        let proved = (limit > 0).then(|| format!("BDP of {} proved", bytes(limit)));
        return Some(lost.into_iter().chain(proved).collect::<Vec<_>>().join(", "));
    }
    if limit == 0 {
        return side(evidence);
    }
    Some(format!("{} against {}", side(evidence)?, side(limit)?))
}

#[cfg(test)]
mod tests {
    use rampcc::ExitReason;

    use super::{bytes, evidence, rate, seconds};

    #[test]
    fn figures_keep_the_digits_that_tell() {
        assert_eq!(
            [seconds(0.0612), seconds(2.0), seconds(0.000_05), seconds(0.0)],
            ["61.2 ms", "2 s", "50 us", "0 ms"]
        );
        assert_eq!([bytes(173_760), bytes(90), bytes(1_000_000)], ["174 kB", "90 B", "1 MB"]);
        assert_eq!([rate(4_750_000), rate(1_000)], ["38 Mbit/s", "8 kbit/s"]);
    }

    #[test]
    fn evidence_has_its_unit() {
        let delay = evidence(ExitReason::Delay, 61_200, 60_000);
        assert_eq!(delay.as_deref(), Some("61.2 ms against 60 ms"));
        assert_eq!(evidence(ExitReason::Ecn, 0, 0), None);
        assert_eq!(evidence(ExitReason::Loss, 2896, 0).as_deref(), Some("2.9 kB lost"));
        let proved = |reason, lost| evidence(reason, lost, 1_870_000);
        assert_eq!(proved(ExitReason::Loss, 2896).as_deref(), Some("2.9 kB lost, BDP of 1.9 MB proved"));
        assert_eq!(proved(ExitReason::Ecn, 0).as_deref(), Some("BDP of 1.9 MB proved"));
        assert_eq!(proved(ExitReason::Proof, 112_200).as_deref(), Some("1.9 MB ± 6 %"));
        assert_eq!(proved(ExitReason::Share, 5_610).as_deref(), Some("1.9 MB ± 0.3 %"));
        assert_eq!(evidence(ExitReason::Gap, 120_000, 100_000).as_deref(), Some("120 us against 100 us"));
    }
}
