//! What a row sets of its sender besides its algorithm's parameters: `hystart:initial-window=32,pacing=always`.

use rampcc_tcp::{Avoidance, Pacing, SenderConfig};

use crate::error::{listed, nearest};
use crate::names::{Named, name, names};

/// Fields of `[sender]` that a row may set, as the scenario file calls them.
pub(crate) const FIELDS: [&str; 3] = ["initial-window", "pacing", "congestion-control"];
const LARGEST_WINDOW: u32 = 10_000;

/// Fields of `[sender]` that a row sets for its own flows; the other flows of the path keep theirs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfSender {
    /// Window before the first ACK, packets.
    pub initial_window_packets: Option<u32>,
    /// When packets are paced.
    pub pacing: Option<Pacing>,
    /// Congestion control after start-up.
    pub avoidance: Option<Avoidance>,
}

impl OfSender {
    /// The same with one more field; `None`: there is no such field. An error says what is wrong and what is allowed.
    pub(crate) fn with(mut self, field: &str, value: &str) -> Option<Result<Self, (String, String)>> {
        let field = field.replace('_', "-");
        let known = FIELDS.iter().position(|known| *known == field)?;
        let set = match known {
            0 => packets(value).map(|packets| self.initial_window_packets = Some(packets)),
            1 => word(value).map(|pacing| self.pacing = Some(pacing)),
            _ => word(value).map(|avoidance| self.avoidance = Some(avoidance)),
        };
        Some(set.map(|()| self))
    }

    /// True if it sets nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Each field with its value, as they are written.
    pub fn words(&self) -> Vec<String> {
        let values = [
            self.initial_window_packets.map(|packets| packets.to_string()),
            self.pacing.map(|pacing| name(pacing).to_owned()),
            self.avoidance.map(|avoidance| name(avoidance).to_owned()),
        ];
        FIELDS.iter().zip(values).filter_map(|(field, value)| Some(format!("{field}={}", value?))).collect()
    }

    /// From what [`words`](Self::words) gives; what it does not know it leaves out.
    pub fn of_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let mut all = Self::default();
        for (field, value) in words.into_iter().filter_map(|word| word.split_once('=')) {
            if let Some(Ok(more)) = all.with(field, value) {
                all = more;
            }
        }
        all
    }

    /// Sets them.
    pub fn apply(&self, sender: &mut SenderConfig) {
        if let Some(packets) = self.initial_window_packets {
            sender.initial_window_packets = packets;
        }
        if let Some(pacing) = self.pacing {
            sender.pacing = pacing;
        }
        if let Some(avoidance) = self.avoidance {
            (sender.avoidance, sender.own_avoidance) = (avoidance, false);
        }
    }
}

fn packets(value: &str) -> Result<u32, (String, String)> {
    let found = value.parse().ok().filter(|packets| (1..=LARGEST_WINDOW).contains(packets));
    found.ok_or_else(|| {
        (
            format!("`{}` is no initial window", crate::error::shortened(value)),
            format!("1 to {LARGEST_WINDOW} packets"),
        )
    })
}

fn word<T: Named>(value: &str) -> Result<T, (String, String)> {
    let found = T::NAMES.iter().find(|(known, _)| *known == value).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let near = nearest(value, names::<T>().into_iter());
        let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        (
            format!("`{}` is no such value{hint}", crate::error::shortened(value)),
            listed(names::<T>().into_iter()),
        )
    })
}

#[cfg(test)]
mod tests {
    use crate::model::Arm;

    #[test]
    fn a_row_sets_its_own_sender() {
        let arm = Arm::parse("hystart:initial-window=32,pacing=always,low_window=8").unwrap();
        assert_eq!(arm.sender.words(), ["initial-window=32", "pacing=always"]);
        assert_eq!(arm.label, "hystart initial-window=32 pacing=always low_window=8");
        assert_eq!(arm.set, [("low_window".to_owned(), 8)]);
        assert_eq!(super::OfSender::of_words(arm.sender.words().iter().map(String::as_str)), arm.sender);

        let path = "[path]\nrate = '10 Mbit/s'\nrtt = '40 ms'\n";
        let scenario = crate::Scenario::parse("test", path, None).unwrap();
        let played = scenario.with_arm(&arm);
        assert_eq!(played.flows[0].sender.initial_window_packets, 32);
        assert_eq!(scenario.flows[0].sender.initial_window_packets, 10, "the scenario keeps its own");
        for (text, problem) in [
            ("hystart:initial-window=0", "no initial window"),
            ("hystart:pacing=alwayz", "did you mean `always`"),
            ("hystart:congestion-control=bicc", "no such value"),
        ] {
            let error = Arm::parse(text).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
