//! nginx at one end of an emulated path.

use std::env;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rampcc_emulator::{End, Host, Running, run_above_engine};

const PORT: u16 = 8080;
/// Moves the shell to a control group and becomes the command.
const ENTER: &str = r#"echo 0 > "$1" && shift && exec "$@""#;
/// nginx opens its port within a fraction of this.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(20);

/// Where nginx is; Debian has it outside the places of users.
pub(crate) fn nginx() -> Option<PathBuf> {
    let places = env::var_os("PATH").unwrap_or_default();
    let places = env::split_paths(&places).chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    places.map(|place| place.join("nginx")).find(|path| path.is_file())
}

/// nginx, in a namespace and with a folder of its own.
pub(crate) struct Server {
    address: SocketAddr,
    /// The one file that it serves, in parts; all of it is a hole. With its size.
    file: Mutex<(File, u64)>,
    folder: PathBuf,
    /// Dropped to end the process.
    running: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves at a host's address, in a control group if there is one.
    pub(crate) fn start(running: &Running, host: &Host, cgroup: Option<&Path>) -> io::Result<Self> {
        let program = nginx().ok_or(io::ErrorKind::NotFound)?;
        let (end, address) = (host.end, SocketAddr::new(host.address, PORT));
        let folder = new_folder()?;
        let (ended, wait) = mpsc::channel();
        let file = File::create(folder.join("objects"))?;
        let mut server =
            Self { address, file: Mutex::new((file, 0)), folder, running: Some(ended), thread: None };
        let configuration = server.folder.join("nginx.conf");
        fs::write(&configuration, configure(&server.folder, address))?;
        let command = match cgroup {
            None => running.command(end, &program.to_string_lossy()).map_err(io::Error::other)?,
            // Before nginx makes its socket: connections belong to the control group that their listener was made in.
            Some(cgroup) => {
                let mut shell = running.command(end, "/bin/sh").map_err(io::Error::other)?;
                shell.args(["-c", ENTER, "sh"]).arg(cgroup.join("cgroup.procs")).arg(program);
                shell
            }
        };
        server.thread = Some(serve(command, &server.folder, &configuration, wait)?);
        server.wait_until_it_listens(running, end)?;
        Ok(server)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What a client sends for so many bytes, after this was called.
    pub(crate) fn request(&self, bytes: u64) -> io::Result<String> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.1 < bytes {
            file.0.set_len(bytes)?;
            file.1 = bytes;
        }
        let (address, last) = (self.address, bytes.saturating_sub(1));
        Ok(format!(
            "GET /objects HTTP/1.1\r\nHost: {address}\r\nRange: bytes=0-{last}\r\nConnection: close\r\n\r\n"
        ))
    }

    #[expect(clippy::disallowed_methods, reason = "nginx tells nobody that it listens")]
    fn wait_until_it_listens(&self, running: &Running, end: End) -> io::Result<()> {
        let mut waited = Duration::ZERO;
        // By the loopback device of its own host, not over the path.
        let listens = || running.in_namespace(end, || TcpStream::connect(self.address).is_ok());
        while !listens().map_err(io::Error::other)? {
            if waited > PATIENCE {
                let log = fs::read_to_string(self.folder.join("error.log")).unwrap_or_default();
                let said = format!("nginx does not listen at {}: {}", self.address, log.trim());
                return Err(io::Error::new(io::ErrorKind::TimedOut, said));
            }
            thread::sleep(LOOK);
            waited += LOOK;
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.running = None;
        if let Some(thread) = self.thread.take() {
            // It has nothing to tell.
            let _ = thread.join();
        }
        // What cannot be removed is left to the cleaning of the directory of temporary files.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// nginx until the other end of `wait` is dropped. It inherits the priority of this thread, and ends with it.
fn serve(
    mut command: Command,
    folder: &Path,
    configuration: &Path,
    wait: mpsc::Receiver<()>,
) -> io::Result<JoinHandle<()>> {
    command.arg("-p").arg(folder).arg("-c").arg(configuration);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let (tell, told) = mpsc::channel();
    let thread = thread::Builder::new().name("rampcc-nginx".to_owned()).spawn(move || {
        // Without the privilege it works as well as it can; the emulator's report tells.
        let _ = run_above_engine();
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return tell.send(Err(error)).unwrap_or_default(),
        };
        let _ = tell.send(Ok(()));
        let _ = wait.recv();
        let _ = child.kill();
        let _ = child.wait();
    })?;
    told.recv().unwrap_or_else(|_| Err(io::Error::other("the thread that starts nginx panicked")))?;
    Ok(thread)
}

/// A directory that no one else has made or can look into.
fn new_folder() -> io::Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("ramp-nginx-{}-{number}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result.map(|()| folder),
        }
    }
}

/// In the foreground, with everything that it writes in a folder of its own.
fn configure(folder: &Path, address: SocketAddr) -> String {
    let folder = folder.display();
    format!(
        "daemon off;\nmaster_process off;\npid {folder}/nginx.pid;\nerror_log {folder}/error.log;\n\
         events {{ worker_connections 1000; }}\n\
         http {{\n  access_log off;\n  sendfile on;\n  tcp_nopush on;\n  client_body_temp_path {folder}/body;\n  \
         proxy_temp_path {folder}/proxy;\n  fastcgi_temp_path {folder}/fastcgi;\n  uwsgi_temp_path {folder}/uwsgi;\n  \
         scgi_temp_path {folder}/scgi;\n  server {{ listen {address}; root {folder}; }}\n}}\n"
    )
}
