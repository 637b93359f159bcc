//! Mirror of `include/ramp/interface.h`, and all calls into C.
#![expect(unsafe_code, reason = "the only border between Rust and the C core")]

use std::ffi::{CStr, c_char, c_void};

/// No value: `RAMP_UNSET`.
pub const UNSET: u64 = u64::MAX;
/// The most parameters one algorithm may have: `RAMP_PARAMETERS_MAX`.
pub const PARAMETERS_MAX: usize = 24;

/// `ramp_config.flags`.
pub struct ConfigFlags;
impl ConfigFlags {
    /// The receiver may acknowledge every second packet.
    pub const DELAYED_ACKS: u32 = 1;
}

/// `ramp_ack.flags`.
pub struct AckFlags;
impl AckFlags {
    /// The window, not the application or the receiver, held the sender back.
    pub const CWND_LIMITED: u32 = 1;
    /// The newest acknowledged packet was sent with nothing more to send.
    pub const APP_LIMITED: u32 = 2;
    /// This ACK reports congestion marks.
    pub const ECE: u32 = 4;
    /// The host paces now, so ACK trains are spread.
    pub const PACED: u32 = 8;
}

/// What an algorithm is told once, before the first packet. Bytes are payload bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Sender maximum segment size.
    pub mss_bytes: u32,
    /// [`ConfigFlags`].
    pub flags: u32,
    /// Window before the first ACK.
    pub initial_window_bytes: u64,
    /// [`UNSET`]: none.
    pub initial_ssthresh_bytes: u64,
    /// Growth per ACK is at most this many MSS (RFC 3465 L); 0: no limit.
    pub abc_limit_packets: u32,
    /// Zero.
    pub reserved: u32,
    /// The path's bandwidth-delay product, for `ideal` alone; 0: unknown.
    pub path_bdp_bytes: u64,
    /// The path's rate, for `ideal` alone; 0: unknown.
    pub path_bytes_per_s: u64,
    /// Parameters in the order of the algorithm's table.
    pub parameter: [u64; PARAMETERS_MAX],
}

/// One acknowledgement, as the sender saw it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented in interface.h, field by field")]
pub struct Ack {
    pub now_ns: u64,
    pub newest_sent_ns: u64,
    pub sent_bytes: u64,
    pub newest_acked_bytes: u64,
    pub delivered_bytes: u64,
    pub acked_bytes: u64,
    pub in_flight_bytes: u64,
    pub delivery_bytes_per_s: u64,
    pub pacing_bytes_per_s: u64,
    pub rtt_us: u32,
    pub mss_bytes: u32,
    pub flags: u32,
    pub reserved: u32,
}

/// What kind of congestion event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum CongestionKind {
    /// Entry into fast recovery.
    Loss = 0,
    /// A congestion-experienced mark.
    CeMark = 1,
    /// A retransmission timeout.
    Rto = 2,
    /// The last reduction was undone.
    Spurious = 3,
}

/// One congestion event.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented in interface.h, field by field")]
pub struct Congestion {
    pub now_ns: u64,
    pub lost_bytes: u64,
    pub in_flight_bytes: u64,
    pub kind: CongestionKind,
    pub mss_bytes: u32,
}

/// Where in start-up a connection is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Growing at full speed.
    #[default]
    Startup,
    /// Still start-up, slower.
    Conservative,
    /// Exit decided; the last paced train is leaving.
    Filling,
    /// Start-up is over; the host's congestion avoidance runs.
    Done,
}

/// Why start-up ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "documented in interface.h, with the units of evidence and limit")]
pub enum ExitReason {
    #[default]
    None,
    Ssthresh,
    AckTrain,
    Delay,
    Gap,
    Bandwidth,
    Loss,
    Ecn,
    Rto,
    Known,
}

/// What the host must do now; read and updated by every call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented in interface.h, field by field")]
pub struct Decision {
    pub cwnd_bytes: u64,
    pub ssthresh_bytes: u64,
    pub pacing_bytes_per_s: u64,
    pub evidence: u64,
    pub limit: u64,
    phase: u32,
    exit_reason: u32,
}

impl Decision {
    /// A decision before any algorithm has spoken.
    pub const fn new() -> Self {
        Self {
            cwnd_bytes: 0,
            ssthresh_bytes: UNSET,
            pacing_bytes_per_s: 0,
            evidence: 0,
            limit: 0,
            phase: 0,
            exit_reason: 0,
        }
    }

    /// Where in start-up the connection is.
    #[inline]
    pub fn phase(&self) -> Phase {
        match self.phase {
            0 => Phase::Startup,
            1 => Phase::Conservative,
            2 => Phase::Filling,
            _ => Phase::Done,
        }
    }

    /// Why start-up ended.
    pub fn exit_reason(&self) -> ExitReason {
        match self.exit_reason {
            0 => ExitReason::None,
            1 => ExitReason::Ssthresh,
            2 => ExitReason::AckTrain,
            3 => ExitReason::Delay,
            4 => ExitReason::Gap,
            5 => ExitReason::Bandwidth,
            6 => ExitReason::Loss,
            7 => ExitReason::Ecn,
            8 => ExitReason::Rto,
            _ => ExitReason::Known,
        }
    }
}

impl Default for Decision {
    fn default() -> Self {
        Self::new()
    }
}

#[repr(C)]
struct ParameterRow {
    name: *const c_char,
    unit: *const c_char,
    initial: u64,
    minimum: u64,
    maximum: u64,
    source: *const c_char,
    meaning: *const c_char,
}

#[repr(C)]
struct AlgorithmRow {
    id: *const c_char,
    name: *const c_char,
    source: *const c_char,
    idea: *const c_char,
    state_bytes: usize,
    parameters: *const ParameterRow,
    parameter_count: usize,
    init: unsafe extern "C" fn(*mut c_void, *const Config, *mut Decision),
    on_ack: unsafe extern "C" fn(*mut c_void, *const Ack, *mut Decision),
    on_congestion: unsafe extern "C" fn(*mut c_void, *const Congestion, *mut Decision),
}

unsafe extern "C" {
    static ramp_algorithm_rows: AlgorithmRow;
    static ramp_algorithm_count: usize;
}

/// The three functions of one algorithm and the size of its state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Functions {
    state_words: usize,
    init: unsafe extern "C" fn(*mut c_void, *const Config, *mut Decision),
    on_ack: unsafe extern "C" fn(*mut c_void, *const Ack, *mut Decision),
    on_congestion: unsafe extern "C" fn(*mut c_void, *const Congestion, *mut Decision),
}

/// One algorithm's state: plain integers, zeroed, aligned for `u64`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State(Box<[u64]>);

impl State {
    pub(crate) fn words(&self) -> &[u64] {
        &self.0
    }
}

impl Functions {
    pub(crate) fn state_bytes(&self) -> usize {
        self.state_words * 8
    }

    pub(crate) fn init(&self, config: &Config, decision: &mut Decision) -> State {
        let mut state = State(vec![0; self.state_words].into_boxed_slice());
        // SAFETY: the state is as large and as aligned as the C struct, and all pointers outlive the call.
        unsafe { (self.init)(state.0.as_mut_ptr().cast(), config, decision) };
        state
    }

    #[inline]
    pub(crate) fn on_ack(&self, state: &mut State, ack: &Ack, decision: &mut Decision) {
        // SAFETY: `state` was made by `init` of the same algorithm; all pointers outlive the call.
        unsafe { (self.on_ack)(state.0.as_mut_ptr().cast(), ack, decision) }
    }

    pub(crate) fn on_congestion(&self, state: &mut State, congestion: &Congestion, decision: &mut Decision) {
        // SAFETY: as for `on_ack`.
        unsafe { (self.on_congestion)(state.0.as_mut_ptr().cast(), congestion, decision) }
    }
}

/// A row of the C registry, its text made Rust's.
pub(crate) struct Row {
    pub(crate) text: [&'static str; 4],
    pub(crate) functions: Functions,
    pub(crate) parameters: Vec<([&'static str; 4], [u64; 3])>,
}

pub(crate) fn rows() -> Vec<Row> {
    // SAFETY: `ramp_algorithm_rows` is an array of `ramp_algorithm_count` constant rows.
    let rows = unsafe { std::slice::from_raw_parts(&raw const ramp_algorithm_rows, ramp_algorithm_count) };
    rows.iter()
        .map(|row| {
            // SAFETY: `parameters` points at `parameter_count` constant rows.
            let parameters = unsafe { std::slice::from_raw_parts(row.parameters, row.parameter_count) };
            Row {
                text: [text(row.id), text(row.name), text(row.source), text(row.idea)],
                functions: Functions {
                    state_words: row.state_bytes.div_ceil(8),
                    init: row.init,
                    on_ack: row.on_ack,
                    on_congestion: row.on_congestion,
                },
                parameters: parameters
                    .iter()
                    .map(|p| {
                        (
                            [text(p.name), text(p.unit), text(p.source), text(p.meaning)],
                            [p.initial, p.minimum, p.maximum],
                        )
                    })
                    .collect(),
            }
        })
        .collect()
}

fn text(pointer: *const c_char) -> &'static str {
    // SAFETY: every pointer in the registry is a string literal.
    unsafe { CStr::from_ptr(pointer) }.to_str().expect("the registry is ASCII")
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::{Ack, Config, Congestion, Decision};

    unsafe extern "C" {
        static ramp_layout: usize;
        static ramp_layout_count: usize;
    }

    /// Offset and size of each field.
    macro_rules! layout {
        ($type:ty: $($field:ident),+) => {{
            const fn size<T, F>(_: fn(&T) -> &F) -> usize {
                size_of::<F>()
            }
            let fields = [$(offset_of!($type, $field), size(|value: &$type| &value.$field)),+];
            let total: usize = fields.chunks(2).map(|f| f[1]).sum();
            assert_eq!(total, size_of::<$type>(), "{} has hidden padding", stringify!($type));
            [vec![size_of::<$type>()], fields.to_vec()].concat()
        }};
    }

    #[test]
    fn rust_mirrors_every_field_of_the_interface() {
        let mirror = [
            layout!(Config: mss_bytes, flags, initial_window_bytes, initial_ssthresh_bytes, abc_limit_packets,
                    reserved, path_bdp_bytes, path_bytes_per_s, parameter),
            layout!(Ack: now_ns, newest_sent_ns, sent_bytes, newest_acked_bytes, delivered_bytes, acked_bytes,
                    in_flight_bytes, delivery_bytes_per_s, pacing_bytes_per_s, rtt_us, mss_bytes, flags, reserved),
            layout!(Congestion: now_ns, lost_bytes, in_flight_bytes, kind, mss_bytes),
            layout!(Decision: cwnd_bytes, ssthresh_bytes, pacing_bytes_per_s, evidence, limit, phase, exit_reason),
        ]
        .concat();
        // SAFETY: `ramp_layout` is an array of `ramp_layout_count` constants.
        let layout = unsafe { std::slice::from_raw_parts(&raw const ramp_layout, ramp_layout_count) };
        assert_eq!(mirror, layout);
    }
}
