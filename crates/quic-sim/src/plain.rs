//! What both stacks are given instead of TLS: a handshake of fixed sizes, and packets in the clear.
//!
//! The sizes are those of TLS 1.3 with one Ed25519 certificate. What a run does is then the same to the byte on every machine,
//! contents included, and no TLS library is needed.

/// Of an AEAD.
pub(crate) const TAG_BYTES: usize = 16;
pub(crate) const SIGNATURE_BYTES: usize = 32;
pub(crate) const SAMPLE_BYTES: usize = 16;
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

/// One side's handshake.
pub(crate) struct Handshake {
    client: bool,
    taken: usize,
    heard: usize,
    /// Its transport parameters, encoded.
    own: Vec<u8>,
    /// The peer's, once they have come.
    pub(crate) peer: Option<Vec<u8>>,
    unread: Vec<u8>,
}

impl Handshake {
    pub(crate) fn new(client: bool, own: Vec<u8>) -> Self {
        Self { client, taken: 0, heard: 0, own, peer: None, unread: Vec::new() }
    }

    fn steps(&self) -> &'static [Step] {
        if self.client { CLIENT } else { SERVER }
    }

    pub(crate) fn lasts(&self) -> bool {
        self.taken < self.steps().len() || !self.client && self.heard < CLIENT_MESSAGES
    }

    /// Takes in what the peer says; true: its parameters have come.
    pub(crate) fn read(&mut self, said: &[u8]) -> bool {
        self.unread.extend_from_slice(said);
        let mut known = false;
        while let Some(parameters) = self.next_message() {
            self.heard += 1;
            if !parameters.is_empty() {
                self.peer = Some(parameters);
                known = true;
            }
        }
        known
    }

    /// Says what comes next; true: new keys come with it.
    pub(crate) fn write(&mut self, to: &mut Vec<u8>) -> bool {
        let Some(step) = self.steps().get(self.taken).filter(|step| self.heard >= step.heard) else {
            return false;
        };
        self.taken += 1;
        if step.says > 0 {
            let parameters: &[u8] = if step.parameters { &self.own } else { &[] };
            let length = step.says.max(HEAD_BYTES + parameters.len());
            let end = to.len() + length;
            to.extend_from_slice(&(length as u16).to_be_bytes());
            to.extend_from_slice(&(parameters.len() as u16).to_be_bytes());
            to.extend_from_slice(parameters);
            to.resize(end, 0);
        }
        step.keys
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

/// FNV-1a: it tells connections apart, and protects nothing.
pub(crate) fn sign(data: &[u8], to: &mut [u8]) {
    let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = data.iter().fold(0xcbf2_9ce4_8422_2325, add).to_be_bytes();
    for (to, from) in to.iter_mut().zip(hash.iter().cycle()) {
        *to = *from;
    }
}

pub(crate) fn signs(data: &[u8], signature: &[u8]) -> bool {
    let mut own = [0; SIGNATURE_BYTES];
    sign(data, &mut own);
    own == signature
}
