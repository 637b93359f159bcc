//! `ramp export`: counters for Prometheus.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use rampcc_host::metrics::{MetricsServer, text};
use rampcc_host::publish;

use super::{HostArgs, told};
use crate::error::Result;
use crate::progress::interruption;

/// How often Ctrl-C is looked for.
const ATTENTION: Duration = Duration::from_millis(200);

/// Export the counters of attached algorithms to Prometheus
///
/// Counts for each attachment: connections opened, closed and open, start-ups ended by reason and by duration, and
/// connections that ran as plain CUBIC. Without an option, prints them once to standard output.
#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    /// Serve them over HTTP, as /metrics, until Ctrl-C
    #[arg(long, value_name = "ADDRESS", conflicts_with = "textfile")]
    listen: Option<SocketAddr>,
    /// Write a file, whole or not at all, for the textfile collector of Prometheus's node exporter
    #[arg(long, value_name = "FILE")]
    textfile: Option<PathBuf>,
    #[command(flatten)]
    host: HostArgs,
}

/// Runs the command.
pub(crate) fn export(args: &ExportArgs, out: &mut impl Write) -> Result {
    let host = args.host.host();
    if let Some(address) = args.listen {
        let interrupted = interruption();
        let mut server = MetricsServer::listen(&host, address).map_err(told)?;
        let address = server.address().unwrap_or(address);
        writeln!(out, "http://{address}/metrics")?;
        out.flush()?;
        while !interrupted.load(Ordering::Relaxed) {
            server.poll(ATTENTION).map_err(told)?;
        }
        return Ok(());
    }
    let text = text(&host).map_err(told)?;
    match &args.textfile {
        Some(path) => publish(path, text.as_bytes()).map_err(told),
        None => Ok(out.write_all(text.as_bytes())?),
    }
}
