//! Disjoint ranges of segment numbers, each with a weight: what a sender knows to be SACKed, what a receiver
//! holds out of order.

use std::collections::VecDeque;

/// Segments `start..end` and the payload bytes in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) bytes: u64,
}

/// An ordered set of ranges.
///
/// They lie side by side in a ring: arrivals extend or add the highest, acknowledgements take the lowest, and repairs
/// happen near the lowest, where little has to move.
///
/// Invariant: the ranges ascend and neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeSet {
    ranges: VecDeque<Range>,
}

impl RangeSet {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
    }

    /// One past the highest number in the set; 0 if it is empty.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.ranges.back().map_or(0, |top| top.end)
    }

    /// Adds `start..end`. `weigh` is called for every part that is new, from the lowest up, and gives its payload bytes.
    ///
    /// Returns whether anything was new.
    #[inline]
    pub(crate) fn insert(&mut self, start: u64, end: u64, weigh: &mut impl FnMut(u64, u64) -> u64) -> bool {
        if start >= end {
            return false;
        }
        match self.ranges.back_mut() {
            Some(top) if start < top.start => self.insert_below(start, end, weigh),
            Some(top) if end <= top.end => false,
            Some(top) if start <= top.end => {
                top.bytes += weigh(top.end, end);
                top.end = end;
                true
            }
            _ => {
                self.ranges.push_back(Range { start, end, bytes: weigh(start, end) });
                true
            }
        }
    }

    pub(crate) fn containing(&self, number: u64) -> Option<Range> {
        let at = self.ranges.partition_point(|range| range.end <= number);
        self.ranges.get(at).filter(|range| range.start <= number).copied()
    }

    /// How many numbers of the set are below `number`.
    pub(crate) fn count_below(&self, number: u64) -> u64 {
        let below = self.ranges.iter().take_while(|range| range.start < number);
        below.map(|range| range.end.min(number) - range.start).sum()
    }

    /// Ranges from the highest down.
    pub(crate) fn descending(&self) -> impl Iterator<Item = Range> + '_ {
        self.ranges.iter().rev().copied()
    }

    /// Ranges from the lowest up.
    #[cfg(test)]
    pub(crate) fn ascending(&self) -> impl Iterator<Item = Range> + '_ {
        self.ranges.iter().copied()
    }

    /// Takes out the lowest range if it starts at or below `number`.
    pub(crate) fn pop_reached(&mut self, number: u64) -> Option<Range> {
        if self.ranges.front()?.start <= number { self.ranges.pop_front() } else { None }
    }

    #[inline]
    pub(crate) fn trim_below(&mut self, number: u64) {
        while let Some(lowest) = self.ranges.front_mut()
            && lowest.start < number
        {
            if lowest.end > number {
                // Only a receiver that contradicts itself gets here; the bytes below the cut are unknown.
                lowest.start = number;
                return;
            }
            self.ranges.pop_front();
        }
    }

    #[cold]
    fn insert_below(&mut self, start: u64, end: u64, weigh: &mut impl FnMut(u64, u64) -> u64) -> bool {
        let at = self.ranges.partition_point(|range| range.end < start);
        let mut after = at;
        let mut merged = Range { start, end: start, bytes: 0 };
        let mut fresh = false;
        while let Some(range) = self.ranges.get(after)
            && range.start <= end
        {
            if merged.end < range.start {
                merged.bytes += weigh(merged.end, range.start);
                fresh = true;
            }
            merged.start = merged.start.min(range.start);
            merged.end = range.end;
            merged.bytes += range.bytes;
            after += 1;
        }
        if merged.end < end {
            merged.bytes += weigh(merged.end, end);
            merged.end = end;
            fresh = true;
        }
        if at == after {
            self.ranges.insert(at, merged);
        } else {
            self.ranges[at] = merged;
            self.ranges.drain(at + 1..after);
        }
        fresh
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    use super::*;

    proptest! {
        #[test]
        fn holds_what_a_plain_set_holds(
            steps in proptest::collection::vec((0u64..60, 1u64..9, 0u8..12), 1..80),
        ) {
            let mut ranges = RangeSet::default();
            let mut plain = BTreeSet::new();
            for (start, length, action) in steps {
                if action == 0 {
                    ranges.trim_below(start);
                    plain = plain.split_off(&start);
                } else {
                    let mut fresh = 0;
                    ranges.insert(start, start + length, &mut |a, b| { fresh += b - a; b - a });
                    let before = plain.len() as u64;
                    plain.extend(start..start + length);
                    prop_assert_eq!(fresh, plain.len() as u64 - before);
                }
                let held: Vec<u64> = ranges.ascending().flat_map(|r| r.start..r.end).collect();
                prop_assert_eq!(&held, &plain.iter().copied().collect::<Vec<_>>());
                let list: Vec<Range> = ranges.ascending().collect();
                prop_assert!(list.windows(2).all(|w| w[0].end < w[1].start));
                let mut reversed: Vec<Range> = ranges.descending().collect();
                reversed.reverse();
                prop_assert_eq!(&list, &reversed);
                for n in 0..70 {
                    prop_assert_eq!(ranges.count_below(n), plain.range(..n).count() as u64);
                    prop_assert_eq!(ranges.containing(n).is_some(), plain.contains(&n));
                }
            }
        }
    }
}
