//! Disjoint ranges of segment numbers, each with a weight: what a sender knows to be SACKed, what a receiver
//! holds out of order.

use std::collections::BTreeMap;

/// Segments `start..end` and the payload bytes in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) bytes: u64,
}

/// An ordered set of ranges that neither overlap nor touch.
///
/// The highest range is kept outside the tree, since nearly every arrival extends it.
///
/// Invariant: every range in `below` ends before `top` starts; `below` is empty if `top` is.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeSet {
    top: Range,
    below: BTreeMap<u64, (u64, u64)>,
}

impl RangeSet {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.top.start == self.top.end
    }

    /// One past the highest number in the set; 0 if it is empty.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.top.end
    }

    /// Adds `start..end`. `weigh` is called for every part that is new and gives its payload bytes.
    ///
    /// Returns whether anything was new.
    #[inline]
    pub(crate) fn insert(&mut self, start: u64, end: u64, weigh: &mut impl FnMut(u64, u64) -> u64) -> bool {
        if start >= end {
            return false;
        }
        if !self.is_empty() && start >= self.top.start && start <= self.top.end {
            if end <= self.top.end {
                return false;
            }
            self.top.bytes += weigh(self.top.end, end);
            self.top.end = end;
            return true;
        }
        if self.is_empty() || start > self.top.end {
            if !self.is_empty() {
                self.below.insert(self.top.start, (self.top.end, self.top.bytes));
            }
            self.top = Range { start, end, bytes: weigh(start, end) };
            return true;
        }
        self.insert_below(start, end, weigh)
    }

    /// The range that `number` lies in.
    pub(crate) fn containing(&self, number: u64) -> Option<Range> {
        if number >= self.top.start {
            return (number < self.top.end).then_some(self.top);
        }
        let (&start, &(end, bytes)) = self.below.range(..=number).next_back()?;
        (number < end).then_some(Range { start, end, bytes })
    }

    /// Ranges from the highest down.
    pub(crate) fn descending(&self) -> impl Iterator<Item = Range> + '_ {
        let top = (!self.is_empty()).then_some(self.top);
        top.into_iter().chain(self.below.iter().rev().map(|(&start, &(end, bytes))| Range {
            start,
            end,
            bytes,
        }))
    }

    /// Ranges from the lowest up.
    #[cfg(test)]
    pub(crate) fn ascending(&self) -> impl Iterator<Item = Range> + '_ {
        let top = (!self.is_empty()).then_some(self.top);
        self.below.iter().map(|(&start, &(end, bytes))| Range { start, end, bytes }).chain(top)
    }

    /// Takes out the lowest range if it starts at or below `number`.
    pub(crate) fn pop_reached(&mut self, number: u64) -> Option<Range> {
        if let Some(entry) = self.below.first_entry() {
            if *entry.key() > number {
                return None;
            }
            let start = *entry.key();
            let (end, bytes) = entry.remove();
            return Some(Range { start, end, bytes });
        }
        if self.is_empty() || self.top.start > number {
            return None;
        }
        Some(std::mem::take(&mut self.top))
    }

    /// Forgets everything below `number`.
    #[inline]
    pub(crate) fn trim_below(&mut self, number: u64) {
        while !self.is_empty() {
            let lowest = self.below.first_key_value().map_or(self.top.start, |(&start, _)| start);
            if lowest >= number {
                return;
            }
            let Some(range) = self.pop_reached(number) else { return };
            if range.end > number {
                // Only a receiver that contradicts itself gets here; the bytes below the cut are unknown.
                let rest = Range { start: number, ..range };
                if self.is_empty() {
                    self.top = rest;
                } else {
                    self.below.insert(rest.start, (rest.end, rest.bytes));
                }
                return;
            }
        }
    }

    #[cold]
    fn insert_below(&mut self, start: u64, end: u64, weigh: &mut impl FnMut(u64, u64) -> u64) -> bool {
        // With the highest range in the tree too, there is one case only.
        self.below.insert(self.top.start, (self.top.end, self.top.bytes));
        let mut merged = Range { start, end: start, bytes: 0 };
        let mut fresh = false;
        if let Some((&lower, &(lower_end, bytes))) = self.below.range(..=start).next_back()
            && lower_end >= start
        {
            merged = Range { start: lower, end: lower_end, bytes };
            self.below.remove(&lower);
        }
        while merged.end < end {
            let next = self.below.range(merged.end..).next().map(|(&s, &(e, b))| (s, e, b));
            let gap_end = next.map_or(end, |(s, _, _)| s.min(end));
            if gap_end > merged.end {
                merged.bytes += weigh(merged.end, gap_end);
                merged.end = gap_end;
                fresh = true;
            }
            if let Some((s, e, b)) = next
                && s == merged.end
            {
                self.below.remove(&s);
                merged.end = e;
                merged.bytes += b;
            }
        }
        if let Some((&s, &(e, b))) = self.below.range(merged.end..).next()
            && s == merged.end
        {
            self.below.remove(&s);
            merged.end = e;
            merged.bytes += b;
        }
        self.below.insert(merged.start, (merged.end, merged.bytes));
        if let Some((start, (end, bytes))) = self.below.pop_last() {
            self.top = Range { start, end, bytes };
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
                    prop_assert_eq!(ranges.containing(n).is_some(), plain.contains(&n));
                }
            }
        }
    }
}
