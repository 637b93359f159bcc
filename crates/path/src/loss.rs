//! Losses of the medium.

use crate::config::LossConfig;
use crate::random::{Chance, Purpose, Stream};

#[derive(Clone, Debug)]
pub(crate) enum Loss {
    None,
    Random { chance: Chance, stream: Stream },
    GilbertElliott(GilbertElliott),
    Listed { numbers: Vec<u64>, packets: u64 },
}

/// Losses in bursts: a chain that starts in the good state.
#[derive(Clone, Debug)]
pub(crate) struct GilbertElliott {
    to_bad: Chance,
    to_good: Chance,
    good: Chance,
    bad: Chance,
    in_bad: bool,
    stream: Stream,
}

impl Loss {
    pub(crate) fn new(config: &LossConfig, seed: u64) -> Self {
        let stream = Stream::new(seed, Purpose::Loss);
        match config {
            LossConfig::None => Self::None,
            LossConfig::Random { probability } => Self::Random { chance: Chance::new(*probability), stream },
            LossConfig::GilbertElliott { to_bad, to_good, good, bad } => {
                Self::GilbertElliott(GilbertElliott {
                    to_bad: Chance::new(*to_bad),
                    to_good: Chance::new(*to_good),
                    good: Chance::new(*good),
                    bad: Chance::new(*bad),
                    in_bad: false,
                    stream,
                })
            }
            LossConfig::Listed(numbers) => {
                // The next one last.
                let mut numbers = numbers.to_vec();
                numbers.sort_unstable_by(|a, b| b.cmp(a));
                numbers.dedup();
                Self::Listed { numbers, packets: 0 }
            }
        }
    }

    /// Whether the next packet is lost. Every packet takes the same number of draws.
    pub(crate) fn loses(&mut self) -> bool {
        match self {
            Self::None => false,
            Self::Random { chance, stream } => stream.happens(*chance),
            Self::GilbertElliott(chain) => chain.loses(),
            Self::Listed { numbers, packets } => {
                let number = *packets;
                *packets += 1;
                numbers.pop_if(|next| *next == number).is_some()
            }
        }
    }
}

impl GilbertElliott {
    fn loses(&mut self) -> bool {
        let lost = self.stream.happens(if self.in_bad { self.bad } else { self.good });
        let leaves = self.stream.happens(if self.in_bad { self.to_good } else { self.to_bad });
        self.in_bad ^= leaves;
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: usize = 400_000;

    fn losses(config: &LossConfig, packets: usize) -> Vec<bool> {
        let mut loss = Loss::new(config, 5);
        (0..packets).map(|_| loss.loses()).collect()
    }

    fn share(losses: &[bool]) -> f64 {
        losses.iter().filter(|&&lost| lost).count() as f64 / losses.len() as f64
    }

    #[test]
    fn random_losses_have_their_probability() {
        let share = share(&losses(&LossConfig::Random { probability: 0.02 }, PACKETS));
        assert!((share - 0.02).abs() < 0.001, "{share}");
    }

    #[test]
    fn gilbert_elliott_has_its_stationary_loss_and_bursts() {
        let config = LossConfig::GilbertElliott { to_bad: 0.01, to_good: 0.25, good: 0.001, bad: 0.6 };
        // Bad for 0.01 / 0.26 of the time.
        let expected = (0.25 * 0.001 + 0.01 * 0.6) / 0.26;
        let losses = losses(&config, PACKETS);
        let share = share(&losses);
        assert!((share - expected).abs() < 0.001, "{share}, not {expected}");
        let both = losses.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64 / PACKETS as f64;
        assert!(
            (both / share - 0.43).abs() < 0.02,
            "0.75 x 0.6 after a loss in the bad state: {}",
            both / share
        );
    }

    #[test]
    fn gilbert_bursts_last_one_over_to_good() {
        let config = LossConfig::GilbertElliott { to_bad: 0.01, to_good: 0.2, good: 0.0, bad: 1.0 };
        let losses = losses(&config, PACKETS);
        let bursts = losses.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        let mean = share(&losses) * PACKETS as f64 / bursts;
        assert!((mean - 5.0).abs() < 0.3, "{mean}");
    }

    #[test]
    fn exactly_the_listed_packets_are_lost() {
        let losses = losses(&LossConfig::Listed([7, 0, 3, 3, u64::MAX].into()), 10);
        let lost: Vec<usize> = (0..10).filter(|&i| losses[i]).collect();
        assert_eq!(lost, [0, 3, 7]);
    }
}
