//! quinn-proto at an end.

mod own;
mod plain;
#[path = "../stack.rs"]
mod stack;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use quinn_proto as proto;
use quinn_proto::crypto::{ClientConfig, ServerConfig};
use quinn_proto::{ConnectionIdGenerator, DatagramEvent, Endpoint, EndpointConfig, SendStream, WriteError};
use rampcc_quic::quinn::Factory;

use crate::wishes::Wishes;
use stack::Arrived;

pub(crate) use own::{CUBIC, NEWRENO, Watched};
pub(crate) use stack::{Controllers, core, receiver, sender};

/// The backend.
pub(crate) const NAME: &str = "quinn";
/// Streams at a time, each of which quinn makes room for when a connection begins.
const STREAMS_MAX: u32 = 1 << 10;
/// One datagram at a time.
const ONE: usize = 1;

fn protection(wishes: &Wishes) -> &(Arc<dyn ClientConfig>, Arc<dyn ServerConfig>) {
    &wishes.protection.quinn
}

fn set_cids(
    config: &mut EndpointConfig,
    make: impl Fn() -> Box<dyn ConnectionIdGenerator> + Send + Sync + 'static,
) {
    config.cid_generator(make);
}

fn endpoint(config: EndpointConfig, server: Option<proto::ServerConfig>) -> Endpoint {
    Endpoint::new(Arc::new(config), server.map(Arc::new), false, None)
}

fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    from: SocketAddr,
    arrived: Arrived,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, from, None, arrived.ecn, arrived.contents, answer)
}

/// Bytes that the stream took.
fn write(stream: &mut SendStream<'_>, part: Bytes) -> Result<usize, WriteError> {
    Ok(stream.write_chunks(&mut [part])?.bytes)
}
