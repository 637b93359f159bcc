//! What protects the packets of a run.

use std::fmt;
use std::sync::Arc;

use crate::plain::Plain;

/// The name by which the end that opens the connection knows the other one.
pub const PEER: &str = "peer";

/// The cryptography of both stacks, each as a client and as a server: TLS, or by default packets in the clear, which need no TLS
/// library and are the same in each run.
#[derive(Clone)]
pub struct Protection {
    /// noq-proto's.
    pub noq: (Arc<dyn noq_proto::crypto::ClientConfig>, Arc<dyn noq_proto::crypto::ServerConfig>),
    /// quinn-proto's.
    pub quinn: (Arc<dyn quinn_proto::crypto::ClientConfig>, Arc<dyn quinn_proto::crypto::ServerConfig>),
}

impl Default for Protection {
    fn default() -> Self {
        Self { noq: (Arc::new(Plain), Arc::new(Plain)), quinn: (Arc::new(Plain), Arc::new(Plain)) }
    }
}

impl fmt::Debug for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Protection")
    }
}
