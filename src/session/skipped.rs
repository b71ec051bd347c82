//! Lines of a session file that could not be used.

/// A log is no session, and every line of it would be one: more than these say nothing that they do not.
const LISTED: usize = 1000;

/// The first lines that could not be used, each with the reason in words that quote nothing of the file; the others
/// are counted. Lines count from 1.
#[derive(Debug, Default)]
pub struct SkippedLines {
    listed: Vec<(u32, &'static str)>,
    count: u32,
}

impl SkippedLines {
    /// Adds a line behind those that are there.
    pub fn push(&mut self, line: u32, reason: &'static str) {
        self.count += 1;
        if self.listed.len() < LISTED {
            self.listed.push((line, reason));
        }
    }

    /// Adds a line before those that are there.
    pub fn put_first(&mut self, line: u32, reason: &'static str) {
        self.count += 1;
        self.listed.insert(0, (line, reason));
        self.listed.truncate(LISTED);
    }

    /// Takes those of the stretch that comes next, whose lines count from `before`. Leaves it empty.
    pub fn take(&mut self, next: &mut Self, before: u32) {
        let left = LISTED.saturating_sub(self.listed.len());
        self.listed.extend(next.listed.drain(..).take(left).map(|(line, reason)| (before + line, reason)));
        self.count += std::mem::take(&mut next.count);
    }

    /// The first of them.
    pub fn listed(&self) -> impl Iterator<Item = (u32, &'static str)> {
        self.listed.iter().copied()
    }

    /// How many there are, listed or not.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::{LISTED, SkippedLines};

    #[test]
    fn lists_the_first_and_counts_them_all() {
        let (mut all, mut next) = (SkippedLines::default(), SkippedLines::default());
        for line in 1..=700 {
            all.push(line, "a");
            next.push(line, "b");
        }
        all.take(&mut next, 700);
        assert_eq!((all.count(), next.count(), next.listed().count()), (1_400, 0, 0));
        assert_eq!(all.listed().nth(700), Some((701, "b")));
        all.put_first(1, "header");
        assert_eq!((all.count(), all.listed().count()), (1_401, LISTED));
        assert_eq!(all.listed().next(), Some((1, "header")));
    }
}
