//! `ramp trial`: two congestion controls against each other on live traffic.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rampcc::figures::span;
use rampcc_host::trial::{How, Metric, Progress, Row, Stage, Trial, TrialArm, TrialOptions, TrialReport};
use rampcc_host::{WHOLE, privileges};
use rampcc_lab::Finding;

use super::load::{Load, Running};
use super::units::{number, seconds};
use super::{caution, told, values};
use crate::completions;
use crate::error::{CliError, Result};
use crate::progress::interruption;
use crate::table::table;
use crate::terminal::{Terminal, broken};

/// How often Ctrl-C and the guard are looked at.
const ATTENTION: Duration = Duration::from_millis(100);

/// Try an algorithm on live traffic: A/B, with a guard
///
/// For each new connection of a control group, a trial draws one of two congestion controls. It compares transfer times
/// by size, start-up, retransmissions and cut-off connections within blocks of time, with 95 % intervals. If the arm on
/// trial is clearly worse, the trial stops at once. At the end, on Ctrl-C, SIGTERM or SIGHUP, and however the process
/// dies, the control group is as before; running connections keep the control they have.
///
/// Exit codes: 0 done, 1 failed, or its control group was removed, 3 rolled back, or no connection to try, 130 interrupted.
#[derive(Args, Debug)]
pub(crate) struct TrialArgs {
    /// The arm on trial: an algorithm, with parameters as in best:threshold=2MB/s, or a congestion control of the kernel
    #[arg(required_unless_present = "report")]
    arm: Option<String>,
    /// The arm to compare it with, written in the same way
    #[arg(long, value_name = "ARM", default_value = "cubic")]
    against: String,
    /// Share of connections for the arm on trial, in percent
    #[arg(long, value_name = "PERCENT", default_value = "50", value_parser = values::percent)]
    share: f64,
    /// Control group of the connections: a directory of cgroup v2
    #[arg(long, value_name = "PATH", required_unless_present_any = ["report", "over"])]
    cgroup: Option<PathBuf>,
    /// Instead of live connections: the web sessions of a scenario, which nginx serves over its emulated paths
    #[arg(long, value_name = "SCENARIO", conflicts_with = "cgroup", add = ArgValueCompleter::new(completions::scenarios))]
    over: Option<String>,
    /// Seed of these sessions and paths
    #[arg(long, requires = "over", default_value_t = 1)]
    seed: u64,
    /// Time during which connections are assigned, for instance 10m, 90s, 2h
    #[arg(long = "for", value_name = "TIME", default_value = "10m", value_parser = values::duration)]
    length: Duration,
    /// Length of the blocks that are compared; the guard looks at the end of each [default: a twentieth of the whole]
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    block: Option<Duration>,
    /// Longest wait for open connections at the end [default: a tenth of the whole, at most 30 s]
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    drain: Option<Duration>,
    /// Margin below which a difference of times counts as none, in percent
    #[arg(long, value_name = "PERCENT", default_value = "5", value_parser = values::percent)]
    margin: f64,
    /// Probability of stopping a harmless arm, in percent
    #[arg(long, value_name = "PERCENT", default_value = "5", value_parser = values::percent)]
    alpha: f64,
    /// Also connections whose application has chosen a congestion control
    #[arg(long)]
    all: bool,
    /// Keep a line for each connection in this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Report on an earlier trial again, from this directory
    #[arg(long, value_name = "DIR", conflicts_with_all = ["arm", "cgroup", "over", "out"])]
    report: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn trial(args: &TrialArgs, terminal: Terminal, out: &mut impl Write) -> Result {
    if let Some(directory) = &args.report {
        let report = TrialReport::read(directory).map_err(told)?;
        return show(args, &report, terminal, out);
    }
    let load = args.over.as_deref().map(|scenario| Load::new(scenario, args.seed)).transpose()?;
    let options = args.options(load.as_ref())?;
    for arm in &options.arms {
        if let TrialArm::Ours { algorithm, .. } = arm
            && let Some(caution) = caution(algorithm)
        {
            say!("{caution}");
        }
    }
    let interrupted = interruption();
    let mut trial = Trial::start(&options).map_err(told)?;
    let time = options.length + options.longest_drain();
    let load = load.map(|load| load.start(time, &interrupted)).transpose()?;
    // What is open stays usable, and the kernel takes it away with us. The threads that have begun keep theirs.
    privileges::keep_only(&[]).map_err(told)?;
    let told_end = run(&mut trial, &interrupted, load.as_ref());
    // Whatever went wrong, the control group is as before.
    trial.interrupt().map_err(told)?;
    let report = trial.report().map_err(told)?;
    drop(trial);
    let path = load.map(|load| load.end(report.ending.how == How::Completed)).transpose()?;
    told_end?;
    show(args, &report, terminal, out)?;
    if let Some(path) = path.flatten() {
        say!("{path}");
    }
    out.flush()?;
    match report.ending.how {
        How::Completed if report.nothing_tried() => Err(CliError::CannotTell),
        How::Completed | How::Unknown => Ok(()),
        How::RolledBack(_) => Err(CliError::RolledBack),
        How::Interrupted => Err(CliError::Interrupted),
        How::Vanished => Err(CliError::Kernel {
            message: "the control group is gone".to_owned(),
            help: Some("the trial ended with it; start another one on the new control group".to_owned()),
        }),
    }
}

impl TrialArgs {
    fn options(&self, load: Option<&Load>) -> Result<TrialOptions> {
        let cgroup = self.cgroup.as_deref().or_else(|| load.map(Load::cgroup));
        let (Some(arm), Some(cgroup)) = (&self.arm, cgroup) else {
            return Err(CliError::input("a trial needs an arm, and --cgroup or --over"));
        };
        let arms = [values::trial_arm(arm)?, values::trial_arm(&self.against)?];
        Ok(TrialOptions {
            arms,
            share: (self.share * f64::from(WHOLE)).round() as u32,
            cgroup: cgroup.to_path_buf(),
            all: self.all,
            length: self.length,
            block: self.block,
            drain: self.drain,
            margin: self.margin,
            alpha: self.alpha,
            out: self.out.clone(),
            command: crate::provenance::typed(),
        })
    }
}

fn run(trial: &mut Trial, interrupted: &AtomicBool, load: Option<&Running>) -> Result {
    let plan = trial.plan();
    let bar = bar(plan.length_s);
    if bar.is_hidden() {
        let [new, old] = &plan.arms;
        say!("trying {new} against {old} on {} for {}", plan.cgroup, seconds(plan.length_s));
    }
    let mut looks = 0;
    loop {
        let stage = trial.poll(ATTENTION).map_err(told)?;
        let progress = trial.progress().map_err(told)?;
        let text = words(trial, &progress);
        bar.set_position(progress.elapsed.as_millis() as u64);
        bar.set_message(text.clone());
        if bar.is_hidden() && progress.looks[0] > looks {
            looks = progress.looks[0];
            say!("{}: {text}", seconds(progress.elapsed.as_secs_f64()));
        }
        let failed = load.is_some_and(Running::has_ended);
        if stage == Stage::Over || failed || interrupted.load(Ordering::Relaxed) {
            bar.finish_and_clear();
            return Ok(());
        }
    }
}

fn bar(length_s: f64) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some((length_s * 1e3) as u64), ProgressDrawTarget::stderr());
    let style =
        ProgressStyle::with_template("{bar:20} {elapsed}  {wide_msg}").expect("the template is constant");
    bar.with_style(style)
}

/// "best 812 (3 open), cubic 799 (5 open); transfers take 23 % less; look 5 of 20".
fn words(trial: &Trial, progress: &Progress) -> String {
    let arms = &trial.plan().arms;
    let arm = |i: usize| format!("{} {} ({} open)", arms[i], progress.assigned[i], progress.open[i]);
    let ratio = match progress.ratio {
        None => "no transfers of both yet".to_owned(),
        Some(ratio) => {
            let word = if ratio < 1.0 { "less" } else { "more" };
            format!("transfers take {} % {word} time so far", number(((ratio - 1.0).abs() * 100.0).round()))
        }
    };
    let stage = match progress.stage {
        Stage::Draining => "; waiting for open connections",
        _ => "",
    };
    let [looks, of] = progress.looks;
    format!("{}, {}; {ratio}; look {looks} of {of}{stage}", arm(0), arm(1))
}

fn show(args: &TrialArgs, report: &TrialReport, terminal: Terminal, out: &mut impl Write) -> Result {
    if args.json {
        let text = serde_json::to_string_pretty(report).expect("string keys only");
        return Ok(writeln!(out, "{text}")?);
    }
    writeln!(out, "{}\n", heading(report))?;
    writeln!(out, "{}\n", connections(report, terminal))?;
    if report.rows.iter().any(|row| row.counts != [0, 0]) {
        writeln!(out, "{}", figures(report, terminal))?;
        writeln!(out, "{}\n", textwrap::fill(BASIS, broken(terminal.width)))?;
    }
    for line in textwrap::wrap(&report.verdict, broken(terminal.width)) {
        writeln!(out, "{}", terminal.bold(&line))?;
    }
    for note in &report.notes {
        for line in textwrap::wrap(note, broken(terminal.width)) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// Why the difference may have another sign than the two columns.
const BASIS: &str = "Each arm's column is over all its connections; the difference and the finding compare the arms block by block and size \
                     by size, so they can disagree with the columns.";

fn heading(report: &TrialReport) -> String {
    let plan = &report.plan;
    format!(
        "{} ({} %) against {}, new connections of {}, {} in blocks of {}",
        plan.arms[0],
        number(plan.new_share() * 100.0),
        plan.arms[1],
        plan.cgroup,
        seconds(report.ending.after_s),
        seconds(plan.block_s),
    )
}

fn connections(report: &TrialReport, terminal: Terminal) -> String {
    let header =
        ["", "assigned", "delivered", "cut off", "open", "left start-up", "because of"].map(str::to_owned);
    let rows: Vec<_> = report
        .arms
        .iter()
        .map(|arm| {
            let mut exits: Vec<_> = arm.exits.iter().collect();
            exits.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
            let exits: Vec<_> =
                exits.into_iter().map(|(reason, count)| format!("{reason} {count}")).collect();
            vec![
                arm.name.clone(),
                arm.assigned.to_string(),
                arm.delivered.to_string(),
                arm.cut_off.to_string(),
                arm.open.to_string(),
                arm.startups.to_string(),
                if exits.is_empty() { "–".to_owned() } else { exits.join(", ") },
            ]
        })
        .collect();
    table(&header, &rows, terminal.width)
}

fn figures(report: &TrialReport, terminal: Terminal) -> String {
    let [new, old] = &report.plan.arms;
    let header = [
        String::new(),
        new.clone(),
        old.clone(),
        "difference".to_owned(),
        "95 % interval".to_owned(),
        "finding".to_owned(),
        "connections".to_owned(),
    ];
    let rows: Vec<_> = report.rows.iter().map(|row| figure(row, report.plan.margin)).collect();
    table(&header, &rows, terminal.width)
}

fn figure(row: &Row, margin: f64) -> Vec<String> {
    let name = match (row.metric, row.size) {
        (Metric::TransferTime, None) => "transfer time".to_owned(),
        (Metric::TransferTime, Some(size)) => format!("  {}", size.name()),
        (metric, _) => metric.name().to_owned(),
    };
    // Geometric means over different sizes would not say anything.
    let values =
        if row.metric == Metric::TransferTime && row.size.is_none() { [None, None] } else { row.values };
    let change = |value: f64| if row.metric.relative() { relative(value) } else { points(value) };
    let within = if row.metric.relative() {
        format!("same within {} %", number(margin * 100.0))
    } else {
        "same".to_owned()
    };
    vec![
        name,
        value(row.metric, values[0]),
        value(row.metric, values[1]),
        row.effect.map_or("–".to_owned(), change),
        row.interval.map_or("–".to_owned(), |[low, high]| span(&change(low), &change(high))),
        match row.finding {
            Finding::Lower => "less".to_owned(),
            Finding::Higher => "more".to_owned(),
            Finding::Equivalent => within,
            Finding::CannotTell => "cannot tell".to_owned(),
        },
        format!("{}, {}", row.counts[0], row.counts[1]),
    ]
}

fn value(metric: Metric, value: Option<f64>) -> String {
    match (metric, value) {
        (_, None) => "–".to_owned(),
        (Metric::TransferTime | Metric::StartupTime, Some(value)) => seconds(value),
        (Metric::StartupWindow, Some(value)) => format!("{} packets", number(value.round())),
        (Metric::RetransmittedShare | Metric::CutOffShare, Some(value)) => {
            format!("{} %", number(value * 100.0))
        }
    }
}

/// "+12 %", of a ratio.
fn relative(ratio: f64) -> String {
    signed((ratio - 1.0) * 100.0, " %")
}

/// "+0.8 points", of a difference of shares.
fn points(difference: f64) -> String {
    signed(difference * 100.0, " points")
}

fn signed(value: f64, unit: &str) -> String {
    let sign = if value < 0.0 { "−" } else { "+" };
    let size = number(value.abs());
    format!("{}{size}{unit}", if size == "0" { "" } else { sign })
}
