//! Curves of one run, thinned for charts.

use serde::{Deserialize, Deserializer, Serialize, de::Error};

/// Curves of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSeries {
    /// Recorded flows, by id.
    #[serde(deserialize_with = "whole")]
    pub flows: Vec<FlowSeries>,
    /// Recorded links, by index.
    #[serde(deserialize_with = "whole")]
    pub links: Vec<LinkSeries>,
}

/// Curves of one flow; all columns have the length of `time_s`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowSeries {
    /// Flow.
    pub flow: u32,
    /// True if the compared algorithm steered it.
    pub under_test: bool,
    /// Time when the application opened it, seconds since the start of the run.
    pub opened_s: f64,
    /// Ascending, seconds since the start of the run.
    pub time_s: Vec<f64>,
    /// Congestion window, payload bytes.
    pub cwnd_bytes: Vec<u64>,
    /// In flight, payload bytes.
    pub in_flight_bytes: Vec<u64>,
    /// Acknowledged so far, by SACK or in order, payload bytes.
    pub delivered_bytes: Vec<u64>,
    /// The ACK's round-trip time; `None`: it had no valid sample.
    pub rtt_ms: Vec<Option<f64>>,
    /// Events, in order of time; runs of drops are thinned like the curves.
    pub marks: Vec<Mark>,
    /// What [`Self::gap_s`] grows with, seconds; 0: nothing was left out.
    #[serde(default)]
    pub grain_s: f64,
}

impl FlowSeries {
    /// A point at `at_s` and one before it that is farther away than this, seconds, had none between them.
    pub fn gap_s(&self, at_s: f64) -> f64 {
        gap_s(&self.time_s, self.grain_s, at_s)
    }
}

impl LinkSeries {
    /// As of [`FlowSeries::gap_s`].
    pub fn gap_s(&self, at_s: f64) -> f64 {
        gap_s(&self.time_s, self.grain_s, at_s)
    }
}

/// Of each piece of time stays at least the last point, and two pieces that end at n² and (n + 1)² grains are 4n grains long.
fn gap_s(time_s: &[f64], grain_s: f64, at_s: f64) -> f64 {
    let since_s = time_s.first().map_or(0.0, |first| at_s - first).max(0.0);
    4.0 * (since_s * grain_s).sqrt()
}

/// Something that happened to a flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Seconds since the start of the run.
    pub time_s: f64,
    /// Kind of the event.
    pub kind: MarkKind,
}

/// Event that a mark stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkKind {
    /// Data may flow.
    Established,
    /// The algorithm decided to leave start-up.
    StartupExit,
    /// Fast recovery began.
    RecoveryStart,
    /// Recovery or the repair after a timeout is over.
    RecoveryEnd,
    /// The retransmission timer expired.
    Timeout,
    /// The last reduction was undone.
    Undone,
    /// One or more data packets were dropped at about this time.
    Drop,
    /// The last byte arrived.
    Completed,
}

/// A queue over time; both columns have the same length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkSeries {
    /// Link.
    pub link: u32,
    /// Ascending, seconds since the start of the run.
    pub time_s: Vec<f64>,
    /// Wire bytes waiting just after an arrival.
    pub queue_bytes: Vec<u64>,
    /// What [`Self::gap_s`] grows with, seconds; 0: nothing was left out.
    #[serde(default)]
    pub grain_s: f64,
}

/// Curves in columns.
trait Columns {
    fn time_s(&self) -> &[f64];

    /// Of the other columns.
    fn lengths(&self) -> Vec<usize>;
}

impl Columns for FlowSeries {
    fn time_s(&self) -> &[f64] {
        &self.time_s
    }

    fn lengths(&self) -> Vec<usize> {
        let bytes = [&self.cwnd_bytes, &self.in_flight_bytes, &self.delivered_bytes];
        bytes.into_iter().map(Vec::len).chain([self.rtt_ms.len()]).collect()
    }
}

impl Columns for LinkSeries {
    fn time_s(&self) -> &[f64] {
        &self.time_s
    }

    fn lengths(&self) -> Vec<usize> {
        vec![self.queue_bytes.len()]
    }
}

/// Refuses what a damaged file may hold.
fn whole<'de, D, T>(file: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Columns + Deserialize<'de>,
{
    let all = Vec::<T>::deserialize(file)?;
    for curves in &all {
        let times = curves.time_s();
        if let Some(other) = curves.lengths().into_iter().find(|length| *length != times.len()) {
            return Err(D::Error::custom(format_args!(
                "columns of {} and {other} values, which should be as many",
                times.len()
            )));
        }
        if !times.is_sorted() {
            return Err(D::Error::custom("times that do not ascend"));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_of_a_damaged_file_are_refused() {
        let link = |time_s: &[f64], queue_bytes: &[u64]| LinkSeries {
            time_s: time_s.to_vec(),
            queue_bytes: queue_bytes.to_vec(),
            ..LinkSeries::default()
        };
        let read = |link: LinkSeries| {
            let run = RunSeries { links: vec![link], ..RunSeries::default() };
            let text = serde_json::to_string(&run).expect("plain data");
            serde_json::from_str::<RunSeries>(&text)
                .map(|read| assert_eq!(read, run))
                .map_err(|e| e.to_string())
        };
        assert_eq!(read(link(&[0.5, 0.5, 1.0], &[1, 2, 3])), Ok(()));
        assert!(read(link(&[0.5, 1.0], &[1])).is_err_and(|why| why.contains("columns of 2 and 1 values")));
        assert!(read(link(&[1.0, 0.5], &[1, 2])).is_err_and(|why| why.contains("times that do not ascend")));
        let short = FlowSeries { time_s: vec![1.0], ..FlowSeries::default() };
        let text =
            serde_json::to_string(&RunSeries { flows: vec![short], links: Vec::new() }).expect("plain");
        assert!(serde_json::from_str::<RunSeries>(&text).is_err());
    }
}
