//! Smooth-Start: from half of ssthresh on in smaller steps.

use rampcc::{Config, Phase, Startup, UNSET};

use super::support::{Stream, config, row, set};
use super::{near, packets};

fn start(change: impl Fn(&mut Config)) -> Startup {
    let algorithm = row("smooth");
    let mut config = config(algorithm, 2);
    change(&mut config);
    Startup::new(algorithm, &config)
}

/// Windows at the end of each round, packet by packet.
fn rounds(startup: &mut Startup, count: u32) -> Vec<f64> {
    let mut stream = Stream::new();
    let mut now_ns = 0;
    (0..count)
        .map(|_| {
            let window = packets(startup).floor() as u64;
            stream.open_round(window);
            for _ in 0..window {
                now_ns += 1_000_000;
                startup.on_ack(&stream.ack(now_ns, 100_000));
            }
            packets(startup)
        })
        .collect()
}

/// ssthresh 64: 2, 4, 8, 16, 32; then 32 ACKs make 48, and 48 ACKs make 64.
#[test]
fn the_last_part_takes_two_rounds() {
    let mut startup = start(|_| {});
    let windows = rounds(&mut startup, 7);
    for (window, expected) in windows.iter().zip([4.0, 8.0, 16.0, 32.0, 48.0, 64.0]) {
        near(*window, expected, 0.6);
    }
    assert_eq!(startup.decision().phase(), Phase::Done);
    // Slower still with more steps: 32, 48, 64; 64 of 128.
    let mut startup = start(|c| {
        set(c, row("smooth"), "initial_ssthresh", 128);
        set(c, row("smooth"), "depth", 4);
    });
    let windows = rounds(&mut startup, 9);
    for (window, expected) in windows[4..].iter().zip([64.0, 96.0, 128.0]) {
        near(*window, expected, 1.1);
    }
}

#[test]
fn the_steps_stop_at_the_depth() {
    for (depth, last) in [(1, 0.5), (2, 1.0 / 3.0), (16, 0.25)] {
        let mut startup = start(|c| {
            c.initial_window_bytes = 50_000;
            c.initial_ssthresh_bytes = 1_000_000_000;
            set(c, row("smooth"), "ratio", 1);
            set(c, row("smooth"), "depth", depth);
        });
        startup.decision_mut().cwnd_bytes = 10_000_000;
        let windows = rounds(&mut startup, 3);
        near(windows[2] / windows[1] - 1.0, last, 0.001);
    }
}

#[test]
fn without_an_ssthresh_it_is_slow_start() {
    let mut startup = start(|c| set(c, row("smooth"), "initial_ssthresh", 0));
    assert_eq!(startup.decision().ssthresh_bytes, UNSET);
    near(rounds(&mut startup, 8)[7], 512.0, 1e-9);
    // The connection's own comes first.
    assert_eq!(start(|c| c.initial_ssthresh_bytes = 9000).decision().ssthresh_bytes, 9000);
}
