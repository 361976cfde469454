//! The places of a search text in the lines, and which of them the user looks at.

/// A search text. Case is ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needle(String);

/// A place of a search text, in UTF-16 code units as in the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub start: u32,
    pub end: u32,
}

impl Needle {
    pub fn new(text: &str) -> Self {
        Self(lowercase(text))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a text contains the search text; every text contains an empty one.
    pub fn is_in(&self, text: &str) -> bool {
        self.is_empty() || lowercase(text).contains(&self.0)
    }

    /// Returns the number of places in a text; 0 for an empty search text.
    pub fn count(&self, text: &str) -> usize {
        if self.is_empty() {
            return 0;
        }
        lowercase(text).matches(&self.0).count()
    }

    /// Returns the places in a text, as many as [`Self::count`] returns.
    pub fn places(&self, text: &str) -> Vec<Place> {
        if self.is_empty() {
            return Vec::new();
        }
        let lower = lowercase(text);
        let mut position = Position {
            chars: text.chars(),
            lower_bytes: 0,
            units: 0,
        };
        lower
            .match_indices(&self.0)
            .map(|(at, found)| Place {
                start: position.advance(at),
                end: position.advance(at + found.len()),
            })
            .collect()
    }
}

/// Returns a text in lower case, each character by itself: `str::to_lowercase` depends on the neighbours.
fn lowercase(text: &str) -> String {
    if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        text.chars().flat_map(char::to_lowercase).collect()
    }
}

/// A position in a text and in its lower case, whose characters may be longer or shorter.
struct Position<'a> {
    chars: std::str::Chars<'a>,
    lower_bytes: usize,
    units: u32,
}

impl Position<'_> {
    /// Advances to a byte of the lower case, and returns the place in the text.
    fn advance(&mut self, lower_byte: usize) -> u32 {
        while self.lower_bytes < lower_byte
            && let Some(next) = self.chars.next()
        {
            self.lower_bytes += next.to_lowercase().map(char::len_utf8).sum::<usize>();
            self.units += if next.len_utf16() == 1 { 1 } else { 2 };
        }
        self.units
    }
}

/// Where to move among the matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Next,
    Previous,
}

/// The number of matches, oldest first, and which of them is the current one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    total: usize,
    /// From 0.
    current: Option<usize>,
}

impl Matches {
    pub fn total(self) -> usize {
        self.total
    }

    /// Returns the index of the current match, from 0; `None` before the first step.
    pub fn current(self) -> Option<usize> {
        self.current
    }

    /// Adds matches of new lines.
    pub fn add(&mut self, count: usize) {
        self.total += count;
    }

    /// Removes matches of the oldest lines; the current one stays the same if it is not among them.
    pub fn remove_oldest(&mut self, count: usize) {
        self.total = self.total.saturating_sub(count);
        self.current = self.current.and_then(|current| current.checked_sub(count));
    }

    /// Moves to the next or previous match, from the last to the first one and back. The first step is to the oldest
    /// or to the newest match. Returns whether there is one.
    pub fn step(&mut self, step: Step) -> bool {
        let Some(last) = self.total.checked_sub(1) else {
            return false;
        };
        self.current = Some(match (step, self.current) {
            (Step::Next, Some(current)) if current < last => current + 1,
            (Step::Next, _) => 0,
            (Step::Previous, Some(current)) if current > 0 => current - 1,
            (Step::Previous, _) => last,
        });
        true
    }
}

/// Finds a match by its index among all: returns the index of its part, and its index among the matches of that part.
pub fn locate(counts: impl IntoIterator<Item = usize>, index: usize) -> Option<(usize, usize)> {
    let mut rest = index;
    for (part, count) in counts.into_iter().enumerate() {
        match rest.checked_sub(count) {
            Some(later) => rest = later,
            None => return Some((part, rest)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(needle: &str, text: &str) -> Vec<(u32, u32)> {
        let needle = Needle::new(needle);
        let found = needle.places(text);
        assert_eq!(found.len(), needle.count(text));
        assert_eq!(!found.is_empty(), needle.is_in(text));
        found
            .into_iter()
            .map(|place| (place.start, place.end))
            .collect()
    }

    #[test]
    fn places_are_found_in_any_case() {
        assert_eq!(places("Error", "an ERROR, errors\n"), [(3, 8), (10, 15)]);
        assert_eq!(places("aa", "aaaaa"), [(0, 2), (2, 4)]);
        assert!(places("x", "none").is_empty());
        assert_eq!(places("größe", "GRÖSSE, GRÖẞE"), [(8, 13)]);
    }

    #[test]
    fn places_count_as_the_browser_does() {
        // two units, and a letter whose lower case has two characters
        assert_eq!(places("err", "🦀 err"), [(3, 6)]);
        assert_eq!(places("err", "İİ err err"), [(3, 6), (7, 10)]);
        assert_eq!(places("🦀", "🦀🦀"), [(0, 2), (2, 4)]);
    }

    #[test]
    fn an_empty_search_text_is_in_every_line_and_has_no_places() {
        let empty = Needle::new("");
        assert!(empty.is_in("text") && empty.is_empty());
        assert_eq!((empty.count("text"), empty.places("text")), (0, Vec::new()));
    }

    #[test]
    fn steps_go_around() {
        let mut matches = Matches::default();
        assert!(!matches.step(Step::Next));
        matches.add(3);
        assert_eq!(matches.current(), None);
        let mut walk = |step: Step| {
            assert!(matches.step(step));
            matches.current()
        };
        assert_eq!(walk(Step::Next), Some(0));
        assert_eq!(walk(Step::Previous), Some(2));
        assert_eq!(walk(Step::Next), Some(0));
        assert_eq!(walk(Step::Next), Some(1));
        let mut fresh = Matches::default();
        fresh.add(2);
        assert!(fresh.step(Step::Previous));
        assert_eq!(fresh.current(), Some(1));
    }

    #[test]
    fn the_current_match_stays_while_lines_arrive_and_leave() {
        let mut matches = Matches::default();
        matches.add(4);
        matches.step(Step::Previous);
        matches.add(10);
        matches.remove_oldest(3);
        assert_eq!((matches.current(), matches.total()), (Some(0), 11));
        matches.remove_oldest(1);
        assert_eq!((matches.current(), matches.total()), (None, 10));
    }

    #[test]
    fn a_match_is_located_in_its_part() {
        let counts = [0, 2, 0, 1];
        let all: Vec<_> = (0..4).map(|index| locate(counts, index)).collect();
        assert_eq!(all, [Some((1, 0)), Some((1, 1)), Some((3, 0)), None]);
    }
}
