//! Ready-made rows with one thing made worse, for tests of the judging of programs.

use super::row::{Program, ProgramError};

/// One thing that is wrong.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// Last part of the name.
    pub id: &'static str,
    /// A server that …
    pub meaning: &'static str,
    /// Rows that can have it.
    pub of: &'static [&'static str],
    change: Change,
}

/// How a row is made worse.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// What is written in the server's command, the client's or a file, and what instead.
    Words([&'static str; 2]),
    /// What the server's shell does before, as root of the server's network namespace.
    BeforeServer(&'static str),
    /// The same of the client.
    BeforeClient(&'static str),
    /// Packets before the first ACK.
    InitialWindow(u32),
}

const NGINX: &[&str] = &["nginx", "nginx-h2"];
const NGTCP2: &[&str] = &["ngtcp2-cubic", "ngtcp2-reno", "ngtcp2-bbr2"];

const fn of_nginx(id: &'static str, meaning: &'static str, change: Change) -> Fault {
    Fault { id, meaning, of: NGINX, change }
}

const fn of_plain_nginx(id: &'static str, meaning: &'static str, change: Change) -> Fault {
    Fault { id, meaning, of: &["nginx"], change }
}

const fn of_nginx_and_curl(id: &'static str, meaning: &'static str, change: Change) -> Fault {
    Fault { id, meaning, of: &["nginx-h2"], change }
}

const fn of_ngtcp2(id: &'static str, meaning: &'static str, change: Change) -> Fault {
    Fault { id, meaning, of: NGTCP2, change }
}

/// All of them. What they change are options of the programs and of their hosts, as a user might set them.
pub const FAULTS: &[Fault] = &[
    of_nginx("iw4", "begins with four packets instead of ten", Change::InitialWindow(4)),
    of_plain_nginx("iw1", "begins with one packet", Change::InitialWindow(1)),
    of_nginx(
        "buffer",
        "has never more than 16 kB on the way, since its send buffer holds no more",
        Change::Words(["listen {host}:{port}", "listen {host}:{port} sndbuf=16k"]),
    ),
    of_plain_nginx(
        "wmem",
        "may grow its send buffer to 64 kB and no further",
        Change::BeforeServer("echo 4096 16384 65536 > /proc/sys/net/ipv4/tcp_wmem"),
    ),
    of_plain_nginx(
        "slow",
        "sends 400 kB/s and no more",
        Change::Words(["root {dir};", "root {dir}; limit_rate 400k;"]),
    ),
    of_plain_nginx(
        "tires",
        "slows down to 200 kB/s after 800 kB",
        Change::Words(["root {dir};", "root {dir}; limit_rate_after 800k; limit_rate 200k;"]),
    ),
    of_plain_nginx(
        "shaped",
        "stands behind a shaper of 5 Mbit/s with 50 ms of room",
        Change::BeforeServer("tc qdisc replace dev ramp0 root tbf rate 5mbit burst 16k latency 50ms"),
    ),
    of_plain_nginx(
        "policed",
        "stands behind a policer of 10 Mbit/s with 5 ms of room",
        Change::BeforeServer("tc qdisc replace dev ramp0 root tbf rate 10mbit burst 8k latency 5ms"),
    ),
    of_plain_nginx(
        "sackless",
        "has no selective acknowledgements",
        Change::BeforeServer("echo 0 > /proc/sys/net/ipv4/tcp_sack"),
    ),
    of_plain_nginx(
        "deaf",
        "repairs a loss after a hundred duplicate ACKs, and not by time",
        Change::BeforeServer(
            "echo 0 > /proc/sys/net/ipv4/tcp_recovery; echo 100 > /proc/sys/net/ipv4/tcp_reordering",
        ),
    ),
    of_plain_nginx(
        "unscaled",
        "has no window scaling, so that 64 kB are on the way at most",
        Change::BeforeServer("echo 0 > /proc/sys/net/ipv4/tcp_window_scaling"),
    ),
    of_plain_nginx("cut", "sends packets of 576 bytes", Change::BeforeServer("ip link set ramp0 mtu 576")),
    of_nginx_and_curl(
        "tls12",
        "speaks TLS 1.2, which takes one round trip more",
        Change::Words(["ssl_protocols TLSv1.2 TLSv1.3;", "ssl_protocols TLSv1.2;"]),
    ),
    of_nginx_and_curl(
        "rmem",
        "meets a receiver that has room for 32 kB",
        Change::BeforeClient("echo 4096 32768 32768 > /proc/sys/net/ipv4/tcp_rmem"),
    ),
    of_nginx_and_curl(
        "reader",
        "meets a client that reads 300 kB/s",
        Change::Words(["curl ", "curl --limit-rate 300k "]),
    ),
    of_ngtcp2(
        "window",
        "may have 64 kB of its stream on the way and no more",
        Change::Words([
            "gtlsclient ",
            "gtlsclient --max-stream-data-bidi-local=64K --max-stream-window=64K ",
        ]),
    ),
    of_ngtcp2(
        "lossy",
        "loses one packet in fifty of its own",
        Change::Words(["gtlsserver ", "gtlsserver --tx-loss=0.02 "]),
    ),
    of_ngtcp2(
        "hard-of-hearing",
        "loses three in ten of the packets that come in",
        Change::Words(["gtlsserver ", "gtlsserver --rx-loss=0.3 "]),
    ),
    of_ngtcp2(
        "retry",
        "has every client prove its address first, which takes one round trip more",
        Change::Words(["gtlsserver ", "gtlsserver --validate-addr "]),
    ),
    of_ngtcp2(
        "hesitates",
        "is asked a fifth of a second late",
        Change::Words(["gtlsclient ", "gtlsclient --delay-stream=200ms "]),
    ),
    of_ngtcp2(
        "small",
        "sends packets of 1200 bytes and never looks for larger ones, through a window of 150 kB",
        Change::Words(["gtlsclient ", "gtlsclient --no-pmtud --max-data=150K --max-window=150K "]),
    ),
    of_ngtcp2(
        "late-acks",
        "gets one ACK for a hundred packets, or after 25 ms",
        Change::Words(["gtlsclient ", "gtlsclient --ack-thresh=100 "]),
    ),
];

impl Fault {
    /// A row with it.
    ///
    /// # Errors
    ///
    /// Where the row has nothing that could be changed so.
    pub fn of(&self, sound: &Program) -> Result<Program, ProgramError> {
        let mut faulty = Program { name: format!("{}-{}", sound.name, self.id), ..sound.clone() };
        match self.change {
            Change::Words([from, to]) => {
                let changed = |text: &str| text.replacen(from, to, 1);
                faulty.server = changed(&sound.server);
                faulty.client = sound.client.as_deref().map(changed);
                faulty.files = sound.files.iter().map(|(name, text)| (name.clone(), changed(text))).collect();
            }
            Change::BeforeServer(command) => faulty.server = format!("{command}; {}", sound.server),
            Change::BeforeClient(command) => {
                faulty.client = sound.client.as_deref().map(|client| format!("{command}; {client}"));
            }
            Change::InitialWindow(packets) => faulty.initial_window = Some(packets),
        }
        if (Program { name: sound.name.clone(), ..faulty.clone() }) == *sound {
            return Err(ProgramError(format!(
                "row `{}` has nothing that {:?} changes",
                sound.name, self.change
            )));
        }
        Ok(faulty)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::ready_made;

    #[test]
    fn every_fault_changes_one_thing_of_each_of_its_rows() {
        let rows = ready_made();
        let mut names = BTreeSet::new();
        for fault in FAULTS {
            for name in fault.of {
                let sound = rows.iter().find(|row| row.name == *name).unwrap();
                let faulty = fault.of(sound).unwrap();
                let texts = |row: &Program| {
                    let files = row.files.values().cloned();
                    [
                        row.server.clone(),
                        row.client.clone().unwrap_or_default(),
                        format!("{:?}", row.initial_window),
                    ]
                    .into_iter()
                    .chain(files)
                    .collect::<Vec<_>>()
                };
                let differ = texts(sound).iter().zip(texts(&faulty)).filter(|(a, b)| *a != b).count();
                assert_eq!((differ, &faulty.name), (1, &format!("{name}-{}", fault.id)));
                assert!(names.insert(faulty.name.clone()), "{} is there twice", faulty.name);
            }
        }
        let python = rows.iter().find(|row| row.name == "python").unwrap();
        assert!(FAULTS[2].of(python).unwrap_err().to_string().contains("listen"));
    }
}
