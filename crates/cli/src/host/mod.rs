//! Commands for a live host.

mod attach;
mod detach;
mod doctor;
mod exporter;
mod load;
mod status;
mod trial;
mod units;
mod values;
mod watch;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use rampcc::{Algorithm, Traits};
use rampcc_host::{Host, HostError, PINS, RECORDS, printable};

use crate::error::{CliError, Result};
use crate::terminal::Terminal;

/// What can be done to a live host.
#[derive(Subcommand, Debug)]
pub(crate) enum HostCommand {
    Attach(attach::AttachArgs),
    Status(status::StatusArgs),
    Detach(detach::DetachArgs),
    Doctor(doctor::DoctorArgs),
    Watch(watch::WatchArgs),
    Trial(Box<trial::TrialArgs>),
    Export(exporter::ExportArgs),
}

/// Where a host keeps what ramp has done to it.
#[derive(Args, Debug)]
pub(crate) struct HostArgs {
    /// Directory of the pinned kernel objects, in a BPF file system
    #[arg(long, value_name = "DIR", default_value = PINS)]
    pins: PathBuf,
    /// Directory of the records of what the attachments replaced
    #[arg(long, value_name = "DIR", default_value = RECORDS)]
    records: PathBuf,
}

impl HostArgs {
    pub(crate) fn host(&self) -> Host {
        Host::at(&self.pins, &self.records)
    }
}

impl HostCommand {
    pub(crate) fn run(self, terminal: Terminal, out: &mut impl Write) -> Result {
        match self {
            Self::Attach(args) => delivered(|text| attach::attach(&args, terminal, text)),
            Self::Status(args) => status::status(&args, terminal, out),
            Self::Detach(args) => delivered(|text| detach::detach(&args, terminal, text)),
            Self::Doctor(args) => doctor::doctor(&args, terminal, out),
            Self::Watch(args) => watch::watch(&args, terminal, out),
            Self::Trial(args) => trial::trial(&args, terminal, out),
            Self::Export(args) => exporter::export(&args, out),
        }
    }
}

/// What has changed this host tells by its exit code whether it did. Where standard output takes no more, standard error
/// gets the text.
fn delivered(work: impl FnOnce(&mut Vec<u8>) -> Result) -> Result {
    let mut text = Vec::new();
    let done = work(&mut text);
    let mut out = io::stdout().lock();
    if out.write_all(&text).and_then(|()| out.flush()).is_err() {
        let _ = io::stderr().write_all(&text);
    }
    done
}

/// For `--unit`.
fn unit_name(text: &str) -> Result<String, String> {
    if (1..=255).contains(&text.len()) && !text.contains(char::is_control) {
        Ok(text.to_owned())
    } else {
        Err("the name of a unit is 1 to 255 bytes of text, as in ramp-attach@best's `best`".to_owned())
    }
}

/// An error of the host, with what to do about it.
#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(crate) fn told(error: HostError) -> CliError {
    // Names of others' making may be in it.
    let (message, help) = (lines(&error.to_string()), error.advice().map(|advice| lines(&advice)));
    match error {
        HostError::Input { .. } => CliError::Input { message, help },
        _ => CliError::Kernel { message, help },
    }
}

fn lines(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}

/// Why a host should think twice before it takes this row.
fn caution(algorithm: &Algorithm) -> Option<String> {
    let experimental = Traits::ALL.iter().find(|each| each.bit == Traits::EXPERIMENTAL)?;
    let id = algorithm.id;
    algorithm
        .traits
        .has(experimental.bit)
        .then(|| format!("{id} is experimental: it {}; `ramp explain {id}` says more.", experimental.meaning))
}
