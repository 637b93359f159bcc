//! Rows: a server's command, a client's command, and what they need.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rampcc::Time;
use rampcc_emulator::Family;
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// Rows that come with ramp.
const READY_MADE: &str = include_str!("programs.toml");
/// Longest name: a column of a table.
const NAME_MAX: usize = 32;
/// Longest limit that a row may ask for, seconds.
const LIMIT_MAX_S: u64 = 86_400;

/// Longest name of a congestion control (`TCP_CA_NAME_MAX`, and its zero).
const CONTROL_MAX: usize = 15;
/// Largest window before the first ACK, packets.
const INITIAL_WINDOW_MAX: u32 = 1000;

/// What a template may name in braces.
pub(super) const TEMPLATES: [&str; 10] =
    ["address", "host", "port", "url", "bytes", "seed", "dir", "files", "certificate", "key"];

/// A server and a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// As tables and command lines call it.
    pub name: String,
    /// The server's command, for `/bin/sh`.
    pub server: String,
    /// The client's command; `None`: ramp's own HTTP/1.1 client.
    pub client: Option<String>,
    /// Where the client finds the object.
    pub url: String,
    /// A command that succeeds once the server is ready; `None`: it is once a socket listens at its port.
    pub ready: Option<String>,
    /// The transport of that socket; `None`: either.
    pub listens: Option<Transport>,
    /// Longest time that the client may take; `None`: as long as the scenario.
    pub limit: Option<Time>,
    /// Congestion control of the server's TCP connections; `None`: the machine's.
    pub congestion_control: Option<String>,
    /// Packets before the first ACK of the server's TCP connections; `None`: as the scenario says, which is usually the kernel's 10.
    pub initial_window: Option<u32>,
    /// Its hosts have addresses of IPv6.
    pub ipv6: bool,
    /// The algorithm of the registry that leaves start-up as it does.
    pub like: Option<String>,
    /// One line about it.
    pub meaning: String,
    /// Files that are written for it, by name.
    pub files: BTreeMap<String, String>,
    /// Programs that it needs, each with where it comes from.
    pub needs: BTreeMap<String, String>,
}

/// A transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

/// What is wrong with a row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ProgramError(pub String);

/// A row as a file has it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Written {
    server: String,
    client: Option<String>,
    url: Option<String>,
    ready: Option<String>,
    listens: Option<Transport>,
    limit_s: Option<u64>,
    congestion_control: Option<String>,
    initial_window: Option<u32>,
    #[serde(default)]
    ipv6: bool,
    like: Option<String>,
    meaning: Option<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    needs: BTreeMap<String, String>,
}

/// The rows that come with ramp.
pub fn ready_made() -> Vec<Program> {
    Program::parse_all(READY_MADE).expect("a test parses them")
}

impl Program {
    /// A row of two commands, as a command line has it.
    pub fn new(name: &str, server: &str, client: Option<&str>) -> Result<Self, ProgramError> {
        let written =
            Written { server: server.to_owned(), client: client.map(str::to_owned), ..Written::default() };
        Self::check(name, written)
    }

    /// The rows of a file: a table for each, by its name.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, ProgramError> {
        let tables: BTreeMap<String, Written> =
            toml::from_str(text).map_err(|error| ProgramError(error.to_string().trim_end().to_owned()))?;
        tables.into_iter().map(|(name, written)| Self::check(&name, written)).collect()
    }

    fn check(name: &str, written: Written) -> Result<Self, ProgramError> {
        let wrong = |problem: String| Err(ProgramError(format!("row `{name}`: {problem}")));
        let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
        if name.is_empty() || name.len() > NAME_MAX || !name.chars().all(letter) {
            return wrong(format!(
                "a name has 1 to {NAME_MAX} of the characters a to z, 0 to 9, `_` and `-`"
            ));
        }
        if rampcc::algorithm(name).is_some() {
            return wrong("this is the name of an algorithm".to_owned());
        }
        if let Some(like) = written.like.as_ref().filter(|like| rampcc::algorithm(like).is_none()) {
            return wrong(format!("`like` is `{like}`, which is no algorithm (ramp list algorithms)"));
        }
        if let Some(limit) = written.limit_s.filter(|limit| !(1..=LIMIT_MAX_S).contains(limit)) {
            return wrong(format!("`limit-s` is {limit}; 1 to {LIMIT_MAX_S} is allowed"));
        }
        if let Some(packets) =
            written.initial_window.filter(|packets| !(1..=INITIAL_WINDOW_MAX).contains(packets))
        {
            return wrong(format!(
                "`initial-window` is {packets}; 1 to {INITIAL_WINDOW_MAX} packets are allowed"
            ));
        }
        if written.server.trim().is_empty() {
            return wrong("its server has no command".to_owned());
        }
        if let Some(file) =
            written.files.keys().find(|file| file.contains(['/', '\0']) || file.starts_with('.'))
        {
            return wrong(format!(
                "`files.{file}`: a file's name has no slash and does not begin with a dot"
            ));
        }
        let url = written.url.unwrap_or_else(|| {
            let commands = [Some(&written.server), written.client.as_ref()];
            let encrypted = commands.into_iter().flatten().any(|command| command.contains("{certificate}"));
            format!("http{}://{{host}}:{{port}}/object", if encrypted { "s" } else { "" })
        });
        if written.client.is_none() && !url.starts_with("http://") {
            return wrong(format!(
                "ramp's own client speaks HTTP/1.1 without encryption, and the address is {url}; name a client"
            ));
        }
        let program = Self {
            name: name.to_owned(),
            server: written.server,
            client: written.client,
            url,
            ready: written.ready,
            listens: written.listens,
            limit: written.limit_s.map(Time::from_secs),
            congestion_control: written.congestion_control,
            initial_window: written.initial_window,
            ipv6: written.ipv6,
            like: written.like,
            meaning: written.meaning.unwrap_or_else(|| "a server and a client of your own".to_owned()),
            files: written.files,
            needs: written.needs,
        };
        let unknown = program.texts().find_map(unknown_template).map(str::to_owned);
        match unknown {
            Some(unknown) => wrong(format!(
                "there is no template `{{{unknown}}}`; allowed are {}",
                TEMPLATES.map(|known| format!("{{{known}}}")).join(", ")
            )),
            None => Ok(program),
        }
    }

    /// The same with this congestion control of the server's TCP, under a name of its own.
    pub fn with_control(self, control: &str) -> Result<Self, ProgramError> {
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if control.is_empty() || control.len() > CONTROL_MAX || !control.chars().all(letter) {
            return Err(ProgramError(format!(
                "`{}:{control}`: `{control}` is no congestion control",
                self.name
            )));
        }
        let name = format!("{}-{control}", self.name);
        Ok(Self { name, congestion_control: Some(control.to_owned()), ..self })
    }

    /// The same over IPv6.
    #[must_use]
    pub fn over_ipv6(self) -> Self {
        Self { ipv6: true, ..self }
    }

    /// Of its hosts' addresses.
    pub(super) fn family(&self) -> Family {
        if self.ipv6 { Family::V6 } else { Family::V4 }
    }

    /// What in its texts IPv6 makes wrong.
    pub(super) fn only_ipv4(&self) -> Option<&str> {
        let texts = self.texts().chain(self.files.values().map(String::as_str));
        let wrong = texts.flat_map(str::split_whitespace).find(|word| word.contains("{address}:"));
        wrong.filter(|_| self.ipv6)
    }

    /// Everything that the templates are filled in.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let commands = [Some(&self.server), self.client.as_ref(), Some(&self.url), self.ready.as_ref()];
        commands.into_iter().flatten().map(String::as_str)
    }

    /// Whether a certificate is asked for.
    pub(super) fn encrypted(&self) -> bool {
        let texts = self.texts().chain(self.files.values().map(String::as_str));
        texts.into_iter().any(|text| text.contains("{certificate}") || text.contains("{key}"))
    }

    /// Those of the programs that it needs that are not here.
    pub fn missing(&self) -> Vec<String> {
        let absent = self.needs.iter().filter(|(program, _)| found(program).is_none());
        absent.map(|(program, source)| format!("`{program}` is not installed ({source})")).collect()
    }

    /// All that decides a run, in one line: the commands, and a digest of the files that are written and of the programs and
    /// scripts that the commands name.
    pub(super) fn definition(&self) -> String {
        let mut hash = Sha256::new();
        let mut part = |name: &str, bytes: &[u8]| {
            hash.update((name.len() as u64).to_le_bytes());
            hash.update(name);
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        self.files.iter().for_each(|(name, text)| part(name, text.as_bytes()));
        for word in self.texts().flat_map(str::split_whitespace) {
            let word = word.trim_matches(['\'', '"', ';', '(', ')']);
            let file = if word.contains('/') {
                Some(PathBuf::from(word))
            } else {
                found(word).or_else(|| here(word))
            };
            if let Some(bytes) = file.filter(|file| file.is_file()).and_then(|file| fs::read(file).ok()) {
                part(word, &bytes);
            }
        }
        let digest = hash.finalize();
        let mut text = format!("server={:?} url={:?}", self.server, self.url);
        let mut add = |name: &str, value: &dyn std::fmt::Debug| {
            write!(text, " {name}={value:?}").expect("a string grows");
        };
        add("client", &self.client.as_deref().unwrap_or("ramp"));
        if let Some(ready) = &self.ready {
            add("ready", ready);
        }
        if let Some(listens) = self.listens {
            add("listens", &listens);
        }
        if let Some(limit) = self.limit {
            add("limit_s", &limit.secs_f64());
        }
        add("congestion_control", &self.tcp_control());
        if let Some(packets) = self.initial_window {
            add("initial_window", &packets);
        }
        if self.ipv6 {
            add("ipv6", &true);
        }
        let digest = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        write!(text, " files={digest:016x}").expect("a string grows");
        text
    }

    /// How the path's report names what it is of, and who decides the windows.
    pub(super) fn in_words(&self) -> String {
        let control = match (self.listens, &self.congestion_control) {
            (Some(Transport::Udp), _) => "QUIC with a congestion control of its own".to_owned(),
            (_, Some(control)) => format!("TCP with {control}"),
            (_, None) => format!("TCP with {}, this host's default", self.tcp_control()),
        };
        format!("`{}` is seen by its packets alone: {control}", self.name)
    }

    /// Congestion control of the server's TCP connections.
    pub(super) fn tcp_control(&self) -> String {
        self.congestion_control.clone().unwrap_or_else(|| {
            let machine = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control");
            machine.map_or_else(|_| "cubic".to_owned(), |name| name.trim().to_owned())
        })
    }
}

fn here(word: &str) -> Option<PathBuf> {
    Path::new(word).is_file().then(|| word.into())
}

/// Where a program is; Debian has servers outside the places of users.
fn found(program: &str) -> Option<PathBuf> {
    let places = env::var_os("PATH").unwrap_or_default();
    let places = env::split_paths(&places).chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    places.map(|place| place.join(program)).find(|path| path.is_file())
}

/// A word in braces that is no template. Braces around anything else are the shell's or the file's.
fn unknown_template(text: &str) -> Option<&str> {
    text.split('{').skip(1).find_map(|rest| {
        let word = rest.split_once('}')?.0;
        let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase());
        (is_word && !TEMPLATES.contains(&word)).then_some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Program::parse_all(text).unwrap_err().to_string()
    }

    #[test]
    fn the_ready_made_rows_are_rows() {
        let rows = ready_made();
        for name in ["caddy-h2", "caddy-h3", "nginx", "nginx-h2", "ngtcp2-cubic", "python"] {
            assert!(rows.iter().any(|row| row.name == name), "{name}");
        }
        for row in &rows {
            assert!(!row.needs.is_empty() && !row.meaning.contains("of your own"), "{}", row.name);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, said) in [
            ("[a]\nserve = 'x'\n", "unknown field `serve`"),
            ("[a]\n", "missing field `server`"),
            ("[a]\nserver = ' '\n", "row `a`: its server has no command"),
            ("[A]\nserver = 'x'\n", "row `A`: a name has"),
            ("[hystart]\nserver = 'x'\n", "the name of an algorithm"),
            ("[a]\nserver = 'x {hots}'\n", "no template `{hots}`; allowed are {address}, {host}"),
            ("[a]\nserver = 'x {certificate}'\n", "name a client"),
            ("[a]\nserver = 'x'\nlike = 'nosuch'\n", "no algorithm"),
            ("[a]\nserver = 'x'\nlimit-s = 0\n", "1 to 86400"),
            ("[a]\nserver = 'x'\ninitial-window = 0\n", "`initial-window` is 0; 1 to 1000"),
            ("[a]\nserver = 'x'\nlistens = 'sctp'\n", "expected `tcp` or `udp`"),
            ("[a]\nserver = 'x'\n[a.files]\n'../x' = ''\n", "no slash"),
            ("[a\n", "line 1"),
        ] {
            assert!(error(text).contains(said), "{text}: {}", error(text));
        }
    }

    #[test]
    fn braces_of_the_shell_are_left_alone() {
        assert!(Program::new("a", "x ${HOME} {} { echo; } {a,b}", None).is_ok());
    }

    #[test]
    fn whatever_decides_a_run_is_in_its_definition() {
        let row = |text: &str| Program::parse_all(text).unwrap()[0].definition();
        let plain = row("[a]\nserver = 'sh x'\n");
        assert!(plain.contains("server=\"sh x\"") && plain.contains("client=\"ramp\""), "{plain}");
        for other in [
            "[a]\nserver = 'sh y'\n",
            "[a]\nserver = 'sh x'\nclient = 'curl {url}'\n",
            "[a]\nserver = 'sh x'\nready = 'true'\n",
            "[a]\nserver = 'sh x'\nlimit-s = 3\n",
            "[a]\nserver = 'sh x'\nlistens = 'udp'\n",
            "[a]\nserver = 'sh x'\nurl = 'http://{address}:{port}/'\n",
            "[a]\nserver = 'sh x'\ncongestion-control = 'nosuch'\n",
            "[a]\nserver = 'sh x'\nipv6 = true\n",
            "[a]\nserver = 'sh x'\ninitial-window = 4\n",
            "[a]\nserver = 'sh x'\n[a.files]\nx = 'y'\n",
        ] {
            assert_ne!(row(other), plain, "{other}");
        }
        assert_eq!(row("[b]\nserver = 'sh x'\nmeaning = 'z'\n"), plain, "names and words decide nothing");
    }
}
