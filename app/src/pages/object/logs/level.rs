//! The severity of a line, in the forms that programs write most: JSON, logfmt, klog and plain words.
use crate::ui::Choice;

/// The severity of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Debug,
    Info,
    Warning,
    Error,
}

/// A level is looked for in the first bytes of a line only: further on it may be part of the message.
const HEAD_BYTES: usize = 200;

/// Returns the choices of a page; the first selects all lines.
pub fn choices() -> Vec<Choice> {
    vec![
        Choice::new("", "All levels"),
        Choice::new("warning", "Warnings and errors"),
        Choice::new("error", "Errors"),
    ]
}

impl Level {
    /// Returns the least level that a choice selects; `None` for all lines.
    pub fn chosen(choice: &str) -> Option<Self> {
        match choice {
            "error" => Some(Self::Error),
            "warning" => Some(Self::Warning),
            _ => None,
        }
    }

    /// Returns the level of a line; `None` if it names none, as the lines of a stack trace.
    pub fn of(line: &str) -> Option<Self> {
        let mut end = line.len().min(HEAD_BYTES);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        let head = &line[..end];
        Self::of_field(line)
            .or_else(|| Self::of_klog(head))
            .or_else(|| {
                head.split(|byte: char| !byte.is_ascii_alphanumeric())
                    .filter(|word| {
                        word.len() > 3 && word.chars().all(|letter| letter.is_ascii_uppercase())
                    })
                    .find_map(Self::of_word)
            })
    }

    /// Reads `level=warn`, `"level":"warn"` and the same with `lvl` and `severity`; in JSON also the numbers of pino and
    /// bunyan.
    fn of_field(line: &str) -> Option<Self> {
        ["level", "lvl", "severity"].iter().find_map(|name| {
            line.match_indices(name).find_map(|(start, _)| {
                let before = line[..start].chars().next_back();
                let after = line[start + name.len()..].trim_start_matches('"');
                let value = after.trim_start().strip_prefix(['=', ':'])?;
                let is_name =
                    before.is_none_or(|before| !before.is_ascii_alphanumeric() && before != '_');
                let value = value.trim_start().trim_start_matches('"');
                let word: String = value
                    .chars()
                    .take_while(char::is_ascii_alphanumeric)
                    .collect();
                let in_json = before == Some('"');
                let found = || {
                    Self::of_word(&word)
                        .or_else(|| in_json.then(|| Self::of_number(&word)).flatten())
                };
                is_name.then(found).flatten()
            })
        })
    }

    /// Reads `E0102 15:04:05.678901` (<https://kubernetes.io/docs/concepts/cluster-administration/system-logs/>).
    fn of_klog(head: &str) -> Option<Self> {
        let (letter, rest) = head.split_at_checked(1)?;
        let digits = rest.get(..4)?.bytes().all(|byte| byte.is_ascii_digit());
        if !digits || rest.as_bytes().get(4) != Some(&b' ') {
            return None;
        }
        match letter {
            "E" | "F" => Some(Self::Error),
            "W" => Some(Self::Warning),
            "I" => Some(Self::Info),
            _ => None,
        }
    }

    /// Reads a level of pino (<https://getpino.io/#/docs/api?id=logger-level>) and bunyan.
    fn of_number(word: &str) -> Option<Self> {
        match word {
            "10" | "20" => Some(Self::Debug),
            "30" => Some(Self::Info),
            "40" => Some(Self::Warning),
            "50" | "60" => Some(Self::Error),
            _ => None,
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().as_str() {
            "error" | "err" | "fatal" | "panic" | "critical" | "crit" | "emerg" | "alert"
            | "severe" => Some(Self::Error),
            "warn" | "warning" => Some(Self::Warning),
            "info" | "notice" => Some(Self::Info),
            "debug" | "trace" => Some(Self::Debug),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Level;

    #[test]
    fn need_15_the_level_of_a_line_is_read_in_the_usual_forms() {
        for line in [
            r#"{"time":"2026-01-02T03:04:05Z","level":"error","msg":"no"}"#,
            r#"{"severity": "ERROR"}"#,
            "time=now level=error msg=no",
            "E0102 15:04:05.678901       1 main.go:1] no",
            "2026-01-02 03:04:05 ERROR no",
            "2026/01/02 [FATAL] no",
            r#"[web-1] 2026-01-02T03:04:05Z {"level":50,"msg":"no"}"#,
        ] {
            assert_eq!(Level::of(line), Some(Level::Error), "{line}");
        }
        assert_eq!(Level::of("lvl=warn"), Some(Level::Warning));
        assert_eq!(Level::of("I0102 15:04:05 ok"), Some(Level::Info));
        assert_eq!(Level::of("\"level\":\"debug\""), Some(Level::Debug));
        assert_eq!(Level::of(r#"{"lvl": 40}"#), Some(Level::Warning));
    }

    #[test]
    fn a_line_without_a_level_has_none() {
        for line in [
            "",
            "  at com.example.Main",
            "an error occurred",
            "E2E tests",
            "sea_level=error",
            "level=50",
            r#"{"level":5}"#,
            "Überraschung",
        ] {
            assert_eq!(Level::of(line), None, "{line}");
        }
    }
}
