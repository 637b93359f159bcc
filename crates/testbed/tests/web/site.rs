//! nginx at the sender's end of an emulated path, and curl at the other.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use rampcc_emulator::{Emulator, End, ErrorReport, Options, Running};
use rampcc_scenario::Scenario;

const PORT: u16 = 8080;
/// nginx opens its port within a fraction of this.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(20);

/// Files served over a path.
pub(crate) struct Site {
    running: Running,
    server: Child,
    folder: PathBuf,
    address: String,
}

/// What curl says of a download.
#[derive(Clone, Debug)]
pub(crate) struct Fetched {
    /// From its start to the last byte, the handshake included.
    pub(crate) seconds: f64,
    pub(crate) content: Vec<u8>,
}

/// Whether nginx and curl are installed.
pub(crate) fn installed() -> bool {
    let runs = |program: &str, argument: &str| {
        let quiet = Command::new(program).arg(argument).stdout(Stdio::null()).stderr(Stdio::null()).status();
        quiet.is_ok_and(|status| status.success())
    };
    runs("nginx", "-v") && runs("curl", "--version")
}

/// The bytes of a file: no two of its stretches are the same.
pub(crate) fn content(bytes: usize) -> Vec<u8> {
    (0..bytes.div_ceil(8)).flat_map(|number| format!("{number:07}\n").into_bytes()).take(bytes).collect()
}

impl Site {
    /// Serves a file of each size, named by it, over the path of `scenario`; connections of the server are steered by
    /// `congestion_control`, which a route gives them.
    pub(crate) fn start(
        scenario: &Scenario,
        seed: u64,
        congestion_control: &str,
        sizes: &[usize],
    ) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("ramp-web-{}-{number}", std::process::id()));
        fs::create_dir_all(folder.join("files"))?;
        for size in sizes {
            fs::write(folder.join("files").join(size.to_string()), content(*size))?;
        }
        let running = Emulator::start(scenario, seed, &Options::default()).map_err(io::Error::other)?;
        let from = scenario.flows.first().map(|flow| flow.from);
        let address = from.and_then(|node| running.address(node)).ok_or(io::ErrorKind::NotFound)?;
        let address = format!("{address}:{PORT}");
        let mut route = running.command(End::Sender, "ip").map_err(io::Error::other)?;
        let route = route.args(["route", "replace", "10.77.0.0/16", "dev", "ramp0", "scope", "link"]);
        let set = route.args(["congctl", congestion_control]).status()?;
        if !set.success() {
            return Err(io::Error::other(format!("no route with congctl {congestion_control}")));
        }
        let configuration = folder.join("nginx.conf");
        fs::write(&configuration, configure(&folder, &address))?;
        let mut server = running.command(End::Sender, "nginx").map_err(io::Error::other)?;
        let server = server.arg("-p").arg(&folder).arg("-c").arg(&configuration);
        let server = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let site = Self { running, server, folder, address };
        site.wait_for_server()?;
        Ok(site)
    }

    /// Downloads the file of this size with curl, at the other end of the path.
    pub(crate) fn fetch(&self, size: usize) -> io::Result<Fetched> {
        let target = self.folder.join("fetched");
        let mut curl = self.running.command(End::Receiver, "curl").map_err(io::Error::other)?;
        curl.args([
            "--silent",
            "--show-error",
            "--fail",
            "--max-time",
            "120",
            "--write-out",
            "%{time_total}",
        ]);
        curl.arg("--output").arg(&target).arg(format!("http://{}/{size}", self.address));
        let output = curl.output()?;
        if !output.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let seconds = String::from_utf8_lossy(&output.stdout).trim().parse().map_err(io::Error::other)?;
        Ok(Fetched { seconds, content: fs::read(&target)? })
    }

    /// Ends everything, and tells how good the path was.
    pub(crate) fn stop(mut self) -> io::Result<ErrorReport> {
        self.server.kill()?;
        self.server.wait()?;
        fs::remove_dir_all(&self.folder)?;
        self.running.stop().map_err(io::Error::other)
    }

    #[allow(clippy::disallowed_methods, reason = "nginx tells nobody that it listens")]
    fn wait_for_server(&self) -> io::Result<()> {
        let listens = || {
            let table = self.running.in_sender(|| fs::read_to_string("/proc/thread-self/net/tcp"));
            let port = format!(":{PORT:04X} ");
            table.is_ok_and(|table| table.is_ok_and(|table| table.contains(&port)))
        };
        let mut waited = Duration::ZERO;
        while !listens() {
            if waited > PATIENCE {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "nginx does not listen"));
            }
            thread::sleep(LOOK);
            waited += LOOK;
        }
        Ok(())
    }
}

/// nginx as Debian has it, in the foreground and with everything it writes in a folder of its own.
fn configure(folder: &Path, address: &str) -> String {
    let folder = folder.display();
    format!(
        "daemon off;\nmaster_process off;\npid {folder}/nginx.pid;\nerror_log {folder}/error.log;\n\
         events {{ worker_connections 64; }}\n\
         http {{\n  access_log off;\n  sendfile on;\n  tcp_nopush on;\n  client_body_temp_path {folder}/body;\n  \
         proxy_temp_path {folder}/proxy;\n  fastcgi_temp_path {folder}/fastcgi;\n  uwsgi_temp_path {folder}/uwsgi;\n  \
         scgi_temp_path {folder}/scgi;\n  server {{ listen {address}; root {folder}/files; }}\n}}\n"
    )
}
