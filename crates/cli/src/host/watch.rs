//! `ramp watch`: connections in start-up, as it happens.

use std::collections::VecDeque;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use rampcc::figures::counted;
use rampcc_host::live::{Exit, Flow, Live, Snapshot};
use serde_json::json;

use super::units::{bytes, evidence, rate, seconds};
use super::{HostArgs, told};
use crate::error::Result;
use crate::progress::interruption;
use crate::terminal::Terminal;

/// How often attachments are looked for.
const REFRESH: Duration = Duration::from_secs(2);
/// How often Ctrl-C is looked for.
const ATTENTION: Duration = Duration::from_millis(50);
/// Start-ups that have ended and are still shown.
const RECENT: usize = 64;

/// Watch connections start up, live
///
/// Shows every connection that is in start-up under an attached algorithm, and below them the start-ups that have just
/// ended, with the reason. In a terminal this is a table, redrawn until Ctrl-C; a file or a pipe gets one line for each
/// start-up that ends.
#[derive(Args, Debug)]
pub(crate) struct WatchArgs {
    /// Look once: connections in start-up and the last start-ups that ended
    #[arg(long)]
    once: bool,
    /// Also the kernel's own congestion controls, on the whole host: nothing needs to be attached
    ///
    /// Their exits show from outside: a loss, a timeout, a mark, or what CUBIC's HyStart found. BBR keeps no threshold and is left out.
    #[arg(long)]
    all: bool,
    /// Print JSON: one object with --once, otherwise one line for each start-up that ends
    #[arg(long)]
    json: bool,
    /// Milliseconds between looks
    #[arg(long, value_name = "MS", default_value_t = 200, value_parser = clap::value_parser!(u64).range(20..=60_000))]
    interval: u64,
    #[command(flatten)]
    host: HostArgs,
}

/// Runs the command.
pub(crate) fn watch(args: &WatchArgs, terminal: Terminal, out: &mut impl Write) -> Result {
    let screen = !args.once && !args.json && io::stdout().is_terminal();
    let mut live = Live::new(&args.host.host(), args.once || screen);
    if args.all {
        live = live.with_all().map_err(told)?;
    }
    live.refresh().map_err(told)?;
    if args.once {
        let snapshot = live.look().map_err(told)?;
        return once(args, &snapshot, terminal, out);
    }
    let interval = Duration::from_millis(args.interval);
    if screen { redraw(&mut live, interval, terminal, out) } else { stream(args, &mut live, interval, out) }
}

fn once(args: &WatchArgs, snapshot: &Snapshot, terminal: Terminal, out: &mut impl Write) -> Result {
    if args.json {
        let text = serde_json::to_string_pretty(snapshot).expect("string keys only");
        return Ok(writeln!(out, "{text}")?);
    }
    let mut view = View::default();
    view.take(snapshot);
    // Nothing is cut off that a reader of a file could want.
    let width = if io::stdout().is_terminal() { terminal.width } else { usize::MAX };
    let terminal = Terminal { width, ..terminal };
    for line in view.lines(snapshot, terminal, usize::MAX) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// One line for each start-up that ends.
fn stream(args: &WatchArgs, live: &mut Live, interval: Duration, out: &mut impl Write) -> Result {
    let interrupted = interruption();
    let mut refreshed = Instant::now();
    while !interrupted.load(Ordering::Relaxed) {
        if refreshed.elapsed() >= REFRESH {
            live.refresh().map_err(told)?;
            refreshed = Instant::now();
        }
        let snapshot = look(live)?;
        for exit in &snapshot.exits {
            if args.json {
                let text = serde_json::to_string(&json!({ "exit": exit })).expect("string keys only");
                writeln!(out, "{text}")?;
            } else {
                writeln!(out, "{}", sentence(exit))?;
            }
        }
        if snapshot.missed > 0 {
            if args.json {
                writeln!(out, "{}", json!({ "missed": snapshot.missed }))?;
            } else {
                writeln!(out, "{} more start-ups ended too fast to be shown", snapshot.missed)?;
            }
        }
        out.flush()?;
        pause(interval, || interrupted.load(Ordering::Relaxed));
    }
    Ok(())
}

fn redraw(live: &mut Live, interval: Duration, terminal: Terminal, out: &mut impl Write) -> Result {
    let interrupted = interruption();
    let mut view = View::default();
    let (began, mut refreshed) = (Instant::now(), Instant::now());
    let screen = Screen::enter(out)?;
    let mut run = || -> Result {
        while !interrupted.load(Ordering::Relaxed) {
            if refreshed.elapsed() >= REFRESH {
                live.refresh().map_err(told)?;
                refreshed = Instant::now();
            }
            let snapshot = look(live)?;
            view.take(&snapshot);
            let (width, height) = terminal_size::terminal_size_of(io::stdout())
                .map_or((terminal.width, 24), |(width, height)| {
                    (usize::from(width.0), usize::from(height.0))
                });
            let lines = view.lines(&snapshot, Terminal { width, ..terminal }, height);
            out.write_all(b"\x1b[H")?;
            for (index, line) in lines.iter().take(height).enumerate() {
                let newline = if index == 0 { "" } else { "\r\n" };
                write!(out, "{newline}{line}\x1b[K")?;
            }
            out.write_all(b"\x1b[J")?;
            out.flush()?;
            pause(interval, || interrupted.load(Ordering::Relaxed));
        }
        Ok(())
    };
    let done = run();
    drop(screen);
    done?;
    writeln!(out, "{} start-ups ended in {}.", view.ended, seconds(began.elapsed().as_secs_f64()))?;
    Ok(())
}

/// What is detached between two looks is gone by the next [`Live::refresh`].
fn look(live: &mut Live) -> Result<Snapshot> {
    if let Ok(snapshot) = live.look() {
        return Ok(snapshot);
    }
    live.refresh().map_err(told)?;
    live.look().map_err(told)
}

#[expect(clippy::disallowed_methods, reason = "between two looks there is nothing to wait for but time")]
fn pause(interval: Duration, enough: impl Fn() -> bool) {
    let until = Instant::now() + interval;
    while !enough() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        thread::sleep(left.min(ATTENTION));
    }
}

fn sentence(exit: &Exit) -> String {
    let why =
        evidence(exit.reason, exit.evidence, exit.limit).map_or(String::new(), |why| format!(" ({why})"));
    let least = if exit.at_least { "at least " } else { "" };
    format!(
        "{} {}: left after {least}{} because of {}{why}, window {}, RTT {}, {} acknowledged, {} lost",
        exit.algorithm,
        ends(exit.local, exit.remote),
        seconds(exit.startup_s),
        exit.reason.word(),
        counted(exit.cwnd_packets, "packet"),
        seconds(exit.rtt_s),
        bytes(exit.acked_bytes),
        counted(exit.lost_packets, "packet"),
    )
}

fn ends(local: std::net::SocketAddr, remote: std::net::SocketAddr) -> String {
    format!("{local} > {remote}")
}

/// What is on the screen besides the connections of the moment.
#[derive(Default)]
struct View {
    recent: VecDeque<(Instant, Exit)>,
    ended: u64,
    looked: bool,
    flow_widths: Vec<usize>,
    exit_widths: Vec<usize>,
}

const FLOW_HEADINGS: [&str; 9] =
    ["in start-up", "algorithm", "phase", "window", "rate", "RTT", "sent", "resent", "age"];
const EXIT_HEADINGS: [&str; 7] = ["just left", "algorithm", "because of", "after", "window", "lost", "ago"];

impl View {
    fn take(&mut self, snapshot: &Snapshot) {
        if self.looked {
            self.ended += snapshot.exits.len() as u64 + snapshot.missed;
        }
        self.looked = true;
        for exit in &snapshot.exits {
            let then = Instant::now().checked_sub(Duration::from_secs_f64(exit.ago_s));
            self.recent.push_front((then.unwrap_or_else(Instant::now), exit.clone()));
        }
        self.recent.truncate(RECENT);
    }

    /// At most `height` lines.
    fn lines(&mut self, snapshot: &Snapshot, terminal: Terminal, height: usize) -> Vec<String> {
        let mut lines = vec![terminal.bold(&summary(snapshot)), String::new()];
        if snapshot.attached.is_empty() && self.recent.is_empty() {
            lines.push("Nothing is attached here: see `ramp attach --help`.".to_owned());
            return lines;
        }
        // Headings, blank lines and a line for what does not fit take six; a third is for what has just left.
        let room = height.saturating_sub(6);
        let exits_shown =
            self.recent.len().min(if height == usize::MAX { RECENT } else { (room / 3).max(3) });
        let flows_shown = snapshot.flows.len().min(room.saturating_sub(exits_shown));
        let rows: Vec<_> = snapshot.flows[..flows_shown].iter().map(flow_cells).collect();
        lines.extend(columns(&FLOW_HEADINGS, &rows, &mut self.flow_widths, terminal));
        if flows_shown < snapshot.flows.len() {
            lines.push(terminal.faint(&format!("and {} more", snapshot.flows.len() - flows_shown)));
        } else if flows_shown == 0 {
            lines.push(terminal.faint("none at this moment"));
        }
        lines.push(String::new());
        let rows: Vec<_> =
            self.recent.iter().take(exits_shown).map(|(at, exit)| exit_cells(*at, exit)).collect();
        lines.extend(columns(&EXIT_HEADINGS, &rows, &mut self.exit_widths, terminal));
        if exits_shown == 0 {
            lines.push(terminal.faint("none yet"));
        }
        lines
    }
}

fn summary(snapshot: &Snapshot) -> String {
    let attached: Vec<_> =
        snapshot.attached.iter().map(|(algorithm, scope)| format!("{algorithm} on {scope}")).collect();
    let attached = if attached.is_empty() { "nothing attached".to_owned() } else { attached.join(", ") };
    format!("ramp watch: {attached}: {} in start-up, {} open", snapshot.flows.len(), snapshot.open)
}

fn flow_cells(flow: &Flow) -> Vec<String> {
    vec![
        ends(flow.local, flow.remote),
        flow.algorithm.clone(),
        flow.phase.to_owned(),
        format!("{} {}", flow.cwnd_packets, in_bytes(flow.cwnd_bytes)),
        flow.delivery_bytes_per_s.map_or("–".to_owned(), rate),
        flow.rtt_s.map_or("–".to_owned(), seconds),
        bytes(flow.sent_bytes),
        bytes(flow.retransmitted_bytes),
        flow.age_s.map_or("–".to_owned(), seconds),
    ]
}

fn exit_cells(at: Instant, exit: &Exit) -> Vec<String> {
    let why =
        evidence(exit.reason, exit.evidence, exit.limit).map_or(String::new(), |why| format!(": {why}"));
    vec![
        ends(exit.local, exit.remote),
        exit.algorithm.clone(),
        format!("{}{why}", exit.reason.word()),
        format!("{}{}", if exit.at_least { "≥ " } else { "" }, seconds(exit.startup_s)),
        format!("{} {}", exit.cwnd_packets, in_bytes(exit.cwnd_bytes)),
        exit.lost_packets.to_string(),
        ago(at.elapsed()),
    ]
}

fn in_bytes(value: u64) -> String {
    format!("({})", bytes(value))
}

fn ago(time: Duration) -> String {
    let whole = time.as_secs();
    if whole < 120 { format!("{whole} s") } else { format!("{} min", whole / 60) }
}

/// Columns that grow as they must and never shrink, so that nothing jumps; what is too wide is cut off.
fn columns<const N: usize>(
    headings: &[&str; N],
    rows: &[Vec<String>],
    widths: &mut Vec<usize>,
    terminal: Terminal,
) -> Vec<String> {
    widths.resize(N, 0);
    for (index, width) in widths.iter_mut().enumerate() {
        let cells = rows.iter().map(|row| row[index].chars().count());
        *width = cells.chain([headings[index].chars().count(), *width]).max().unwrap_or(0);
    }
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.zip(widths.iter()).map(|(cell, width)| format!("{cell:<width$}"));
        let text = padded.collect::<Vec<_>>().join("  ");
        text.trim_end().chars().take(terminal.width).collect::<String>()
    };
    let heading = terminal.bold(&line(&mut headings.iter().copied()));
    let rows = rows.iter().map(|row| line(&mut row.iter().map(String::as_str)));
    [heading].into_iter().chain(rows).collect()
}

/// The terminal's other screen, without a cursor.
struct Screen;

impl Screen {
    fn enter(out: &mut impl Write) -> io::Result<Self> {
        out.write_all(b"\x1b[?1049h\x1b[?25l\x1b[2J")?;
        Ok(Self)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Standard output is ours; a terminal that has gone needs nothing back.
        let mut out = io::stdout();
        let _ = out.write_all(b"\x1b[?25h\x1b[?1049l");
        let _ = out.flush();
    }
}
