//! A download over QUIC: a server whose start-up is one of ramp's, and a client, over real sockets with TLS.
//!
//! ```text
//! quic-download serve ADDRESS:PORT CERTIFICATE.pem KEY.pem BYTES ROW [LOG]
//! quic-download get ADDRESS:PORT CERTIFICATE.pem
//! ```
//!
//! `ROW` is a name of `ramp list algorithms`, or `noq_cubic` for noq's own. Each connection is answered by so many bytes, and the
//! server then says, and appends to LOG, why start-up ended. One thread drives the stack and waits for the next packet or timer itself, so that packets are
//! spaced to some microseconds, where a runtime's timers have a millisecond.

mod driver;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use noq_proto::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TransportConfig, VarInt};
use rampcc_quic::noq::Factory;
use rampcc_quic::{Connection, Exit, Observer, Rules};
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use driver::{Driver, Role};

type Failure = Box<dyn std::error::Error>;

const RECEIVE_WINDOW: u32 = 1 << 30;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["serve", address, certificate, key, bytes, row] => serve(&Serving {
            address: address.parse()?,
            certificate,
            key,
            bytes: bytes.parse()?,
            row,
            log: None,
        }),
        ["serve", address, certificate, key, bytes, row, log] => {
            let (address, bytes) = (address.parse()?, bytes.parse()?);
            serve(&Serving { address, certificate, key, bytes, row, log: Some(log) })
        }
        ["get", address, certificate] => get(address.parse()?, certificate),
        _ => {
            eprintln!(
                "usage: quic-download serve ADDRESS:PORT CERTIFICATE.pem KEY.pem BYTES ROW [LOG]\n       quic-download get ADDRESS:PORT CERTIFICATE.pem"
            );
            std::process::exit(2);
        }
    }
}

/// Keeps why start-up ended.
#[derive(Debug, Default)]
struct Exits(Mutex<Option<Exit>>);

impl Observer for Exits {
    fn on_change(&self, _: rampcc::Time, connection: &Connection) {
        *self.0.lock().expect("nobody panics with it") = connection.exit().copied();
    }
}

struct Serving<'a> {
    address: SocketAddr,
    /// PEM files.
    certificate: &'a str,
    key: &'a str,
    bytes: u64,
    /// The start-up algorithm, or the stack's own control.
    row: &'a str,
    log: Option<&'a str>,
}

fn serve(serving: &Serving<'_>) -> Result<(), Failure> {
    let Serving { address, certificate, key, bytes, row, log } = *serving;
    let exits = Arc::new(Exits::default());
    let mut transport = transport();
    if row != "noq_cubic" {
        // The one line that gives a stack another start-up.
        let rules =
            Rules::new(row).ok_or_else(|| format!("`{row}` is no row: `ramp list algorithms` has them"))?;
        transport.congestion_controller_factory(Arc::new(Factory::new(rules)?.observed(exits.clone())));
    }
    let certificates = CertificateDer::pem_file_iter(certificate)?.collect::<Result<Vec<_>, _>>()?;
    let mut config = ServerConfig::with_single_cert(certificates, PrivateKeyDer::from_pem_file(key)?)?;
    config.transport_config(Arc::new(transport));
    let endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), Some(Arc::new(config)), false);
    let mut driver = Driver::new(endpoint, address, Role::Server { bytes })?;
    eprintln!("serving {bytes} bytes at {address}");
    loop {
        driver.run()?;
        let exit = exits.0.lock().expect("nobody panics with it").take();
        let said = match exit {
            Some(exit) => format!(
                "{row}: left start-up because of {}, {} against {}, with a window of {} bytes",
                exit.reason.word(),
                exit.evidence,
                exit.limit,
                exit.window_bytes
            ),
            None => format!("{row}: start-up did not end"),
        };
        eprintln!("{said}");
        if let Some(log) = log {
            writeln!(OpenOptions::new().create(true).append(true).open(log)?, "{said}")?;
        }
    }
}

fn get(address: SocketAddr, certificate: &str) -> Result<(), Failure> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(certificate)? {
        roots.add(certificate?)?;
    }
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    config.transport_config(Arc::new(transport()));
    let endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), None, false);
    let any = SocketAddr::from(if address.is_ipv4() {
        ([0; 4], 0).into()
    } else {
        SocketAddr::from(([0_u16; 8], 0))
    });
    let mut driver = Driver::new(endpoint, any, Role::Client)?;
    let began = Instant::now();
    driver.connect(config, address)?;
    let received = driver.run()?;
    println!("{received} bytes in {:.3} s", began.elapsed().as_secs_f64());
    Ok(())
}

fn transport() -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .stream_receive_window(VarInt::from_u32(RECEIVE_WINDOW))
        .receive_window(VarInt::from_u32(RECEIVE_WINDOW))
        .send_window(u64::from(RECEIVE_WINDOW))
        // Full Ethernet datagrams from the start: the path is known.
        .initial_mtu(1472)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false);
    config
}
