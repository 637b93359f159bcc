//! The default congestion control of a network namespace.

use std::path::Path;
use std::{fs, io};

use crate::error::{HostError, Result};
use crate::namespace::Namespace;

const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// What new connections get.
pub(crate) fn default_in(namespace: &Namespace) -> Result<String> {
    namespace.within(|| read(DEFAULT))
}

/// What new connections shall get.
pub(crate) fn set_default_in(namespace: &Namespace, name: &str) -> Result {
    namespace.within(|| write(name))
}

/// The default, once it is sure that it could be set again: a namespace may run a congestion control that is restricted,
/// or no longer registered.
pub(crate) fn restorable_default_in(namespace: &Namespace) -> Result<String> {
    namespace.within(|| {
        let name = read(DEFAULT)?;
        if let Err(HostError::File { cause, .. }) = write(&name) {
            let advice = "set another default first (sysctl -w net.ipv4.tcp_congestion_control=NAME)";
            return Err(match cause.kind() {
                io::ErrorKind::NotFound => HostError::refused(
                    format!("the default congestion control here, {name}, is not registered any more, so it could not be put back"),
                    advice,
                ),
                _ if has_net_admin() => HostError::refused(
                    format!("the default congestion control here, {name}, could not be put back: {cause}"),
                    advice,
                ),
                _ => HostError::file("write", Path::new(DEFAULT))(cause),
            });
        }
        Ok(name)
    })
}

/// Congestion controls that the kernel has registered.
pub(crate) fn available() -> Result<Vec<String>> {
    Ok(read(AVAILABLE)?.split_whitespace().map(str::to_owned).collect())
}

fn has_net_admin() -> bool {
    caps::has_cap(None, caps::CapSet::Effective, caps::Capability::CAP_NET_ADMIN).unwrap_or(false)
}

fn read(path: &str) -> Result<String> {
    fs::read_to_string(path)
        .map(|text| text.trim().to_owned())
        .map_err(HostError::file("read", Path::new(path)))
}

fn write(name: &str) -> Result {
    fs::write(DEFAULT, name).map_err(HostError::file("write", Path::new(DEFAULT)))
}
