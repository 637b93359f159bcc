//! TLS 1.3 with a certificate made for the run.

use std::sync::Arc;

use noq_proto::crypto::rustls as noq;
use quinn_proto::crypto::rustls as quinn;
use rampcc_quic_sim::{PEER, Protection};
use rcgen::{CertificateParams, KeyPair, PKCS_ED25519};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// One Ed25519 certificate, as in virtual time, which the client knows as its root. No tickets: no client comes back.
pub(super) fn protection() -> Result<Protection, Failure> {
    let key = KeyPair::generate_for(&PKCS_ED25519)?;
    let certificate = CertificateParams::new([PEER.to_owned()])?.self_signed(&key)?.der().clone();
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone())?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = &[&rustls::version::TLS13];
    let client = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    let mut server = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key.into())?;
    server.send_tls13_tickets = 0;
    Ok(Protection {
        noq: (
            Arc::new(noq::QuicClientConfig::try_from(client.clone())?),
            Arc::new(noq::QuicServerConfig::try_from(server.clone())?),
        ),
        quinn: (
            Arc::new(quinn::QuicClientConfig::try_from(client)?),
            Arc::new(quinn::QuicServerConfig::try_from(server)?),
        ),
    })
}
