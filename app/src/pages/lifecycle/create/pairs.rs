//! Lists and maps of the form as lines of text.
use std::collections::BTreeMap;

/// Returns a map as lines of `key=value`.
pub fn text_of(map: &BTreeMap<String, String>) -> String {
    let lines: Vec<String> = map
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    lines.join("\n")
}

/// Reads lines of `key=value`. A line without a sign is a key without a value.
pub fn of_text(text: &str) -> BTreeMap<String, String> {
    text.lines()
        .map(|line| line.split_once('=').unwrap_or((line, "")))
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .filter(|(key, _)| !key.is_empty())
        .collect()
}

/// Returns the entries of a text that are on lines of their own, or separated by commas or spaces.
pub fn lines(text: &str) -> Vec<String> {
    text.split([',', ' ', '\n', '\r', '\t'])
        .filter(|entry| !entry.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_from_lines_and_written_as_lines() {
        let map = of_text("tier=gpu\n\n team = shop \nplain\n=lost");
        let words: Vec<(&str, &str)> = map
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        assert_eq!(words, [("plain", ""), ("team", "shop"), ("tier", "gpu")]);
        assert_eq!(of_text(&text_of(&map)), map);
    }

    #[test]
    fn entries_are_separated_by_lines_commas_or_spaces() {
        assert_eq!(
            lines("198.51.100.0/24,\n203.0.113.0/24  2001:db8::/32\n"),
            ["198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"]
        );
    }
}
