//! `ramp list`: algorithms, paths, parameters and everything else with a name.

use std::io::{self, Write};

use clap::{Args, ValueEnum};
use rampcc::Algorithm;
use rampcc_backend::Backend;
use rampcc_scenario::{Scenario, schema};
use serde_json::{Value, json};

use crate::backends;
use crate::error::Result;
use crate::explain::parameter_range;
use crate::table::table;
use crate::terminal::Terminal;

/// List algorithms, scenarios, queues and everything else with a name
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ramp list algorithms
  ramp list parameters --json
  ramp list fields             every field of a scenario file")]
pub(crate) struct ListArgs {
    /// Topic to list [default: the list of topics]
    what: Option<Topic>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Topic {
    /// Start-up algorithms
    Algorithms,
    /// Parameters of the algorithms, to set and to sweep
    Parameters,
    /// The kernel's own congestion controls, rows with --on linux
    KernelRows,
    /// Paths that ship with ramp
    Scenarios,
    /// Queue disciplines of a link
    Queues,
    /// Kinds of jitter
    Jitters,
    /// Kinds of random loss
    Losses,
    /// Filters that a link may apply to ACKs
    AckFilters,
    /// Generators of random traffic
    Traffic,
    /// Metrics of a run
    Metrics,
    /// Every table and field of a scenario file
    Fields,
}

/// Rows under a heading, for a terminal or a machine.
struct Listing {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Columns at the end that a narrow terminal does without.
    dispensable: usize,
}

/// A terminal of fewer columns is narrow.
const WIDE: usize = 120;

/// Run the command.
pub(crate) fn list(args: &ListArgs, terminal: Terminal, out: &mut impl Write) -> Result {
    let listing = match args.what {
        None => topics(),
        Some(Topic::Algorithms) => algorithms(),
        Some(Topic::KernelRows) => kernel_rows(),
        Some(Topic::Parameters) => parameters(),
        Some(Topic::Scenarios) => scenarios(),
        Some(Topic::Queues) => kinds("queue = "),
        Some(Topic::Jitters) => kinds("jitter = "),
        Some(Topic::Losses) => kinds("loss = "),
        Some(Topic::AckFilters) => kinds("ack-filter = "),
        Some(Topic::Traffic) => kinds("[[traffic]]"),
        Some(Topic::Metrics) => metrics(),
        Some(Topic::Fields) => fields(),
    };
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &listing.json()).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        let shown = listing.header.len() - if terminal.width < WIDE { listing.dispensable } else { 0 };
        let rows: Vec<_> = listing.rows.iter().map(|row| row[..shown].to_vec()).collect();
        writeln!(out, "{}", table(&listing.header[..shown], &rows, terminal.width))?;
    }
    Ok(())
}

impl Listing {
    fn new(header: &[&str], rows: Vec<Vec<String>>) -> Self {
        Self { header: header.iter().map(|h| (*h).to_owned()).collect(), rows, dispensable: 0 }
    }

    fn json(&self) -> Value {
        let object = |row: &Vec<String>| -> Value {
            self.header.iter().zip(row).map(|(key, cell)| (key.clone(), json!(cell))).collect()
        };
        self.rows.iter().map(object).collect()
    }
}

fn topics() -> Listing {
    let rows = Topic::value_variants()
        .iter()
        .filter_map(Topic::to_possible_value)
        .map(|v| vec![v.get_name().to_owned(), v.get_help().map(ToString::to_string).unwrap_or_default()])
        .collect();
    Listing::new(&["ramp list", "what"], rows)
}

fn algorithms() -> Listing {
    let words = |words: Vec<&str>| if words.is_empty() { "–".to_owned() } else { words.join(" ") };
    let row = |a: &Algorithm| {
        let runs = backends::ALL.iter().filter(|backend| a.runs_without(backend.lacks()));
        vec![
            a.id.to_owned(),
            words(a.traits.needs().map(|need| need.word).collect()),
            words(runs.map(|backend| backend.name()).collect()),
            a.idea.to_owned(),
            words(a.traits.families().map(|family| family.word).collect()),
            a.source.to_owned(),
        ]
    };
    let rows = rampcc::algorithms().iter().map(row).collect();
    let listing = Listing::new(&["algorithm", "needs", "runs on", "idea", "groups", "source"], rows);
    Listing { dispensable: 2, ..listing }
}

fn kernel_rows() -> Listing {
    let listed = |backend: &'static dyn Backend| {
        let own = backend.controls().iter().filter(|control| control.backend == backend.name());
        own.map(move |control| {
            let here = match (backend.obstacle(Some(control)), backend.offers(control)) {
                (Some(obstacle), _) => format!("no: {obstacle}"),
                (None, Ok(())) => "yes".to_owned(),
                (None, Err(remedy)) => format!("no: {remedy}"),
            };
            vec![control.name.to_owned(), control.meaning.to_owned(), here]
        })
    };
    Listing::new(&["row", "meaning", "here"], backends::ALL.iter().copied().flat_map(listed).collect())
}

fn parameters() -> Listing {
    let rows = rampcc::algorithms()
        .iter()
        .flat_map(|a| a.parameters.iter().map(move |p| (a, p)))
        .map(|(a, p)| {
            let (default, range, unit) = parameter_range(p);
            vec![
                format!("{}.{}", a.id, p.name),
                default,
                range,
                unit,
                p.source.to_owned(),
                p.meaning.to_owned(),
            ]
        })
        .collect();
    Listing::new(&["parameter", "default", "range", "unit", "source", "meaning"], rows)
}

fn scenarios() -> Listing {
    let rows = Scenario::built_in_names()
        .filter_map(|name| Scenario::built_in(name).map(|s| owned([name, first_sentence(&s.description)])))
        .collect();
    Listing::new(&["scenario", "description"], rows)
}

/// Tables of the scenario schema that describe the kinds of one field.
fn kinds(field: &str) -> Listing {
    let rows = schema::tables()
        .iter()
        .filter(|table| table.name.starts_with(field))
        .map(|table| {
            let kind = table.fields().find(|f| f.name == "kind").map_or(table.name.to_owned(), |f| f.allowed);
            let own = table.fields().filter(|f| f.name != "kind");
            let fields: Vec<String> = own.map(|f| format!("{} ({})", f.name, f.default)).collect();
            vec![kind, table.meaning.to_owned(), fields.join(", ")]
        })
        .collect();
    Listing::new(&["kind", "meaning", "fields (default)"], rows)
}

fn metrics() -> Listing {
    let runs = rampcc_lab::definitions().into_iter().map(|m| owned([m.id, m.unit, m.meaning, "every run"]));
    let flows =
        rampcc_reproduce::OWN.iter().map(|m| owned([m.id, m.unit, m.meaning, "flows, ramp reproduce"]));
    Listing::new(&["metric", "unit", "meaning", "of"], runs.chain(flows).collect())
}

fn fields() -> Listing {
    let rows = schema::tables()
        .iter()
        .flat_map(|table| table.fields().map(move |f| (table, f)))
        .map(|(table, f)| owned([table.name, f.name, &f.allowed, &f.default, f.meaning]))
        .collect();
    Listing::new(&["table", "field", "allowed", "default", "meaning"], rows)
}

/// The rest is for `ramp explain`.
fn first_sentence(text: &str) -> &str {
    text.split_inclusive(". ").next().unwrap_or_default().trim_end()
}

fn owned<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}
