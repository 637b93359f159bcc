//! Values of a sweep as numbers on one axis.

/// The values as numbers on one scale, if they are: `5 Mbit/s` and `1 Gbit/s` are, `1 bdp` and `36 MB` are not.
pub(super) fn numbers(texts: &[&str]) -> Option<Vec<f64>> {
    let mut dimension = None;
    let mut numbers = Vec::new();
    for text in texts {
        let (number, kind) = quantity(text)?;
        if dimension.get_or_insert_with(|| kind.clone()) != &kind {
            return None;
        }
        numbers.push(number);
    }
    Some(numbers)
}

/// A number in the base unit of what it measures.
fn quantity(text: &str) -> Option<(f64, String)> {
    const FACTORS: [(&str, f64, &str); 20] = [
        ("ns", 1e-9, "time"),
        ("us", 1e-6, "time"),
        ("µs", 1e-6, "time"),
        ("ms", 1e-3, "time"),
        ("s", 1.0, "time"),
        ("min", 60.0, "time"),
        ("h", 3600.0, "time"),
        ("bit/s", 1.0, "rate"),
        ("kbit/s", 1e3, "rate"),
        ("mbit/s", 1e6, "rate"),
        ("gbit/s", 1e9, "rate"),
        ("bit", 1.0, "rate"),
        ("kbit", 1e3, "rate"),
        ("mbit", 1e6, "rate"),
        ("gbit", 1e9, "rate"),
        ("b", 1.0, "bytes"),
        ("kb", 1e3, "bytes"),
        ("mb", 1e6, "bytes"),
        ("gb", 1e9, "bytes"),
        ("%", 0.01, "share"),
    ];
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || ".+-_".contains(c))).unwrap_or(text.len());
    let number: f64 = text[..end].replace('_', "").parse().ok()?;
    let unit = text[end..].trim().to_lowercase();
    match FACTORS.iter().find(|(name, _, _)| *name == unit) {
        Some((_, factor, kind)) => Some((number * factor, (*kind).to_owned())),
        None => Some((number, unit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_share_a_scale_or_are_names() {
        assert_eq!(numbers(&["5mbit", "1 Gbit/s"]), Some(vec![5e6, 1e9]));
        assert_eq!(numbers(&["0.25 bdp", "4 bdp"]), Some(vec![0.25, 4.0]));
        assert_eq!(numbers(&["16", "32"]), Some(vec![16.0, 32.0]));
        assert_eq!(numbers(&["1 bdp", "36 MB"]), None);
        assert_eq!(numbers(&["drop-tail", "codel"]), None);
        assert_eq!(numbers(&["unlimited"]), None);
    }
}
