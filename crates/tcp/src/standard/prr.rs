//! Proportional rate reduction (RFC 9937): how much each ACK of a recovery lets out.

/// The state of one recovery. All bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prr {
    delivered: u64,
    out: u64,
    recover_fs: u64,
}

impl Prr {
    /// Recovery begins with `recover_fs` bytes outstanding.
    pub(super) fn new(recover_fs: u64) -> Self {
        Self { delivered: 0, out: 0, recover_fs: recover_fs.max(1) }
    }

    /// Something left.
    #[inline]
    pub(super) fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }

    /// How much may leave in answer to an ACK that delivered `delivered` bytes.
    ///
    /// `safe`: it advanced SND.UNA and revealed no further loss.
    #[inline]
    pub(super) fn on_ack(
        &mut self,
        delivered: u64,
        in_flight: u64,
        ssthresh: u64,
        safe: bool,
        mss: u64,
    ) -> u64 {
        self.delivered += delivered;
        let allowed = if in_flight > ssthresh {
            let owed = u128::from(self.delivered) * u128::from(ssthresh);
            let owed = u64::try_from(owed.div_ceil(u128::from(self.recover_fs))).unwrap_or(u64::MAX);
            owed.saturating_sub(self.out)
        } else {
            let mut limit = self.delivered.saturating_sub(self.out).max(delivered);
            if safe {
                limit += mss;
            }
            limit.min(ssthresh - in_flight)
        };
        // The fast retransmission is always allowed.
        if self.out == 0 { allowed.max(mss) } else { allowed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20 segments outstanding, `losses` of them lost, one of the rest delivered per ACK; every segment allowed is
    /// sent. What each ACK let out, and what is in flight in the end.
    fn play(ssthresh: u64, losses: u64) -> (Vec<u64>, u64) {
        let mut prr = Prr::new(20);
        let mut in_flight = 20 - losses;
        let mut sent = vec![];
        for _ in 0..20 - losses {
            in_flight -= 1;
            let out = prr.on_ack(1, in_flight, ssthresh, true, 1);
            let out = if sent.is_empty() && prr.out == 0 { out.max(1) } else { out };
            prr.on_sent(out);
            in_flight += out;
            sent.push(out);
        }
        (sent, in_flight)
    }

    #[test]
    fn lets_out_in_proportion_to_what_arrives() {
        let (sent, in_flight) = play(10, 1);
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1]);
        assert_eq!((sent.iter().sum::<u64>(), in_flight), (10, 10));
        assert_eq!(play(14, 1).0.iter().sum::<u64>(), 14);
    }

    #[test]
    fn grows_back_to_ssthresh_by_slow_start_after_heavy_loss() {
        assert_eq!(play(10, 15).0, [2, 2, 2, 2, 2]);
    }
}
