//! What a server remembers of its calls. One that runs for days may not need more memory from call to call.

/// How many entries of a kind a server that runs for long remembers.
pub const KEPT: usize = 1_000;

/// The last entries of a list, and how many were forgotten.
#[derive(Clone, Debug)]
pub(super) struct Account<T> {
    pub(super) entries: Vec<T>,
    pub(super) forgotten: usize,
}

impl<T> Account<T> {
    pub(super) const fn new() -> Account<T> {
        Account { entries: Vec::new(), forgotten: 0 }
    }

    /// Adds an entry. If there are `limit` entries of its kind, the oldest of them is forgotten, but not the `first` ones.
    pub(super) fn push(&mut self, entry: T, limit: usize, first: usize, of_kind: impl Fn(&T, &T) -> bool) {
        if self.entries.len() >= limit {
            let mut same = (0..self.entries.len()).filter(|index| of_kind(&self.entries[*index], &entry));
            let oldest = same.nth(first);
            if let Some(oldest) = oldest.filter(|_| same.count() + first + 1 >= limit) {
                self.entries.remove(oldest);
                self.forgotten += 1;
            }
        }
        self.entries.push(entry);
    }
}

#[cfg(test)]
mod tests;
