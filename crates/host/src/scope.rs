//! Scopes of attachments.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use crate::error::{HostError, Result};

/// Connections that get an algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All that are opened in the network namespace of this process.
    System,
    /// All that are opened in a network namespace of this name (`ip netns`).
    Netns(String),
    /// All that processes of this control group (cgroup v2) and those below it open.
    Cgroup(PathBuf),
    /// All whose packets take this route of the main table.
    Route(Prefix),
}

/// A route's destination, and its metric where several routes lead there.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Prefix {
    /// First address.
    pub address: IpAddr,
    /// Leading bits that count.
    pub length: u8,
    /// `None`: there is only one route to it.
    pub metric: Option<u32>,
}

impl Scope {
    /// The first words of these.
    pub const KINDS: [&str; 4] = ["system", "netns", "cgroup", "route"];
    /// Values that `--scope` allows.
    pub const SYNTAX: &str = "system, netns NAME, cgroup PATH, or route PREFIX [metric NUMBER]";

    /// From the words of the command line: `system`, `netns NAME`, `cgroup PATH`, `route PREFIX`.
    pub fn parse(words: &[impl AsRef<str>]) -> Result<Self> {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        let wrong = |problem: String| HostError::input(problem, format!("--scope takes {}", Self::SYNTAX));
        match words.as_slice() {
            ["system"] => Ok(Self::System),
            ["netns", name] => Ok(Self::Netns((*name).to_owned())),
            ["cgroup", path] => Ok(Self::Cgroup(PathBuf::from(path))),
            ["route", prefix] => Prefix::parse(prefix).map(Self::Route),
            ["route", prefix, "metric", metric] => {
                let metric =
                    metric.parse().map_err(|_| wrong(format!("{metric:?} is not a metric of a route")))?;
                Prefix::parse(prefix).map(|prefix| Self::Route(Prefix { metric: Some(metric), ..prefix }))
            }
            [word @ ("netns" | "cgroup" | "route")] => {
                Err(wrong(format!("--scope {word} does not say which")))
            }
            other => Err(wrong(format!("{:?} is not a scope", other.join(" ")))),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System => f.write_str("system"),
            Self::Netns(name) => write!(f, "netns {name}"),
            Self::Cgroup(path) => write!(f, "cgroup {}", printable(&path.to_string_lossy())),
            Self::Route(prefix) => write!(f, "route {prefix}"),
        }
    }
}

/// Without what a terminal would take for a command: a control group's name may hold any character.
pub fn printable(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
        out
    })
}

impl Prefix {
    /// From `10.0.0.0/8`, `192.0.2.1`, `2001:db8::/32`, `default` (IPv4) or `::/0`.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |problem: &str| {
            HostError::input(
                format!("{text:?} is not a prefix: {problem}"),
                "a destination as `ip route` shows it: 10.0.0.0/8, 192.0.2.1, 2001:db8::/32, default or ::/0",
            )
        };
        let text = if text == "default" { "0.0.0.0/0" } else { text };
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong("it is not an IP address"))?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let length: u8 = match length {
            Some(length) => length.parse().map_err(|_| wrong("its length is not a number"))?,
            None => longest,
        };
        if length > longest {
            return Err(wrong("it is longer than an address"));
        }
        let bits = match address {
            IpAddr::V4(a) => u128::from(a.to_bits()) << 96,
            IpAddr::V6(a) => a.to_bits(),
        };
        if bits.checked_shl(length.into()).unwrap_or(0) != 0 {
            return Err(wrong("it has bits beyond its length"));
        }
        Ok(Self { address, length, metric: None })
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.address, self.length) {
            (IpAddr::V4(_), 0) => f.write_str("default")?,
            (address, length) => write!(f, "{address}/{length}")?,
        }
        // As `ip route` shows it.
        self.metric.filter(|metric| *metric > 0).map_or(Ok(()), |metric| write!(f, " metric {metric}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_written_as_they_are_read() {
        for text in [
            "system",
            "netns blue",
            "cgroup /sys/fs/cgroup/web.slice",
            "route default",
            "route ::/0",
            "route 10.0.0.0/8",
            "route 192.0.2.1/32 metric 100",
            "route 2001:db8::/32",
        ] {
            let words: Vec<&str> = text.split(' ').collect();
            assert_eq!(Scope::parse(&words).expect(text).to_string(), text);
        }
        assert_eq!(
            Scope::parse(&["route", "192.0.2.1"]).expect("an address").to_string(),
            "route 192.0.2.1/32"
        );
        let zero = Scope::parse(&["route", "10.0.0.0/8", "metric", "0"]).expect("a metric");
        assert_eq!(zero.to_string(), "route 10.0.0.0/8");
    }

    #[test]
    fn what_would_command_a_terminal_is_spelt_out() {
        let scope = Scope::Cgroup("/sys/fs/cgroup/a\u{1b}]0;owned\u{7}\n\u{9b}2Jb ü".into());
        assert_eq!(scope.to_string(), r"cgroup /sys/fs/cgroup/a\u{1b}]0;owned\u{7}\n\u{9b}2Jb ü");
    }

    #[test]
    fn what_is_no_scope_is_refused_with_what_is() {
        for text in [
            "",
            "host",
            "system now",
            "netns",
            "netns a b",
            "cgroup",
            "route",
            "route ten",
            "route 10.0.0.0/33",
            "route 10.0.0.1/8",
            "route 10.0.0.0/8 metric high",
            "route ::/129",
        ] {
            let words: Vec<&str> = text.split(' ').collect();
            let error = Scope::parse(&words).expect_err(text);
            assert!(matches!(error, HostError::Input { .. }) && error.advice().is_some(), "{text}: {error}");
        }
    }
}
