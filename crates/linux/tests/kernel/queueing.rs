//! `fq` on the sender's device, which spaces packets itself.

use rampcc::{Algorithm, BACK_TO_BACK, ExitReason, algorithm};
use rampcc_emulator::End;
use rampcc_linux::{Event, Record};

use crate::support::judged::{judged, require};
use crate::support::left_out::{complete, repeated};
use crate::support::path::Path;
use crate::support::{Open, ready, say};
use crate::{DEEP, MEGABYTES, ack, all_events, exits, own_reasons, put_in};

/// Read by `other_kernels`.
pub(crate) const PLAYED: &str = "fq: played";

/// Whether the sender's packets pass through `fq` from now on.
fn set_fq(path: &Path) -> bool {
    let mut command = path.running().command(End::Sender, "tc").expect("a command");
    let output = command.args(["qdisc", "replace", "dev", "ramp0", "root", "fq"]).output().expect("tc");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() || said.contains("qdisc kind is unknown") || said.contains("No such file"),
        "{said}"
    );
    output.status.success()
}

/// One transfer's start-up.
#[derive(Debug)]
struct Seen {
    reason: ExitReason,
    window_packets: u32,
    /// From the connection's opening to the exit, ns.
    took_ns: u64,
    /// ACKs at which a rate was in force, and the most that was sent beyond it since it began, in full packets.
    spaced: usize,
    beyond_packets: u64,
}

fn seen(row: &'static Algorithm, path: &Path, open: Open, tag: &str) -> Seen {
    let loaded = put_in(row, tag, Record::All);
    path.transfer(loaded.name(), open, 2 * MEGABYTES);
    let (events, _) = all_events(&loaded, 1);
    let exit = exits(&events).first().map(|exit| **exit);
    complete(exit.is_some(), (row.id, &events.len()));
    let exit = exit.expect("complete");
    let (spaced, beyond_packets) = beyond(&events);
    let took_ns = exit.exited().expect("it left").ns() - exit.opened().ns();
    let (reason, window_packets) = (exit.decision.exit_reason(), exit.cwnd_packets);
    Seen { reason, window_packets, took_ns, spaced, beyond_packets }
}

/// How much more was sent than the rates in force allow, summed over each stretch of ACKs that have one. TCP makes up for
/// a late timer within a stretch, so that single gaps say little.
fn beyond(events: &[Event]) -> (usize, u64) {
    let (mut spaced, mut most, mut over) = (0, 0, 0);
    let acks: Vec<_> =
        events.iter().filter_map(ack).filter_map(|call| Some((call.ack()?, &call.call))).collect();
    for pair in acks.windows(2) {
        let ((before, call), (now, _)) = (pair[0], pair[1]);
        let (rate, mss) = (call.after.pacing_bytes_per_s, u64::from(before.mss_bytes));
        // The kernel spaces none of a connection's first ten; and some leave at once where the row says so.
        let free = (10 * mss).max(call.after.burst_until_bytes);
        let paced = rate > 0 && rate != BACK_TO_BACK && before.sent_bytes > free;
        if !paced || call.before.phase() != call.after.phase() {
            over = 0;
            continue;
        }
        let allowed = u128::from(rate) * u128::from(now.now_ns - before.now_ns) / 1_000_000_000;
        let left = now.sent_bytes - before.sent_bytes;
        over = (over + left).saturating_sub(allowed as u64);
        spaced += 1;
        most = most.max(over.saturating_sub(call.after.pacing_burst_bytes.into()).div_ceil(mss));
    }
    (spaced, most)
}

/// Like `expected`, give or take a quarter and `more`.
fn like(found: u64, expected: u64, more: u64) -> bool {
    found.abs_diff(expected) <= expected / 4 + more
}

#[test]
fn rows_leave_as_without_fq_and_space_what_they_space() {
    let Some(()) = ready() else { return };
    for (id, open) in [
        ("best", Open::Passive),
        ("hystart", Open::Passive),
        ("jump", Open::Passive),
        ("paced", Open::Passive),
        ("reach", Open::Passive),
        ("reach", Open::Active),
    ] {
        let row = algorithm(id).expect("a row");
        let mut there = true;
        judged(|| {
            repeated(|| {
                let path = Path::new(DEEP);
                let plain = seen(row, &path, open, "q");
                there = set_fq(&path);
                if !there {
                    path.stop();
                    return Ok(());
                }
                let fq = seen(row, &path, open, "q");
                path.stop();
                let both = || format!("{id}, {open:?}: {fq:?} under fq, {plain:?} without");
                require(own_reasons(id).contains(&fq.reason) && fq.reason == plain.reason, both)?;
                // Of HyStart's two bounds of an ACK train, the long one is for senders that are paced.
                if id == "hystart" {
                    return require(fq.window_packets > plain.window_packets, both);
                }
                require(like(fq.window_packets.into(), plain.window_packets.into(), 2), both)?;
                require(like(fq.took_ns, plain.took_ns, 10_000_000), both)?;
                // A packet under way at either end of a stretch, and two for a timer's lateness. fq has some milliseconds' worth
                // besides them that TCP has sent and that are not due yet; a window at once would be more.
                require(plain.beyond_packets <= 4 && fq.beyond_packets <= 20, both)?;
                // A jump is over with its first ACK.
                require((fq.spaced > 10) == (plain.spaced > 10), both)?;
                say(&both());
                Ok(())
            })
        });
        if !there {
            say("fq: this kernel has none");
            return;
        }
    }
    say(PLAYED);
}
