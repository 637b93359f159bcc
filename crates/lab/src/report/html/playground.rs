//! Links to the playground, which plays in the browser.

use std::fmt::Write;
use std::sync::OnceLock;

use rampcc_trace::{Provenance, words};

use super::text::{Html, Text};

/// The playground's place on the site.
const SITE: &str = concat!(env!("CARGO_PKG_HOMEPAGE"), "playground.html");

static PLACE: OnceLock<String> = OnceLock::new();

/// The address of the playground in all pages that this process makes from now on: absolute, or relative to them; empty for no
/// links. Without a call it is the site's. Only the first call counts.
pub fn playground_at(address: &str) {
    let _ = PLACE.set(address.to_owned());
}

/// Options of a command that choose rows and runs, long and short.
const KEPT: [(&str, &str); 4] =
    [("algorithms", "-a"), ("runs", "-n"), ("seed", "--seed"), ("neighbours", "--neighbours")];

/// A link to the playground with the path, the rows and the seed of a comparison; `None`: there shall be none, or the playground
/// cannot play it.
pub fn playground_link(made: &Provenance) -> Option<String> {
    let place = PLACE.get().map_or(SITE, String::as_str);
    if place.is_empty() || !made.backend.starts_with("sim") || made.scenario_text.is_empty() {
        return None;
    }
    Some(format!("{place}#{}", fragment(made)))
}

/// A link to the playground with a scenario's text and with rows.
pub fn playground_link_to(text: &str, rows: &str, seed: u64) -> Option<String> {
    let place = PLACE.get().map_or(SITE, String::as_str);
    let rows = if rows.is_empty() { "default" } else { rows };
    let fields = [("text", text), ("algorithms", rows), ("seed", &seed.to_string())];
    (!place.is_empty()).then(|| format!("{place}#{}", encoded(&fields)))
}

/// The element; `class` is ours.
pub(super) fn link(html: &mut Html, made: &Provenance, class: &str) {
    if let Some(address) = playground_link(made) {
        html.add(format_args!(
            "<a class=\"{class}\" href=\"{}\" title=\"Play and change this path in the browser\">Open in the playground</a>",
            Text(&address)
        ));
    }
}

fn fragment(made: &Provenance) -> String {
    let given = words(&made.command);
    let mut kept: Vec<(&str, String)> = Vec::new();
    // A scenario that ships, as it is, goes by its name.
    let mut plain = true;
    let mut rest = given.iter().skip(2);
    while let Some(word) = rest.next() {
        let (option, attached) = word.split_once('=').map_or((word.as_str(), None), |(o, v)| (o, Some(v)));
        let is = |(long, short): &&(&str, &str)| option == *short || option.strip_prefix("--") == Some(long);
        match KEPT.iter().find(is) {
            Some((name, _)) => {
                let value = attached.map(str::to_owned).or_else(|| rest.next().cloned());
                kept.extend(value.map(|value| (*name, value)));
            }
            None if word == "--exact" => kept.push(("neighbours", "0".to_owned())),
            None if word.starts_with('-') => plain = false,
            None => plain &= *word == made.scenario && !word.contains(['.', '/', ':']),
        }
    }
    if !kept.iter().any(|(name, _)| *name == "algorithms") {
        kept.push(("algorithms", "default".to_owned()));
    }
    if !kept.iter().any(|(name, _)| *name == "seed") {
        kept.push(("seed", made.seed.to_string()));
    }
    let path = if plain && given.get(1).is_some_and(|word| word == "compare") {
        ("scenario", made.scenario.as_str())
    } else {
        ("text", made.scenario_text.as_str())
    };
    let fields: Vec<(&str, &str)> =
        std::iter::once(path).chain(kept.iter().map(|(name, value)| (*name, value.as_str()))).collect();
    encoded(&fields)
}

/// `application/x-www-form-urlencoded`.
fn encoded(fields: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (name, value) in fields {
        let between = if text.is_empty() { "" } else { "&" };
        write!(text, "{between}{name}=").expect("a string grows");
        for byte in value.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'*' | b'-' | b'.' | b'_' => text.push(byte.into()),
                b' ' => text.push('+'),
                other => write!(text, "%{other:02X}").expect("a string grows"),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: &str) -> String {
        let made = Provenance {
            command: command.to_owned(),
            backend: "sim+1".to_owned(),
            scenario: "cable".to_owned(),
            scenario_text: "size = 1 & more".to_owned(),
            seed: 1,
            ..Provenance::default()
        };
        let link = playground_link(&made).unwrap();
        link.strip_prefix("https://ramp-startup.github.io/ramp/playground.html#").unwrap().to_owned()
    }

    #[test]
    fn a_shipped_path_goes_by_its_name_and_another_by_its_text() {
        assert_eq!(of("ramp compare"), "scenario=cable&algorithms=default&seed=1");
        assert_eq!(
            of("ramp compare cable -a best,late=hystart:low_window=64 --runs=3 --seed 7 --exact"),
            "scenario=cable&algorithms=best%2Clate%3Dhystart%3Alow_window%3D64&runs=3&seed=7&neighbours=0"
        );
        let text = "text=size+%3D+1+%26+more&algorithms=default&seed=1";
        for other in ["cable --loss 1%", "./cable.toml", "league:cable-07", "--rate '100 Mbit/s' --rtt 40ms"]
        {
            assert_eq!(of(&format!("ramp compare {other}")), text, "{other}");
        }
    }
}
