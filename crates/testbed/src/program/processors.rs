//! Who has had the processors.

use std::fs;
use std::io;

use nix::unistd::Pid;
use rampcc::Time;

/// Of the kernel's clock in its tables (`USER_HZ`).
const TICK_MS: u64 = 10;

/// Time of processors so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Processors {
    /// For which the server's threads have waited while they could have run.
    pub(super) waited: Time,
    /// That the programs and this process have had.
    pub(super) own: Time,
    /// That anybody has had.
    pub(super) all: Time,
}

impl Processors {
    /// With the server's namespace, by its first process. Clients count once they have ended.
    pub(super) fn now(first: Pid) -> Self {
        let (ran, waited) = in_namespace(first);
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        // Behind the name, which may have anything in it: user, system, and both of children.
        let stat = read("/proc/self/stat");
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let own: u64 = fields.skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
        // user, nice, system, idle, iowait, irq, softirq, steal.
        let stat = read("/proc/stat");
        let fields = stat.lines().next().unwrap_or_default().split_whitespace().skip(1).take(8).enumerate();
        let busy = fields.filter(|(at, _)| ![3, 4].contains(at));
        let all: u64 = busy.filter_map(|(_, field)| field.parse::<u64>().ok()).sum();
        Self { waited, own: Time::from_ms(own * TICK_MS) + ran, all: Time::from_ms(all * TICK_MS) }
    }

    /// Zero, where a tick was counted here and not there.
    pub(super) fn since(&self, before: &Self) -> Self {
        let own = self.own - before.own;
        Self { waited: self.waited - before.waited, own, all: (self.all - before.all).max(own) }
    }
}

/// Of the threads in a process namespace: time on a processor, and time for which they waited for one. A kernel that does not
/// tell says zero.
fn in_namespace(first: Pid) -> (Time, Time) {
    let namespace = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
    let Some(own) = namespace(&first.to_string()) else { return Default::default() };
    let entries = |path: String| -> io::Result<Vec<String>> {
        Ok(fs::read_dir(path)?
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect())
    };
    let (mut ran, mut waited) = (0, 0);
    for pid in entries("/proc".to_owned()).unwrap_or_default() {
        if !pid.starts_with(|c: char| c.is_ascii_digit()) || namespace(&pid).as_ref() != Some(&own) {
            continue;
        }
        for task in entries(format!("/proc/{pid}/task")).unwrap_or_default() {
            let stat = fs::read_to_string(format!("/proc/{pid}/task/{task}/schedstat")).unwrap_or_default();
            let mut words = stat.split_whitespace().map(|word| word.parse::<u64>().unwrap_or(0));
            ran += words.next().unwrap_or(0);
            waited += words.next().unwrap_or(0);
        }
    }
    (Time::from_ns(ran), Time::from_ns(waited))
}
