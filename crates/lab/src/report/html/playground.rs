//! Links to the playground, which plays in the browser.

use std::sync::OnceLock;

use rampcc_trace::{Provenance, words};

use super::text::{Html, Text, encoded};

static PLACE: OnceLock<String> = OnceLock::new();

/// The address of the playground in all pages that this process makes from now on: absolute, or relative to them; empty for no
/// links, as without a call: the server of another project is not a place of ours. Only the first call counts.
pub fn playground_at(address: &str) {
    let _ = PLACE.set(address.to_owned());
}

/// Options of `ramp compare` that the playground has under the same names, with their short forms.
const KNOWN: [(&str, &str); 17] = [
    ("algorithms", "-a"),
    ("runs", "-n"),
    ("seed", ""),
    ("neighbours", ""),
    ("uncertain", ""),
    ("set", ""),
    ("rate", ""),
    ("rtt", ""),
    ("buffer", ""),
    ("size", ""),
    ("trace", ""),
    ("loss", ""),
    ("queue", ""),
    ("jitter", ""),
    ("reverse-rate", ""),
    ("profile", ""),
    ("duration", ""),
];
/// Those that are left of a command whose path goes as a text: rows and runs.
const ROWS: usize = 4;

/// Where the playground is; `None`: pages shall have no links to it.
pub fn playground_place() -> Option<&'static str> {
    PLACE.get().map(String::as_str).filter(|place| !place.is_empty())
}

/// A link to the playground with the path, the rows and the seed of a comparison; `None`: there shall be none, or the playground
/// cannot play it.
pub fn playground_link(made: &Provenance) -> Option<String> {
    let place = playground_place()?;
    if !made.backend.starts_with("sim") || made.scenario_text.is_empty() {
        return None;
    }
    let (fields, whole) = fields(&made.command);
    let mut fields = fields;
    let path = |(name, _): &(&str, String)| !KNOWN[..ROWS].iter().any(|(known, _)| known == name);
    if !whole {
        fields.retain(|field| !path(field));
        fields.insert(0, ("text", made.scenario_text.clone()));
    } else if !fields.iter().any(path) {
        fields.insert(0, ("scenario", made.scenario.clone()));
    }
    for (name, usual) in [("algorithms", "default".to_owned()), ("seed", made.seed.to_string())] {
        if !fields.iter().any(|(known, _)| *known == name) {
            fields.push((name, usual));
        }
    }
    Some(format!("{place}#{}", form(&fields)))
}

/// The element for a comparison.
pub(super) fn link(html: &mut Html, made: &Provenance) {
    if let Some(address) = playground_link(made) {
        element(html, &address);
    }
}

/// The element for a command, where the playground can play it.
pub(super) fn link_of_command(html: &mut Html, command: &str) {
    let Some(place) = playground_place() else { return };
    let (fields, whole) = fields(command);
    if whole && command.starts_with("ramp compare") {
        element(html, &format!("{place}#{}", form(&fields)));
    }
}

fn element(html: &mut Html, address: &str) {
    html.add(format_args!(
        "<a class=\"open\" href=\"{}\" title=\"Play and change this path in the browser\">Open in the playground</a>",
        Text(address)
    ));
}

/// What the playground knows of a command, and whether that is all of it.
fn fields(command: &str) -> (Vec<(&'static str, String)>, bool) {
    let given = words(command);
    let mut fields = Vec::new();
    let mut whole = given.get(1).is_some_and(|word| word == "compare");
    let mut rest = given.iter().skip(2);
    while let Some(word) = rest.next() {
        let (option, attached) = word.split_once('=').map_or((word.as_str(), None), |(o, v)| (o, Some(v)));
        let is = |(long, short): &&(&str, &str)| {
            option.strip_prefix("--") == Some(long) || (!short.is_empty() && option == *short)
        };
        match KNOWN.iter().find(is) {
            Some((name, _)) => {
                let value = attached.map(str::to_owned).or_else(|| rest.next().cloned()).unwrap_or_default();
                // A file stays where it is.
                whole &= *name != "trace" || value.starts_with("ramp:");
                fields.push((*name, value));
            }
            None if word == "--exact" => fields.push(("neighbours", "0".to_owned())),
            None if word.starts_with('-') => whole = false,
            None => {
                whole &= !word.contains(['.', '/', ':']);
                fields.push(("scenario", word.clone()));
            }
        }
    }
    (fields, whole)
}

/// `application/x-www-form-urlencoded`.
fn form(fields: &[(&str, String)]) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"*-._ ".contains(&byte);
    let field =
        |(name, value): &(&str, String)| format!("{name}={}", encoded(value, plain).replace(' ', "+"));
    fields.iter().map(field).collect::<Vec<_>>().join("&")
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
        playground_at("../index.html");
        let link = playground_link(&made).unwrap();
        link.strip_prefix("../index.html#").unwrap().to_owned()
    }

    #[test]
    fn what_the_playground_knows_goes_by_the_command_and_another_path_by_its_text() {
        assert_eq!(of("ramp compare"), "scenario=cable&algorithms=default&seed=1");
        assert_eq!(
            of("ramp compare cable -a best,late=hystart:low_window=64 --runs=3 --seed 7 --exact"),
            "scenario=cable&algorithms=best%2Clate%3Dhystart%3Alow_window%3D64&runs=3&seed=7&neighbours=0"
        );
        assert_eq!(
            of("ramp compare --rate '10 Mbit/s' --rtt 40ms --set path.loss=1%"),
            "rate=10+Mbit%2Fs&rtt=40ms&set=path.loss%3D1%25&algorithms=default&seed=1"
        );
        let text = "text=size+%3D+1+%26+more&algorithms=best&seed=1";
        for other in
            ["./cable.toml", "league:cable-07", "--trace link.down --rtt 40ms", "cable --candidate a.h"]
        {
            assert_eq!(of(&format!("ramp compare {other} -a best")), text, "{other}");
        }
    }
}
