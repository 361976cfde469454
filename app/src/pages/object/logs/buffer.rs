//! The last lines of a log, and which of them match a search.
use crate::format;
use std::collections::VecDeque;

/// Maximum number of stored lines; older ones are dropped.
pub const MAX_LINES: usize = 5_000;

/// A ring of lines.
#[derive(Debug, Default)]
pub struct Buffer {
    lines: VecDeque<String>,
    /// Number of lines dropped since the start, here and at the server.
    pub dropped: u64,
    needle: String,
}

impl Buffer {
    /// Adds lines, without terminal control sequences, and drops the oldest beyond the capacity.
    pub fn push(&mut self, lines: impl IntoIterator<Item = String>) {
        for line in lines {
            if self.lines.len() == MAX_LINES {
                self.lines.pop_front();
                self.dropped += 1;
            }
            self.lines.push_back(format::without_ansi(&line));
        }
    }

    pub fn len(&self) -> usize {
        self.lines.len()
    }

    pub fn clear(&mut self) {
        self.lines.clear();
        self.dropped = 0;
    }

    /// Searches for a text, in any case; an empty one matches everything.
    pub fn search(&mut self, needle: &str) {
        self.needle = needle.to_lowercase();
    }

    pub fn matches(&self, line: &str) -> bool {
        self.needle.is_empty() || line.to_lowercase().contains(&self.needle)
    }

    /// Returns the lines that match, oldest first.
    pub fn matching(&self) -> impl Iterator<Item = &str> {
        self.lines
            .iter()
            .map(String::as_str)
            .filter(|line| self.matches(line))
    }

    /// Returns the newest `count` lines that match.
    pub fn newest(&self, count: usize) -> Vec<&str> {
        self.lines
            .range(self.lines.len().saturating_sub(count)..)
            .map(String::as_str)
            .filter(|line| self.matches(line))
            .collect()
    }

    /// Returns all lines, for a file.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(range: std::ops::Range<usize>) -> impl Iterator<Item = String> {
        range.map(|number| format!("line {number}"))
    }

    #[test]
    fn the_oldest_lines_go_beyond_the_capacity() {
        let mut buffer = Buffer::default();
        buffer.push(numbered(0..MAX_LINES + 3));
        assert_eq!((buffer.len(), buffer.dropped), (MAX_LINES, 3));
        assert_eq!(buffer.matching().next(), Some("line 3"));
    }

    #[test]
    fn a_search_ignores_case_and_keeps_the_lines() {
        let mut buffer = Buffer::default();
        buffer.push(["An ERROR".to_owned(), "fine".to_owned()]);
        buffer.search("error");
        assert_eq!(buffer.matching().collect::<Vec<_>>(), ["An ERROR"]);
        assert_eq!(buffer.newest(1), Vec::<&str>::new());
        assert_eq!(buffer.text(), "An ERROR\nfine\n");
    }
}
