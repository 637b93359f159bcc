//! Reasons for which the kernel's own congestion controls left slow start, as far as the kernel reports them.

use std::fs;

use rampcc::{ExitReason, Time, UNSET};
use rampcc_emulator::{EmulatorError, End, Running};
use rampcc_trace::{FlowEventKind, FlowSample, SenderState};

use crate::row::Row;

/// The exit that `sample` shows after `before`. `TCP_INFO` tells losses and timeouts; what else lowered the threshold
/// depends on who steers.
pub(crate) fn exit(row: Option<Row>, before: &FlowSample, sample: &FlowSample) -> FlowEventKind {
    let reason = match (row, sample.state) {
        // BBR does not leave on loss, but when its estimate of the rate stops growing.
        (Some(Row::Bbr), _) => ExitReason::Plateau,
        (_, SenderState::Loss) => ExitReason::Timeout,
        (_, SenderState::Recovery) => ExitReason::Loss,
        (_, SenderState::Open) => ExitReason::Ssthresh,
    };
    // A loss is reported with the window that met it, as the algorithms of the core do.
    let lost = matches!(reason, ExitReason::Loss | ExitReason::Timeout);
    let cwnd_bytes = if lost { before.cwnd_bytes } else { sample.cwnd_bytes };
    let (evidence, limit) = match reason {
        ExitReason::Loss | ExitReason::Timeout => (sample.lost_bytes, 0),
        // The kernel tells BBR's rate, not what it was compared with.
        ExitReason::Plateau => (0, 0),
        _ if sample.ssthresh_bytes == UNSET => (cwnd_bytes, cwnd_bytes),
        _ => (cwnd_bytes, sample.ssthresh_bytes),
    };
    FlowEventKind::StartupExit { reason, evidence, limit, cwnd_bytes, deciding_sent: Time::ZERO }
}

/// What the kernel's HyStart counts in a namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hystart {
    trains: u64,
    train_packets: u64,
    delays: u64,
    delay_packets: u64,
}

impl Hystart {
    pub(crate) fn read(running: &Running, end: End) -> Result<Self, EmulatorError> {
        // Without the table the reason stays what TCP_INFO tells.
        let table = running.in_namespace(end, || fs::read_to_string("/proc/thread-self/net/netstat"))?;
        Ok(table.map(|table| Self::parse(&table)).unwrap_or_default())
    }

    /// From `/proc/net/netstat`: a line of names, then a line of values.
    fn parse(table: &str) -> Self {
        let mut lines = table.lines().filter(|line| line.starts_with("TcpExt:"));
        let (names, values) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let value = |wanted: &str| {
            let columns = names.split_whitespace().zip(values.split_whitespace());
            columns
                .into_iter()
                .find(|(name, _)| *name == wanted)
                .and_then(|(_, v)| v.parse().ok())
                .unwrap_or(0)
        };
        Self {
            trains: value("TCPHystartTrainDetect"),
            train_packets: value("TCPHystartTrainCwnd"),
            delays: value("TCPHystartDelayDetect"),
            delay_packets: value("TCPHystartDelayCwnd"),
        }
    }

    /// An exit by threshold, more exactly: which of HyStart's tests fired, and where only one connection can have been
    /// it, the window. The kernel does not tell the comparison.
    pub(crate) fn explain(self, kind: FlowEventKind, mss_bytes: u64) -> FlowEventKind {
        let FlowEventKind::StartupExit { reason: ExitReason::Ssthresh, cwnd_bytes, deciding_sent, .. } = kind
        else {
            return kind;
        };
        let (reason, packets) = match (self.trains, self.delays) {
            (1.., 0) => (ExitReason::AckTrain, self.train_packets),
            (0, 1..) => (ExitReason::Delay, self.delay_packets),
            _ => return kind,
        };
        let cwnd_bytes = if self.trains + self.delays == 1 { packets * mss_bytes } else { cwnd_bytes };
        FlowEventKind::StartupExit { reason, evidence: 0, limit: 0, cwnd_bytes, deciding_sent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(cwnd_bytes: u64, ssthresh_bytes: u64, state: SenderState) -> FlowSample {
        FlowSample { cwnd_bytes, ssthresh_bytes, state, lost_bytes: 7, ..FlowSample::default() }
    }

    fn reason(kind: FlowEventKind) -> (ExitReason, u64, u64, u64) {
        match kind {
            FlowEventKind::StartupExit { reason, evidence, limit, cwnd_bytes, .. } => {
                (reason, evidence, limit, cwnd_bytes)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn losses_are_told_with_the_window_that_met_them() {
        let before = sample(100, UNSET, SenderState::Open);
        let lost = exit(Some(Row::Cubic), &before, &sample(70, 70, SenderState::Recovery));
        assert_eq!(reason(lost), (ExitReason::Loss, 7, 0, 100));
        let late = exit(None, &before, &sample(1, 50, SenderState::Loss));
        assert_eq!(reason(late), (ExitReason::Timeout, 7, 0, 100));
    }

    #[test]
    fn a_lowered_threshold_means_what_the_control_means_by_it() {
        let before = sample(100, UNSET, SenderState::Open);
        let after = sample(120, 60, SenderState::Open);
        assert_eq!(reason(exit(Some(Row::Bbr), &before, &after)), (ExitReason::Plateau, 0, 0, 120));
        let repairing = sample(120, 60, SenderState::Recovery);
        assert_eq!(reason(exit(Some(Row::Bbr), &before, &repairing)).0, ExitReason::Plateau);
        assert_eq!(reason(exit(Some(Row::Cubic), &before, &after)), (ExitReason::Ssthresh, 120, 60, 120));
    }

    #[test]
    fn counters_tell_which_test_of_hystart_fired() {
        let table = "TcpExt: SyncookiesSent TCPHystartTrainDetect TCPHystartTrainCwnd TCPHystartDelayDetect \
                     TCPHystartDelayCwnd\nTcpExt: 4 0 0 1 33\nIpExt: InNoRoutes\nIpExt: 0\n";
        let counters = Hystart::parse(table);
        let exit = exit(
            Some(Row::Cubic),
            &sample(99, UNSET, SenderState::Open),
            &sample(120, 60, SenderState::Open),
        );
        assert_eq!(reason(counters.explain(exit, 10)), (ExitReason::Delay, 0, 0, 330));
        assert_eq!(Hystart::default().explain(exit, 10), exit);
        let two = Hystart { delays: 2, delay_packets: 70, ..Hystart::default() };
        assert_eq!(reason(two.explain(exit, 10)), (ExitReason::Delay, 0, 0, 120));
    }
}
