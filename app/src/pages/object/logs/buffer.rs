//! The last lines of a log, and which of them are shown.
use super::{json, level::Level, matches::Needle};
use crate::format;
use std::collections::VecDeque;

/// Maximum number of stored lines; older ones are dropped.
pub const MAX_LINES: usize = 5_000;
/// Maximum size of the text of all stored lines, in bytes; the server sends lines of up to 16 KiB.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// A ring of lines. What is shown is decided once for each line, so that a line costs the same however many there are.
#[derive(Debug, Default)]
pub struct Buffer {
    lines: VecDeque<Line>,
    /// The size of their text as it was received.
    bytes: usize,
    /// The number of the oldest line; lines are numbered as they arrive.
    oldest: u64,
    /// Number of lines dropped since the start, here and at the server.
    pub dropped: u64,
    /// Number of lines that are shown.
    shown: usize,
    filter: Filter,
    unfolds_json: bool,
}

#[derive(Debug)]
struct Line {
    text: String,
    /// The text of a JSON object with a line for each field.
    unfolded: Option<String>,
    /// That of the line before if the line names none: a stack trace belongs to its error.
    level: Option<Level>,
    is_shown: bool,
}

impl Line {
    /// Returns the text as it is shown, which is also the one that is searched.
    fn display(&self) -> &str {
        self.unfolded.as_deref().unwrap_or(&self.text)
    }
}

#[derive(Debug, Default)]
struct Filter {
    needle: Needle,
    minimum: Option<Level>,
}

impl Filter {
    fn shows(&self, line: &Line) -> bool {
        let is_selected = self.minimum.is_none() || line.level >= self.minimum;
        is_selected && self.needle.is_in(line.display())
    }
}

/// A line that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownLine<'a> {
    pub number: u64,
    pub text: &'a str,
}

impl Buffer {
    /// Adds lines, without terminal control sequences, and drops the oldest beyond the capacity.
    pub fn push(&mut self, lines: impl IntoIterator<Item = String>) {
        for line in lines {
            let text = format::without_ansi(&line);
            let level = Level::of(&text).or_else(|| self.lines.back()?.level);
            self.make_room(text.len());
            self.bytes += text.len();
            let mut line = Line {
                unfolded: self.unfolds_json.then(|| json::unfolded(&text)).flatten(),
                text,
                level,
                is_shown: false,
            };
            line.is_shown = self.filter.shows(&line);
            self.shown += usize::from(line.is_shown);
            self.lines.push_back(line);
        }
    }

    /// Drops the oldest lines until a line of this size fits.
    fn make_room(&mut self, bytes: usize) {
        while self.lines.len() >= MAX_LINES || self.bytes + bytes > MAX_BYTES {
            let Some(gone) = self.lines.pop_front() else {
                return;
            };
            self.bytes -= gone.text.len();
            self.shown -= usize::from(gone.is_shown);
            self.oldest += 1;
            self.dropped += 1;
        }
    }

    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns the number of lines that are shown.
    pub fn shown(&self) -> usize {
        self.shown
    }

    /// Returns the number of the oldest line.
    pub fn oldest(&self) -> u64 {
        self.oldest
    }

    pub fn clear(&mut self) {
        self.oldest += u64::try_from(self.lines.len()).unwrap_or_default();
        self.lines.clear();
        self.bytes = 0;
        self.shown = 0;
        self.dropped = 0;
    }

    /// Shows the lines that contain a text, in any case; an empty one shows all. Returns whether it is another text.
    pub fn search(&mut self, needle: Needle) -> bool {
        let differs = self.filter.needle != needle;
        if differs {
            self.filter.needle = needle;
            self.refresh();
        }
        differs
    }

    /// Shows the lines of at least a level; without one, all lines.
    pub fn select(&mut self, minimum: Option<Level>) {
        self.filter.minimum = minimum;
        self.refresh();
    }

    /// Shows JSON objects with a line for each field, or as they are.
    pub fn unfold_json(&mut self, unfolds: bool) {
        self.unfolds_json = unfolds;
        for line in &mut self.lines {
            line.unfolded = unfolds.then(|| json::unfolded(&line.text)).flatten();
        }
        self.refresh();
    }

    /// Decides again which lines are shown.
    fn refresh(&mut self) {
        self.shown = 0;
        for line in &mut self.lines {
            line.is_shown = self.filter.shows(line);
            self.shown += usize::from(line.is_shown);
        }
    }

    /// Returns the lines that are shown, oldest first.
    pub fn all_shown(&self) -> Vec<ShownLine<'_>> {
        self.newest(self.lines.len())
    }

    /// Returns those of the newest `count` lines that are shown, oldest first.
    pub fn newest(&self, count: usize) -> Vec<ShownLine<'_>> {
        let start = self.lines.len().saturating_sub(count);
        let first = self.oldest + u64::try_from(start).unwrap_or_default();
        (first..)
            .zip(self.lines.range(start..))
            .filter(|(_, line)| line.is_shown)
            .map(|(number, line)| ShownLine {
                number,
                text: line.display(),
            })
            .collect()
    }

    /// Returns all lines as they were received, for a file.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            text.push_str(&line.text);
            text.push('\n');
        }
        text
    }
}

/// Drops the oldest of lines that are still to be added, as far as a buffer could not hold all of them, and
/// returns their number.
pub fn drop_excess(lines: &mut Vec<String>) -> u64 {
    let mut bytes = 0;
    let held = lines.iter().rev().take(MAX_LINES).take_while(|line| {
        bytes += line.len();
        bytes <= MAX_BYTES
    });
    let excess = lines.len() - held.count();
    lines.drain(..excess);
    u64::try_from(excess).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(range: std::ops::Range<usize>) -> impl Iterator<Item = String> {
        range.map(|number| format!("line {number}"))
    }

    fn texts(lines: Vec<ShownLine<'_>>) -> Vec<&str> {
        lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn the_oldest_lines_go_beyond_the_capacity() {
        let mut buffer = Buffer::default();
        buffer.push(numbered(0..MAX_LINES + 3));
        assert_eq!((buffer.len(), buffer.dropped), (MAX_LINES, 3));
        let first = ShownLine {
            number: 3,
            text: "line 3",
        };
        assert_eq!(buffer.all_shown().first(), Some(&first));
        assert_eq!(buffer.oldest(), 3);
        buffer.clear();
        buffer.push(numbered(0..1));
        let later = u64::try_from(MAX_LINES).unwrap() + 3;
        assert_eq!((buffer.oldest(), buffer.dropped), (later, 0));
    }

    #[test]
    fn the_oldest_lines_go_when_their_text_is_too_large() {
        const LINE_BYTES: usize = 16 * 1024;
        let long = |letter: &str| letter.repeat(LINE_BYTES);
        let full = MAX_BYTES / LINE_BYTES;
        let mut buffer = Buffer::default();
        buffer.push((0..full).map(|_| long("a")));
        assert_eq!((buffer.len(), buffer.dropped), (full, 0));
        buffer.push(["b".to_owned(), long("c")]);
        assert_eq!((buffer.len(), buffer.dropped), (full, 2));
        assert_eq!((buffer.oldest(), buffer.shown()), (2, full));
        assert!(buffer.text().ends_with("c\n"));
        buffer.clear();
        buffer.push((0..full).map(|_| long("d")));
        assert_eq!((buffer.len(), buffer.dropped), (full, 0));
    }

    #[test]
    fn lines_that_a_buffer_could_not_hold_are_dropped_and_counted() {
        let mut waiting: Vec<_> = numbered(0..MAX_LINES).collect();
        assert_eq!(drop_excess(&mut waiting), 0);
        waiting.extend(numbered(0..3));
        assert_eq!(drop_excess(&mut waiting), 3);
        assert_eq!((waiting.len(), &*waiting[0]), (MAX_LINES, "line 3"));
        waiting.push("x".repeat(MAX_BYTES));
        assert_eq!(drop_excess(&mut waiting), MAX_LINES as u64);
        assert_eq!(waiting.len(), 1);
        assert_eq!(drop_excess(&mut Vec::new()), 0);
    }

    #[test]
    fn need_15_a_stack_trace_stays_with_its_error() {
        let mut buffer = Buffer::default();
        let lines = ["INFO ok", "ERROR no", "  at main", "WARN hm", "DEBUG x"];
        buffer.push(lines.map(str::to_owned));
        buffer.select(Some(Level::Error));
        assert_eq!(texts(buffer.all_shown()), ["ERROR no", "  at main"]);
        buffer.select(Some(Level::Warning));
        assert!(buffer.search(Needle::new("hm")));
        assert_eq!(texts(buffer.newest(5)), ["WARN hm"]);
        buffer.select(None);
        assert!(buffer.search(Needle::default()));
        assert!(!buffer.search(Needle::default()));
        assert_eq!(buffer.shown(), 5);
    }

    #[test]
    fn a_search_ignores_case_and_keeps_the_lines() {
        let mut buffer = Buffer::default();
        buffer.push(["An ERROR".to_owned(), "fine".to_owned()]);
        buffer.search(Needle::new("error"));
        assert_eq!(texts(buffer.all_shown()), ["An ERROR"]);
        assert!(buffer.newest(1).is_empty());
        assert_eq!(buffer.text(), "An ERROR\nfine\n");
    }

    #[test]
    fn the_number_of_shown_lines_is_right_while_lines_arrive_and_leave() {
        let mut buffer = Buffer::default();
        buffer.push(numbered(0..2_000));
        buffer.search(Needle::new("7"));
        for start in (2_000..12_000).step_by(700) {
            buffer.push(numbered(start..start + 700));
            let shown = buffer.all_shown();
            assert_eq!(buffer.shown(), shown.len());
            assert!(shown.iter().all(|line| line.text.contains('7')));
            assert!(shown.iter().all(|line| line.number >= buffer.oldest()));
        }
        assert_eq!(buffer.len(), MAX_LINES);
    }

    #[test]
    fn unfolded_lines_are_searched_as_they_are_shown_and_saved_as_they_came() {
        let mut buffer = Buffer::default();
        let (first, second) = (r#"{"msg":"one","code":1}"#, r#"{"msg":"two","code":2}"#);
        buffer.push([first.to_owned()]);
        buffer.unfold_json(true);
        buffer.push([second.to_owned(), "plain".to_owned()]);
        let unfolded = ["one\n    code: 1", "two\n    code: 2", "plain"];
        assert_eq!(texts(buffer.all_shown()), unfolded);
        buffer.search(Needle::new("code: 2"));
        assert_eq!(texts(buffer.all_shown()), ["two\n    code: 2"]);
        assert_eq!(buffer.text(), format!("{first}\n{second}\nplain\n"));
        buffer.unfold_json(false);
        assert_eq!(buffer.shown(), 0);
        buffer.search(Needle::default());
        assert_eq!(texts(buffer.all_shown()), [first, second, "plain"]);
    }
}
