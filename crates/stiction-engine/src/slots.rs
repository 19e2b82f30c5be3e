//! The operations in flight, by the slot of their buffer.

use crate::request::Request;

/// What is known of the operations in flight.
pub(crate) trait Slots: Sized {
    /// Room for `depth` operations, 1 or more; for one, where a backend does one at a
    /// time.
    fn new(depth: u32) -> Self;

    /// A free slot; `None` when all are in flight.
    fn take(&mut self) -> Option<u32>;

    /// Frees a slot.
    fn give_back(&mut self, slot: u32);

    /// Notes what is done in a slot that was taken.
    fn set(&mut self, slot: u32, request: Request);

    /// Notes when the operation of a slot began, ticks.
    fn begin_at(&mut self, slot: u32, begun: u64);

    /// Notes that the operations of the `count` slots taken last began `now`.
    fn begin_last(&mut self, count: u32, now: u64);

    /// What is done in a slot, and when it began.
    fn get(&self, slot: u32) -> (Request, u64);

    /// How many are in flight.
    fn in_flight(&self) -> u32;

    /// Whether more than one operation can be in flight.
    fn is_deep(&self) -> bool;

    /// Whether an operation on `file` is in flight; `is_free` has a place for each slot.
    fn has_file(&self, file: u32, is_free: &mut [bool]) -> bool;
}

/// Slots for several operations.
#[derive(Debug)]
pub(crate) struct ManySlots {
    /// The first `free_count` are the free slots; behind them stand those taken last.
    free: Box<[u32]>,
    free_count: usize,
    begun: Box<[u64]>,
    requests: Box<[Request]>,
}

impl Slots for ManySlots {
    fn new(depth: u32) -> Self {
        Self {
            free: (0..depth).rev().collect(),
            free_count: depth as usize,
            begun: vec![0; depth as usize].into(),
            requests: vec![Request::NONE; depth as usize].into(),
        }
    }

    #[inline(always)]
    fn take(&mut self) -> Option<u32> {
        let count = self.free_count.checked_sub(1)?;
        self.free_count = count;
        Some(self.free[count])
    }

    #[inline(always)]
    fn give_back(&mut self, slot: u32) {
        self.free[self.free_count] = slot;
        self.free_count += 1;
    }

    #[inline(always)]
    fn set(&mut self, slot: u32, request: Request) {
        self.requests[slot as usize] = request;
    }

    #[inline(always)]
    fn begin_at(&mut self, slot: u32, begun: u64) {
        self.begun[slot as usize] = begun;
    }

    #[inline(always)]
    fn begin_last(&mut self, count: u32, now: u64) {
        for &slot in &self.free[self.free_count..][..count as usize] {
            self.begun[slot as usize] = now;
        }
    }

    #[inline(always)]
    fn get(&self, slot: u32) -> (Request, u64) {
        (self.requests[slot as usize], self.begun[slot as usize])
    }

    #[inline(always)]
    fn in_flight(&self) -> u32 {
        (self.free.len() - self.free_count) as u32
    }

    #[inline(always)]
    fn is_deep(&self) -> bool {
        self.free.len() > 1
    }

    fn has_file(&self, file: u32, is_free: &mut [bool]) -> bool {
        is_free.fill(false);
        for &slot in &self.free[..self.free_count] {
            is_free[slot as usize] = true;
        }
        let requests = self.requests.iter().zip(is_free);
        let mut taken = requests.filter(|(_, free)| !**free);
        taken.any(|(request, _)| request.file == file)
    }
}

/// The slot of a backend that does one operation at a time: number 0.
#[derive(Debug)]
pub(crate) struct OneSlot {
    in_flight: u32,
    begun: u64,
    request: Request,
}

impl Slots for OneSlot {
    fn new(depth: u32) -> Self {
        debug_assert_eq!(depth, 1, "more is refused");
        Self {
            in_flight: 0,
            begun: 0,
            request: Request::NONE,
        }
    }

    #[inline(always)]
    fn take(&mut self) -> Option<u32> {
        if self.in_flight > 0 {
            return None;
        }
        self.in_flight = 1;
        Some(0)
    }

    #[inline(always)]
    fn give_back(&mut self, _slot: u32) {
        self.in_flight = 0;
    }

    #[inline(always)]
    fn set(&mut self, _slot: u32, request: Request) {
        self.request = request;
    }

    #[inline(always)]
    fn begin_at(&mut self, _slot: u32, begun: u64) {
        self.begun = begun;
    }

    #[inline(always)]
    fn begin_last(&mut self, _count: u32, now: u64) {
        self.begun = now;
    }

    #[inline(always)]
    fn get(&self, _slot: u32) -> (Request, u64) {
        (self.request, self.begun)
    }

    #[inline(always)]
    fn in_flight(&self) -> u32 {
        self.in_flight
    }

    #[inline(always)]
    fn is_deep(&self) -> bool {
        false
    }

    fn has_file(&self, file: u32, _is_free: &mut [bool]) -> bool {
        self.in_flight > 0 && self.request.file == file
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Way;

    const REQUEST: Request = Request {
        offset_bytes: 4096,
        length_bytes: 512,
        file: 2,
        way: Way::Write,
    };

    #[test]
    fn slots_are_handed_out_once_and_stamped_together() {
        let mut slots = ManySlots::new(3);
        assert_eq!(slots.take(), Some(0));
        slots.begin_last(1, 10);
        assert_eq!(
            (slots.take(), slots.take(), slots.take()),
            (Some(1), Some(2), None)
        );
        slots.begin_last(2, 20);
        slots.set(1, REQUEST);
        assert_eq!(slots.get(0), (Request::NONE, 10));
        assert_eq!(slots.get(1), (REQUEST, 20));
        assert_eq!(slots.in_flight(), 3);
        slots.give_back(1);
        assert_eq!((slots.in_flight(), slots.take()), (2, Some(1)));
    }

    #[test]
    fn one_slot_behaves_as_many_of_one() {
        fn story<S: Slots>() -> [(Option<u32>, u32, (Request, u64)); 3] {
            let mut slots = S::new(1);
            let first = slots.take();
            slots.set(0, REQUEST);
            slots.begin_last(1, 7);
            let taken = (first, slots.in_flight(), slots.get(0));
            let again = (slots.take(), slots.in_flight(), slots.get(0));
            assert!(slots.has_file(2, &mut [false]) && !slots.has_file(0, &mut [false]));
            assert!(!slots.is_deep());
            slots.give_back(0);
            assert!(!slots.has_file(2, &mut [false]));
            let mut free = (None, slots.in_flight(), slots.get(0));
            free.0 = slots.take();
            [taken, again, free]
        }
        assert_eq!(story::<OneSlot>(), story::<ManySlots>());
    }
}
