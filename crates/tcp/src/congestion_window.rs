//! The congestion window and its threshold: the sender owns them, the start-up algorithm borrows them.

use rampcc::{Decision, Startup};

use crate::sender::Sender;

/// What bounds the sender, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) cwnd: u64,
    /// [`rampcc::UNSET`]: there has been no reason for one yet.
    pub(crate) ssthresh: u64,
}

impl Window {
    /// As an algorithm wants it.
    #[inline]
    pub(crate) fn of(decision: &Decision) -> Self {
        Self { cwnd: decision.cwnd_bytes, ssthresh: decision.ssthresh_bytes }
    }
}

impl Sender {
    #[inline]
    pub(crate) fn cwnd(&self) -> u64 {
        self.congestion.cwnd
    }

    #[inline]
    pub(crate) fn set_cwnd(&mut self, cwnd: u64) {
        self.congestion.cwnd = cwnd;
    }

    #[inline]
    pub(crate) fn ssthresh(&self) -> u64 {
        self.congestion.ssthresh
    }

    #[inline]
    pub(crate) fn set_ssthresh(&mut self, ssthresh: u64) {
        self.congestion.ssthresh = ssthresh;
    }

    /// Lends the window to the algorithm for one call. Returns what the algorithm would make of it, which is for the
    /// caller to take or leave.
    #[inline]
    pub(crate) fn lend(&mut self, call: impl FnOnce(&mut Startup)) -> Window {
        let Window { cwnd, ssthresh } = self.congestion;
        let lent = self.startup.decision_mut();
        (lent.cwnd_bytes, lent.ssthresh_bytes) = (cwnd, ssthresh);
        call(&mut self.startup);
        Window::of(self.startup.decision())
    }
}

#[cfg(test)]
mod tests {
    use rampcc::{Time, algorithm};

    use super::*;
    use crate::{Profile, SenderConfig};

    #[test]
    fn what_the_algorithm_makes_of_the_window_is_for_the_sender_to_take_or_leave() {
        let startup = algorithm("slow_start").expect("the algorithm is registered");
        let mut config = SenderConfig::new(Profile::Modern, startup);
        config.handshake = false;
        let mut sender = Sender::new(0, &config);
        sender.open(Time::ZERO);
        let before = sender.congestion;
        let wanted = sender.lend(|startup| startup.decision_mut().cwnd_bytes += 1);
        assert_eq!(wanted, Window { cwnd: before.cwnd + 1, ..before });
        assert_eq!(sender.congestion, before);
        sender.set_cwnd(5_000);
        sender.set_ssthresh(6_000);
        let seen = sender.lend(|_| {});
        assert_eq!(
            seen,
            Window { cwnd: 5_000, ssthresh: 6_000 },
            "the next call sees what the sender has done"
        );
    }
}
