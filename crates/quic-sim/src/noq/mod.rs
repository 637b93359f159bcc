//! noq-proto at an end.

mod own;
mod plain;
#[path = "../stack.rs"]
mod stack;

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use noq_proto as proto;
use noq_proto::crypto::{ClientConfig, ServerConfig};
use noq_proto::{
    ConnectionIdGenerator, DatagramEvent, Endpoint, EndpointConfig, FourTuple, SendStream, WriteError,
};
use rampcc_quic::noq::Factory;

use crate::wishes::Wishes;
use stack::Arrived;

pub(crate) use own::{CUBIC, NEWRENO, Watched};
pub(crate) use stack::{Controllers, core, receiver, sender};

/// The backend.
pub(crate) const NAME: &str = "quic";
/// Streams at a time: as many as there may be.
const STREAMS_MAX: u32 = 1 << 24;
/// One datagram at a time.
const ONE: NonZeroUsize = NonZeroUsize::MIN;

fn protection(wishes: &Wishes) -> &(Arc<dyn ClientConfig>, Arc<dyn ServerConfig>) {
    &wishes.protection.noq
}

fn set_cids(
    config: &mut EndpointConfig,
    make: impl Fn() -> Box<dyn ConnectionIdGenerator> + Send + Sync + 'static,
) {
    config.cid_generator(Arc::new(make));
}

fn endpoint(config: EndpointConfig, server: Option<proto::ServerConfig>) -> Endpoint {
    Endpoint::new(Arc::new(config), server.map(Arc::new), false)
}

fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    from: SocketAddr,
    arrived: Arrived,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, FourTuple::from_remote(from), arrived.ecn, arrived.contents, answer)
}

/// Bytes that the stream took.
fn write(stream: &mut SendStream<'_>, part: Bytes) -> Result<usize, WriteError> {
    stream.write_chunks(&mut &mut [part][..])
}
