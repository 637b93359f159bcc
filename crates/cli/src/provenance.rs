//! How to make an output again: the version and the command.

use std::env;
use std::ffi::OsString;

use rampcc_experiment::VERSION;
pub(crate) use rampcc_trace::quoted;

/// The version with what this build can do.
pub(crate) fn long_version() -> String {
    let features = if cfg!(feature = "linux") {
        "linux (the algorithms in the kernel: --on linux, attach, trial)"
    } else {
        "none (without `linux`: no algorithms in the kernel)"
    };
    format!("{VERSION}\nfeatures: {features}")
}

/// Options that change where and how results appear, not what they are.
const WITHOUT_VALUE: [&str; 3] = ["--json", "--csv", "--no-cache"];
const WITH_VALUE: [&str; 6] = ["--out", "-o", "--jobs", "-j", "--color", "--into"];

/// The command as typed, less the options that do not change results, quoted for a shell.
pub(crate) fn command() -> String {
    canonical(env::args_os().skip(1))
}

/// The command as typed, all of it, quoted for a shell.
pub(crate) fn typed() -> String {
    env::args_os().skip(1).fold("ramp".to_owned(), |line, word| line + " " + &quoted(&word))
}

fn canonical(arguments: impl Iterator<Item = OsString>) -> String {
    let mut words = vec!["ramp".to_owned()];
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy();
        let option = text.split_once('=').map_or(&*text, |(option, _)| option);
        // A short option's value may stand right behind it: `-j4`.
        let option = if option.starts_with('-') && !option.starts_with("--") {
            option.get(..2).unwrap_or(option)
        } else {
            option
        };
        let attached = option.len() < text.len();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_options_do_not_change_the_command() {
        for jobs in ["-j 2", "-j2", "-j=2", "--jobs 2", "--jobs=2", "-ob", "-o b"] {
            let typed =
                format!("compare geo-satellite --out a --runs 3 --json {jobs} --color=never --seed 4");
            assert_eq!(
                canonical(typed.split(' ').map(OsString::from)),
                "ramp compare geo-satellite --runs 3 --seed 4"
            );
        }
    }
}
