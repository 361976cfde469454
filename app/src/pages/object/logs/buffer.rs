//! The last lines of a log, and which of them match a search.
use super::level::Level;
use crate::format;
use std::collections::VecDeque;

/// Maximum number of stored lines; older ones are dropped.
pub const MAX_LINES: usize = 5_000;

/// A ring of lines.
#[derive(Debug, Default)]
pub struct Buffer {
    lines: VecDeque<Line>,
    /// Number of lines dropped since the start, here and at the server.
    pub dropped: u64,
    needle: String,
    minimum: Option<Level>,
}

#[derive(Debug)]
struct Line {
    text: String,
    /// That of the line before if the line names none: a stack trace belongs to its error.
    level: Option<Level>,
}

impl Buffer {
    /// Adds lines, without terminal control sequences, and drops the oldest beyond the capacity.
    pub fn push(&mut self, lines: impl IntoIterator<Item = String>) {
        for line in lines {
            if self.lines.len() == MAX_LINES {
                self.lines.pop_front();
                self.dropped += 1;
            }
            let text = format::without_ansi(&line);
            let level = Level::of(&text).or_else(|| self.lines.back()?.level);
            self.lines.push_back(Line { text, level });
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

    /// Selects the lines of at least a level; without one, all lines.
    pub fn select(&mut self, minimum: Option<Level>) {
        self.minimum = minimum;
    }

    fn matches(&self, line: &Line) -> bool {
        let is_selected = self.minimum.is_none() || line.level >= self.minimum;
        let found = || self.needle.is_empty() || line.text.to_lowercase().contains(&self.needle);
        is_selected && found()
    }

    /// Returns the lines that match, oldest first.
    pub fn matching(&self) -> impl Iterator<Item = &str> {
        self.lines
            .iter()
            .filter(|line| self.matches(line))
            .map(|line| line.text.as_str())
    }

    /// Returns the newest `count` lines that match.
    pub fn newest(&self, count: usize) -> Vec<&str> {
        self.lines
            .range(self.lines.len().saturating_sub(count)..)
            .filter(|line| self.matches(line))
            .map(|line| line.text.as_str())
            .collect()
    }

    /// Returns all lines, for a file.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            text.push_str(&line.text);
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
    fn need_15_a_stack_trace_stays_with_its_error() {
        let mut buffer = Buffer::default();
        let lines = ["INFO ok", "ERROR no", "  at main", "WARN hm", "DEBUG x"];
        buffer.push(lines.map(str::to_owned));
        buffer.select(Some(Level::Error));
        assert_eq!(
            buffer.matching().collect::<Vec<_>>(),
            ["ERROR no", "  at main"]
        );
        buffer.select(Some(Level::Warning));
        buffer.search("hm");
        assert_eq!(buffer.newest(5), ["WARN hm"]);
        buffer.select(None);
        buffer.search("");
        assert_eq!(buffer.matching().count(), 5);
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
