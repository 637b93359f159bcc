//! Trials whose outcome is known, on real connections.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fs, thread};

use rampcc::algorithm;
use rampcc_host::trial::{Harm, How, Stage, Trial, TrialArm, TrialOptions, TrialReport};
use rampcc_lab::Finding;
use rampcc_linux::Options;

use crate::support::judged::{judged, require};
use crate::support::{Cgroup, Line, Load, Open, ready};

/// Fast enough that the window is what counts: 200 kB take four round trips in slow start.
const PATH: &str = "rate = '200 Mbit/s'\nrtt = '40 ms'\nbuffer = '1 MB'";
const LOAD: Load = Load { open: Open::Clients, connections: 2_000, lanes: 10, bytes: 200_000, control: None };

/// Limited slow start that grows by one packet in a round trip: twelve of them for 200 kB.
fn crawling() -> TrialArm {
    let limited = algorithm("limited").expect("a row");
    let mut options = Options::new(limited);
    options.parameters[0] = 2;
    TrialArm::Ours { label: "crawling".into(), algorithm: limited, options: Box::new(options) }
}

fn options(arms: [TrialArm; 2], cgroup: &Path, length: Duration) -> TrialOptions {
    TrialOptions {
        arms,
        share: 5_000,
        cgroup: cgroup.to_path_buf(),
        all: false,
        length,
        block: Some(Duration::from_secs(1)),
        drain: None,
        margin: 0.05,
        alpha: 0.05,
        out: None,
        command: "ramp trial".into(),
    }
}

/// Traffic as long as the trial goes on.
fn tried(line: &Line, options: &TrialOptions) -> Trial {
    let over = AtomicBool::new(false);
    let mut trial = Trial::start(options).unwrap_or_else(|error| panic!("{error}"));
    thread::scope(|scope| {
        let traffic = scope.spawn(|| line.run_while(LOAD, || !over.load(Ordering::Relaxed)));
        while trial.poll(Duration::from_millis(50)).unwrap_or_else(|error| panic!("{error}"))
            == Stage::Assigning
        {}
        over.store(true, Ordering::Relaxed);
        while trial.poll(Duration::from_millis(50)).unwrap_or_else(|error| panic!("{error}")) != Stage::Over {
        }
        traffic.join().expect("the traffic");
    });
    trial
}

fn offered(name: &str) -> bool {
    let available = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    available.expect("the kernel has TCP").split_whitespace().any(|offered| offered == name)
}

#[test]
fn a_bad_arm_is_rolled_back_early() {
    let Some(()) = ready() else { return };
    judged(|| {
        let cgroup = Cgroup::enter();
        let line = Line::new(PATH);
        let directory = std::env::temp_dir().join(format!("ramp-trial-{}", std::process::id()));
        let _ = fs::remove_dir_all(&directory); // of an attempt before
        let arms = [crawling(), TrialArm::parse("cubic")];
        // It ends as soon as it is certain: after some seconds, and later where other things keep the processors busy.
        let length = Duration::from_secs(120);
        let mut options = options(arms, cgroup.path(), length);
        options.out = Some(directory.clone());
        let trial = tried(&line, &options);
        let report = trial.report().unwrap_or_else(|error| panic!("{error}"));
        require(report.harm() == Some(Harm::Slower), || format!("{report:#?}"))?;
        require(report.ending.after_s < length.as_secs_f64(), || report.verdict.clone())?;
        assert!(report.verdict.starts_with("Rolled back after "), "{}", report.verdict);
        assert_eq!(report.overall().finding, Finding::Higher, "{report:#?}");
        let sizes = report.rows.iter().filter(|row| row.size.is_some());
        let of_one_size = sizes.max_by_key(|row| row.counts[0]).expect("one size");
        require(of_one_size.counts.iter().all(|count| *count >= 10), || format!("{report:#?}"))?;
        let [crawling, cubic] = of_one_size.values;
        // Twelve round trips against four or five, and what a busy machine adds to both.
        let ratio = crawling.expect("transfers") / cubic.expect("transfers");
        require((1.2..5.0).contains(&ratio), || format!("a ratio of {ratio}"))?;
        assert!(report.draw_p.is_some_and(|p| p > 1e-6), "{:?}", report.draw_p);
        // The control group is as before.
        let name = report.plan.controls[0].clone();
        assert!(name.starts_with("try") && !offered(&name), "{name}");
        drop(trial);
        // What it has kept gives the same report.
        let again = TrialReport::read(&directory).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again, report);
        fs::remove_dir_all(directory).expect("it is ours");
        Ok(())
    });
}

#[test]
fn an_arm_that_is_alike_stays() {
    let Some(()) = ready() else { return };
    judged(|| {
        let cgroup = Cgroup::enter();
        let line = Line::new(PATH);
        // Its limit is never reached: the same growth as the kernel's slow start without HyStart.
        let limited = algorithm("limited").expect("a row");
        let mut parameters = Options::new(limited);
        parameters.parameters[0] = 1_000_000;
        // A busy machine takes longer for connections enough.
        let mut reports = [6, 24, 96].into_iter().map(|seconds| {
            let parameters = Box::new(parameters.clone());
            let limited = TrialArm::Ours { label: "limited".into(), algorithm: limited, options: parameters };
            let arms = [limited, TrialArm::parse("slow_start")];
            let mut options = options(arms, cgroup.path(), Duration::from_secs(seconds));
            options.alpha = 1e-4; // this test should not fail one time in twenty
            tried(&line, &options).report().unwrap_or_else(|error| panic!("{error}"))
        });
        let enough = |report: &TrialReport| report.arms.iter().all(|arm| arm.delivered > 30);
        let report = reports.find(enough).expect("connections enough in a minute and a half");
        require(report.ending.how == How::Completed, || report.verdict.clone())?;
        let row = report.overall();
        require(row.counts.iter().all(|count| *count > 15), || format!("{report:#?}"))?;
        require(row.effect.is_some_and(|ratio| (0.67..1.5).contains(&ratio)), || format!("{report:#?}"))?;
        assert_eq!(report.ending.lost_events, 0);
        // Every connection that was assigned is done, cut off or open, and none was cut off.
        for arm in &report.arms {
            assert_eq!(arm.assigned, arm.delivered + arm.cut_off + arm.open, "{report:#?}");
            assert_eq!(arm.cut_off, 0, "{report:#?}");
        }
        Ok(())
    });
}

#[test]
fn an_interrupted_trial_reports_what_there_is() {
    let Some(()) = ready() else { return };
    let cgroup = Cgroup::enter();
    let line = Line::new(PATH);
    let arms = [TrialArm::parse("best"), TrialArm::parse("cubic")];
    let mut trial = Trial::start(&options(arms, cgroup.path(), Duration::from_secs(600)))
        .unwrap_or_else(|error| panic!("{error}"));
    line.run(Load { connections: 20, ..LOAD });
    trial.poll(Duration::from_millis(100)).unwrap_or_else(|error| panic!("{error}"));
    trial.interrupt().unwrap_or_else(|error| panic!("{error}"));
    let report = trial.report().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.ending.how, How::Interrupted);
    assert!(report.verdict.starts_with("Interrupted after "), "{}", report.verdict);
    assert_eq!(report.ending.assigned.iter().sum::<u64>(), 42);
    assert!(!offered(&report.plan.controls[0]));
    // Nothing is assigned any more.
    line.run(Load { connections: 5, ..LOAD });
    assert_eq!(trial.progress().unwrap_or_else(|error| panic!("{error}")).assigned.iter().sum::<u64>(), 42);
}
