//! Whether this host has what a row names: found before anything is played.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::row::{Program, ProgramError};
use crate::kernel_release;

const CONTROLS: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

impl Program {
    /// Fails where this kernel has not the congestion control, or the shell does not find a command.
    pub fn check_here(&self) -> Result<(), ProgramError> {
        if let Some(control) = &self.congestion_control {
            let known = fs::read_to_string(CONTROLS).unwrap_or_default();
            let known: Vec<&str> = known.split_whitespace().collect();
            if !known.is_empty() && !known.contains(&control.as_str()) && !is_module(control) {
                let allowed = known.join(", ");
                return Err(self.wrong(&format!(
                    "this kernel has no congestion control `{control}`; it has {allowed} ({CONTROLS})"
                )));
            }
        }
        let commands = [("server", Some(self.server.as_str())), ("client", self.client.as_deref())];
        for (whose, command) in commands {
            if let Some(word) = command.and_then(program_of).filter(|word| !is_found(word)) {
                return Err(self.wrong(&format!("the shell does not find `{word}`, the {whose}'s command")));
            }
        }
        Ok(())
    }

    fn wrong(&self, problem: &str) -> ProgramError {
        ProgramError(format!("row `{}`: {problem}", self.name))
    }
}

/// Whether the kernel loads a congestion control when it is asked for.
fn is_module(control: &str) -> bool {
    let index = Path::new("/lib/modules").join(kernel_release()).join("modules.dep");
    let file = format!("/tcp_{control}.ko");
    fs::read_to_string(index).is_ok_and(|index| index.lines().any(|line| line.contains(&file)))
}

/// The program that a command line begins with; `None`: only the shell can tell.
fn program_of(line: &str) -> Option<&str> {
    let name = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let assigns = |word: &&str| word.split_once('=').is_some_and(|(variable, _)| name(variable));
    let mut words = line.split_whitespace().skip_while(|word| *word == "exec" || assigns(word));
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./+-".contains(c);
    words.next().filter(|word| word.chars().all(plain) && !word.starts_with('-'))
}

/// Whether the shell has a command of that name: a file, or one of its own.
fn is_found(word: &str) -> bool {
    if word.contains('/') {
        return fs::metadata(word).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0);
    }
    let asked = Command::new("/bin/sh")
        .args(["-c", "command -v \"$1\"", "sh", word])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    asked.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(server: &str, client: Option<&str>) -> Option<String> {
        Program::new("a", server, client).unwrap().check_here().err().map(|error| error.to_string())
    }

    #[test]
    fn what_is_not_here_is_told_before_a_run() {
        for good in [
            "sleep 1",
            "exec sleep 1",
            "X=1 exec /bin/sh -c :",
            "echo x; nosuch",
            "{ nosuch; }",
            "if true; then :; fi",
        ] {
            assert_eq!(told(good, None), None, "{good}");
        }
        for bad in ["nosuchserver {port}", "exec nosuchserver", "X=y ./nosuchserver", "/tmp"] {
            assert!(told(bad, None).is_some_and(|told| told.contains("the server's command")), "{bad}");
        }
        let client = told("sleep 1", Some("nosuchclient {url}"));
        assert_eq!(
            client.as_deref(),
            Some("row `a`: the shell does not find `nosuchclient`, the client's command")
        );
    }

    #[test]
    fn a_control_that_the_kernel_lacks_is_told_with_those_that_it_has() {
        let row = || Program::new("a", "sleep 1", None).unwrap();
        assert!(row().with_control("reno").unwrap().check_here().is_ok());
        let error = row().with_control("nosuch").unwrap().check_here().unwrap_err().to_string();
        assert!(
            error.contains("no congestion control `nosuch`; it has ") && error.contains("reno"),
            "{error}"
        );
    }
}
