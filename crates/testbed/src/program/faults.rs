//! Ready-made rows with one thing made worse, for tests of whoever judges programs.

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
    /// What is written in the server's command, the client's or a file, and what instead.
    change: [&'static str; 2],
}

/// All of them. What they change are options of the programs, as somebody might set them.
pub const FAULTS: [Fault; 7] = [
    Fault {
        id: "buffer",
        meaning: "has never more than 16 kB on the way, since its send buffer holds no more",
        of: &["nginx", "nginx-h2"],
        change: ["listen {address}:{port}", "listen {address}:{port} sndbuf=16k"],
    },
    Fault {
        id: "slow",
        meaning: "sends 400 kB/s and no more",
        of: &["nginx"],
        change: ["root {dir};", "root {dir}; limit_rate 400k;"],
    },
    Fault {
        id: "tires",
        meaning: "slows down to 200 kB/s after 800 kB",
        of: &["nginx"],
        change: ["root {dir};", "root {dir}; limit_rate_after 800k; limit_rate 200k;"],
    },
    Fault {
        id: "window",
        meaning: "may have 64 kB of its stream on the way and no more",
        of: NGTCP2,
        change: ["gtlsclient ", "gtlsclient --max-stream-data-bidi-local=64K --max-stream-window=64K "],
    },
    Fault {
        id: "lossy",
        meaning: "loses one packet in fifty of its own",
        of: NGTCP2,
        change: ["gtlsserver ", "gtlsserver --tx-loss=0.02 "],
    },
    Fault {
        id: "small",
        meaning: "sends packets of 1200 bytes and never looks for larger ones, through a window of 150 kB",
        of: NGTCP2,
        change: ["gtlsclient ", "gtlsclient --no-pmtud --max-data=150K --max-window=150K "],
    },
    Fault {
        id: "late-acks",
        meaning: "is told of what has arrived after every hundredth packet, or 25 ms",
        of: NGTCP2,
        change: ["gtlsclient ", "gtlsclient --ack-thresh=100 "],
    },
];
const NGTCP2: &[&str] = &["ngtcp2-cubic", "ngtcp2-reno", "ngtcp2-bbr2"];

impl Fault {
    /// A row with it.
    ///
    /// # Errors
    ///
    /// Where the row has nothing that could be changed so.
    pub fn of(&self, sound: &Program) -> Result<Program, ProgramError> {
        let [from, to] = self.change;
        let changed = |text: &str| text.replacen(from, to, 1);
        let mut faulty = Program { name: format!("{}-{}", sound.name, self.id), ..sound.clone() };
        faulty.server = changed(&sound.server);
        faulty.client = sound.client.as_deref().map(changed);
        faulty.files = sound.files.iter().map(|(name, text)| (name.clone(), changed(text))).collect();
        if (&faulty.server, &faulty.client, &faulty.files) == (&sound.server, &sound.client, &sound.files) {
            return Err(ProgramError(format!("row `{}` has no `{from}` to change", sound.name)));
        }
        Ok(faulty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ready_made;

    #[test]
    fn every_fault_changes_one_thing_of_each_of_its_rows() {
        let rows = ready_made();
        for fault in FAULTS {
            for name in fault.of {
                let sound = rows.iter().find(|row| row.name == *name).unwrap();
                let faulty = fault.of(sound).unwrap();
                let texts = |row: &Program| {
                    let files = row.files.values().cloned();
                    [row.server.clone(), row.client.clone().unwrap_or_default()]
                        .into_iter()
                        .chain(files)
                        .collect::<Vec<_>>()
                };
                let differ = texts(sound).iter().zip(texts(&faulty)).filter(|(a, b)| *a != b).count();
                assert_eq!((differ, faulty.name), (1, format!("{name}-{}", fault.id)));
            }
        }
    }
}
