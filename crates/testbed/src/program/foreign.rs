//! What the path can say of a download that failed: who spoke, and in what.

use std::net::IpAddr;

use rampcc_emulator::ErrorReport;

/// Bytes of a foreign greeting that a sentence quotes.
const QUOTED: usize = 24;
/// What programs say that want a terminal. They have none, and their standard input is empty.
const OF_TERMINALS: [&str; 8] = [
    "/dev/tty",
    "not a tty",
    "not a terminal",
    "no tty",
    "enotty",
    "inappropriate ioctl for device",
    "error opening terminal",
    "from a terminal",
];

/// Whether the last output is about a terminal.
pub(super) fn wants_terminal(words: &str) -> bool {
    let words = words.to_lowercase();
    OF_TERMINALS.iter().any(|of| words.contains(of))
}

/// A clause on what the path saw, if it tells why.
pub(super) fn seen(report: &ErrorReport, server: IpAddr) -> Option<String> {
    let by = |own: bool| report.packets.iter().filter(move |seen| (seen.from.ip() == server) == own);
    // What has no port is of ICMP: the host that speaks, not the server.
    let answered = by(true).any(|seen| seen.payload_bytes > 0 && seen.from.port() != 0);
    if by(false).next().is_none() {
        return Some("the client sent not one packet".to_owned());
    }
    if !answered {
        let transport = |tcp| if tcp { "TCP" } else { "UDP" };
        let asked = transport(by(false).any(|seen| seen.tcp));
        return Some(format!("the client asked by {asked}, and the server sent not one byte in answer"));
    }
    let (_, said) = report.greetings.iter().find(|(from, _)| from.ip() == server)?;
    (!is_http_or_tls(said)).then(|| {
        let quoted: String =
            said.iter().take(QUOTED).flat_map(|byte| byte.escape_ascii()).map(char::from).collect();
        format!(
            "the server speaks another protocol: what it sends first is neither HTTP nor TLS, but `{quoted}`"
        )
    })
}

/// Of the first bytes of a server.
fn is_http_or_tls(said: &[u8]) -> bool {
    match said {
        // A record of a handshake or an alert (RFC 8446, section 5.1).
        [0x15 | 0x16, 3, ..] => true,
        // SETTINGS, the first frame of HTTP/2 in the clear (RFC 9113, section 3.4).
        [_, _, _, 4, ..] if said[..3] < [0, 64, 0][..] => true,
        _ => said.starts_with(b"HTTP/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_are_known_by_their_first_bytes() {
        for known in
            [&b"HTTP/1.1 200 OK"[..], &[0x16, 3, 3, 0, 122], &[0x15, 3, 1], &[0, 0, 18, 4, 0, 0, 0, 0, 0]]
        {
            assert!(is_http_or_tls(known), "{known:?}");
        }
        for foreign in
            [&b"SSH-2.0-OpenSSH_9.2"[..], b"220 mail ESMTP", b"", b"\x16", b"nonsense4", b"ABC\x04"]
        {
            assert!(!is_http_or_tls(foreign), "{foreign:?}");
        }
    }

    #[test]
    fn who_wants_a_terminal_says_so() {
        for words in [
            "sh: 1: cannot open /dev/tty: No such device or address",
            "the input device is not a TTY",
            "stty: 'standard input': Inappropriate ioctl for device",
            "Error opening terminal: unknown.",
        ] {
            assert!(wants_terminal(words), "{words}");
        }
        assert!(!wants_terminal("no such object") && !wants_terminal(""));
    }
}
