//! What a row's programs are given: an object to serve, files, a certificate, and the words that stand for them.

use std::env;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::net::IpAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use super::row::Program;

/// Where servers are to listen: every run has namespaces of its own.
pub(super) const PORT: u16 = 8443;

/// A folder of temporary files, gone with this value.
#[derive(Debug)]
pub(super) struct Folder {
    place: PathBuf,
    words: Vec<(&'static str, String)>,
}

impl Folder {
    /// With an object of so many bytes, all of it a hole, and whatever the row asks for.
    pub(super) fn new(program: &Program, address: IpAddr, bytes: u64, seed: u64) -> io::Result<Self> {
        let place = new_folder()?;
        let served = place.join("www");
        let mut folder = Self { place, words: Vec::new() };
        fs::create_dir(&served)?;
        File::create(served.join("object"))?.set_len(bytes)?;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let (certificate, key) = (folder.place.join("certificate.pem"), folder.place.join("key.pem"));
        folder.words = vec![
            ("address", address.to_string()),
            ("host", host(address)),
            ("port", PORT.to_string()),
            ("bytes", bytes.to_string()),
            ("seed", seed.to_string()),
            ("dir", text(&served)),
            ("files", text(&folder.place)),
            ("certificate", text(&certificate)),
            ("key", text(&key)),
        ];
        let url = folder.fill(&program.url);
        folder.words.push(("url", url));
        if program.encrypted() {
            make_certificate(address, &certificate, &key)?;
        }
        for (name, text) in &program.files {
            fs::write(folder.place.join(name), folder.fill(text))?;
        }
        Ok(folder)
    }

    pub(super) fn fill(&self, text: &str) -> String {
        let fill = |text: String, (word, value): &(&str, String)| text.replace(&format!("{{{word}}}"), value);
        self.words.iter().fold(text.to_owned(), fill)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is left to the cleaning of the directory of temporary files.
        let _ = fs::remove_dir_all(&self.place);
    }
}

fn host(address: IpAddr) -> String {
    if address.is_ipv6() { format!("[{address}]") } else { address.to_string() }
}

/// A directory that no one else has made or can look into.
fn new_folder() -> io::Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("ramp-program-{}-{number}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result.map(|()| folder),
        }
    }
}

/// A key and a certificate for the server's address, signed by itself.
fn make_certificate(address: IpAddr, certificate: &Path, key: &Path) -> io::Result<()> {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"])
        // A server's own and no authority's: rustls takes no authority's from a server.
        .args(["-days", "2", "-subj", "/CN=localhost", "-addext", "basicConstraints=critical,CA:FALSE"])
        .arg("-addext")
        .arg(format!("subjectAltName=IP:{address},DNS:localhost"))
        .arg("-keyout")
        .arg(key)
        .arg("-out")
        .arg(certificate)
        .stdin(Stdio::null())
        .output();
    let made =
        made.map_err(|cause| io::Error::new(cause.kind(), format!("openssl, for a certificate: {cause}")))?;
    if made.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&made.stderr);
    let last = said.lines().last().unwrap_or_default();
    Err(io::Error::other(format!("openssl made no certificate: {last}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_and_everything_goes() {
        let text =
            "[a]\nserver = 'x'\nurl = 'http://{host}:{port}/{bytes}'\n[a.files]\nf = '{dir} {x} {seed}'\n";
        let program = &Program::parse_all(text).unwrap()[0];
        let folder = Folder::new(program, IpAddr::from([10, 77, 0, 1]), 1000, 7).unwrap();
        let place = folder.place.clone();
        assert_eq!(folder.fill("{url} {nothing}"), "http://10.77.0.1:8443/1000 {nothing}");
        let written = fs::read_to_string(place.join("f")).unwrap();
        assert_eq!(written, format!("{} {{x}} 7", place.join("www").display()));
        assert_eq!(fs::metadata(place.join("www/object")).unwrap().len(), 1000);
        drop(folder);
        assert!(!place.exists());
        let six = Folder::new(program, "fd77::1".parse().unwrap(), 1000, 7).unwrap();
        assert_eq!(six.fill("{url} {address}"), "http://[fd77::1]:8443/1000 fd77::1");
    }
}
