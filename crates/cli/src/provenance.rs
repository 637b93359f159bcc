//! How to make an output again: the version and the command.

use std::env;

/// Version of ramp with a fingerprint of the sources that decide results: `0.1.0+5d41402a`.
pub(crate) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("RAMP_SOURCE"));

/// Options that change where and how results appear, not what they are.
const WITHOUT_VALUE: [&str; 3] = ["--json", "--csv", "--no-cache"];
const WITH_VALUE: [&str; 5] = ["--out", "-o", "--jobs", "-j", "--color"];

/// The command as typed, less the options that do not change results, quoted for a shell.
pub(crate) fn command() -> String {
    canonical(env::args().skip(1))
}

/// The command as typed, all of it, quoted for a shell.
pub(crate) fn typed() -> String {
    env::args().skip(1).fold("ramp".to_owned(), |line, word| line + " " + &quoted(&word))
}

fn canonical(arguments: impl Iterator<Item = String>) -> String {
    let mut words = vec!["ramp".to_owned()];
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        let option = argument.split_once('=').map_or(argument.as_str(), |(option, _)| option);
        let attached = option.len() < argument.len();
        if WITHOUT_VALUE.contains(&option) {
            continue;
        }
        if WITH_VALUE.contains(&option) {
            if !attached {
                arguments.next();
            }
            continue;
        }
        words.push(quoted(&argument));
    }
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+%@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_options_do_not_change_the_command() {
        let typed = "compare geo-satellite --out a --runs 3 --json -j 2 --color=never --seed 4";
        assert_eq!(
            canonical(typed.split(' ').map(str::to_owned)),
            "ramp compare geo-satellite --runs 3 --seed 4"
        );
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("100 Mbit/s"), "'100 Mbit/s'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("a=b,c"), "a=b,c");
    }
}
