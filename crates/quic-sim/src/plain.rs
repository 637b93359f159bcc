//! QUIC without protection, for virtual time: a handshake of fixed sizes and packets in the clear.
//!
//! The sizes are those of TLS 1.3 with one Ed25519 certificate. What a run does is then the same to the byte on every machine,
//! contents included, and no TLS library is needed.

use std::any::Any;

use bytes::BytesMut;
use noq_proto::crypto::{
    ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey, KeyPair,
    Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use noq_proto::transport_parameters::TransportParameters;
use noq_proto::{ConnectError, ConnectionId, PathId, Side, TransportError};

/// Of an AEAD.
const TAG_BYTES: usize = 16;
const SIGNATURE_BYTES: usize = 32;
const SAMPLE_BYTES: usize = 16;
/// Two lengths before each message: its own, and that of the parameters in it.
const HEAD_BYTES: usize = 4;

/// Every key, and the configuration of both sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain;

/// One step of a side's handshake: what it says once it has heard so much.
struct Step {
    /// Messages of the peer that have come.
    heard: usize,
    /// Length of what it says; 0: nothing.
    says: usize,
    /// With its transport parameters.
    parameters: bool,
    /// New keys come with it.
    keys: bool,
}

const CLIENT: &[Step] = &[
    Step { heard: 0, says: 300, parameters: true, keys: false },
    Step { heard: 1, says: 0, parameters: false, keys: true },
    Step { heard: 2, says: 36, parameters: false, keys: true },
];
const SERVER: &[Step] = &[
    Step { heard: 1, says: 90, parameters: false, keys: true },
    Step { heard: 1, says: 650, parameters: true, keys: true },
];
const CLIENT_MESSAGES: usize = 2;

struct Handshake {
    side: Side,
    taken: usize,
    heard: usize,
    own: Vec<u8>,
    peer: Option<Vec<u8>>,
    unread: Vec<u8>,
}

impl Handshake {
    fn new(side: Side, parameters: &TransportParameters) -> Self {
        let mut own = Vec::new();
        parameters.write(&mut own);
        Self { side, taken: 0, heard: 0, own, peer: None, unread: Vec::new() }
    }

    fn steps(&self) -> &'static [Step] {
        if self.side == Side::Client { CLIENT } else { SERVER }
    }

    /// The next whole message of the peer's, as its parameters.
    fn next_message(&mut self) -> Option<Vec<u8>> {
        let length = |at: usize| {
            let bytes = self.unread.get(at..at + 2)?;
            Some(usize::from(u16::from_be_bytes([bytes[0], bytes[1]])))
        };
        let (all, parameters) = (length(0)?, length(2)?);
        let found = self.unread.get(HEAD_BYTES..HEAD_BYTES + parameters)?.to_vec();
        if self.unread.len() < all {
            return None;
        }
        self.unread.drain(..all);
        Some(found)
    }
}

fn keys() -> Keys {
    Keys {
        header: KeyPair { local: Box::new(Plain), remote: Box::new(Plain) },
        packet: KeyPair { local: Box::new(Plain), remote: Box::new(Plain) },
    }
}

impl Session for Handshake {
    fn initial_keys(&self, _: ConnectionId, _: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        self.taken < self.steps().len() || self.side == Side::Server && self.heard < CLIENT_MESSAGES
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.unread.extend_from_slice(buf);
        let mut known = false;
        while let Some(parameters) = self.next_message() {
            self.heard += 1;
            if !parameters.is_empty() {
                self.peer = Some(parameters);
                known = true;
            }
        }
        Ok(known)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let read = |mut raw: &[u8]| TransportParameters::read(self.side, &mut raw);
        Ok(self.peer.as_deref().map(read).transpose()?)
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let step = self.steps().get(self.taken).filter(|step| self.heard >= step.heard)?;
        self.taken += 1;
        if step.says > 0 {
            let parameters: &[u8] = if step.parameters { &self.own } else { &[] };
            let length = step.says.max(HEAD_BYTES + parameters.len());
            let end = buf.len() + length;
            buf.extend_from_slice(&(length as u16).to_be_bytes());
            buf.extend_from_slice(&(parameters.len() as u16).to_be_bytes());
            buf.extend_from_slice(parameters);
            buf.resize(end, 0);
        }
        step.keys.then(keys)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(keys().packet)
    }

    fn is_valid_retry(&self, _: ConnectionId, _: &[u8], _: &[u8]) -> bool {
        true
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        output.fill(0);
        Ok(())
    }
}

impl ClientConfig for Plain {
    fn start_session(
        &self,
        _: u32,
        _: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(Handshake::new(Side::Client, parameters)))
    }
}

impl ServerConfig for Plain {
    fn initial_keys(&self, _: u32, _: ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _: u32, _: ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(&self, _: u32, parameters: &TransportParameters) -> Box<dyn Session> {
        Box::new(Handshake::new(Side::Server, parameters))
    }
}

impl PacketKey for Plain {
    fn encrypt(&self, _: PathId, _: u64, buf: &mut [u8], _: usize) {
        let tag = buf.len().saturating_sub(TAG_BYTES);
        buf[tag..].fill(0);
    }

    fn decrypt(&self, _: PathId, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let plain = payload.len().checked_sub(TAG_BYTES).ok_or(CryptoError)?;
        payload.truncate(plain);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG_BYTES
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HeaderKey for Plain {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        SAMPLE_BYTES
    }
}

impl HmacKey for Plain {
    /// FNV-1a: it tells connections apart, and protects nothing.
    fn sign(&self, data: &[u8], signature_out: &mut [u8]) {
        let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = data.iter().fold(0xcbf2_9ce4_8422_2325, add).to_be_bytes();
        for (to, from) in signature_out.iter_mut().zip(hash.iter().cycle()) {
            *to = *from;
        }
    }

    fn signature_len(&self) -> usize {
        SIGNATURE_BYTES
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut own = [0; SIGNATURE_BYTES];
        self.sign(data, &mut own);
        if own == signature { Ok(()) } else { Err(CryptoError) }
    }
}

impl HandshakeTokenKey for Plain {
    fn seal(&self, _: u128, data: &mut Vec<u8>) -> Result<(), CryptoError> {
        data.extend_from_slice(&[0; TAG_BYTES]);
        Ok(())
    }

    fn open<'a>(&self, _: u128, data: &'a mut [u8]) -> Result<&'a [u8], CryptoError> {
        let plain = data.len().checked_sub(TAG_BYTES).ok_or(CryptoError)?;
        data.get(..plain).ok_or(CryptoError)
    }
}
