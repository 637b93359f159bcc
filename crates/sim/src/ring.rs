//! A queue of plain values.

/// Values in the order in which they came. Its memory is a power of two of slots, grows when they are full, and is
/// given back only with the ring.
#[derive(Debug, Default)]
pub(crate) struct Ring<T> {
    slots: Vec<T>,
    first: usize,
    length: usize,
}

impl<T: Copy + Default> Ring<T> {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.length == 0
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// The value that came first.
    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        if self.length == 0 { None } else { self.slots.get(self.first) }
    }

    /// Forgets the value that came first.
    #[inline]
    pub(crate) fn pop_front(&mut self) {
        if self.length > 0 {
            self.first = (self.first + 1) & (self.slots.len() - 1);
            self.length -= 1;
        }
    }

    /// The place of a new last value, to be written: something old is there.
    #[inline]
    pub(crate) fn push_back(&mut self) -> &mut T {
        if self.length == self.slots.len() {
            self.grow();
        }
        let last = (self.first + self.length) & (self.slots.len() - 1);
        self.length += 1;
        &mut self.slots[last]
    }

    /// Forgets everything; the next value lies where the first one was.
    pub(crate) fn clear(&mut self) {
        self.first = 0;
        self.length = 0;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let (after, before) = self.slots.split_at(self.first);
        before.iter().chain(after).take(self.length)
    }

    #[cold]
    fn grow(&mut self) {
        self.slots.rotate_left(self.first);
        self.first = 0;
        self.slots.resize((2 * self.slots.len()).max(4), T::default());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn is_a_queue(steps in proptest::collection::vec(0u32..100, 1..2000)) {
            let mut ring = Ring::default();
            let mut model = VecDeque::new();
            for step in steps {
                match step {
                    0 => {
                        ring.clear();
                        model.clear();
                    }
                    1..40 => {
                        ring.pop_front();
                        model.pop_front();
                    }
                    value => {
                        *ring.push_back() = value;
                        model.push_back(value);
                    }
                }
                prop_assert_eq!(ring.front(), model.front());
                prop_assert_eq!((ring.len(), ring.is_empty()), (model.len(), model.is_empty()));
                prop_assert!(ring.iter().eq(&model));
            }
        }
    }
}
