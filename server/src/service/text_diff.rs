//! Differences between two texts, with a few unchanged lines around each change.
use portico_domain::panel::{DiffKind, DiffLine, TextDiff};
use similar::{Algorithm, ChangeTag, TextDiff as Compared};
use std::time::Duration;

/// Unchanged lines shown before and after a change.
const CONTEXT_LINES: usize = 3;
/// After this time the difference is approximated; it stays correct but may be longer.
const DEADLINE: Duration = Duration::from_millis(500);

/// Compares two texts.
pub fn compare(before: &str, after: &str) -> TextDiff {
    let compared = Compared::configure()
        .algorithm(Algorithm::Patience)
        .timeout(DEADLINE)
        .diff_lines(before, after);
    let mut diff = TextDiff::default();
    let mut next = 0;
    for group in compared.grouped_ops(CONTEXT_LINES) {
        let start = group.first().map_or(next, |op| op.old_range().start);
        gap(&mut diff, start.saturating_sub(next));
        for change in group.iter().flat_map(|op| compared.iter_changes(op)) {
            let kind = match change.tag() {
                ChangeTag::Equal => DiffKind::Same,
                ChangeTag::Insert => DiffKind::Added,
                ChangeTag::Delete => DiffKind::Removed,
            };
            match kind {
                DiffKind::Added => diff.added += 1,
                DiffKind::Removed => diff.removed += 1,
                DiffKind::Same | DiffKind::Gap => {}
            }
            diff.lines.push(DiffLine {
                kind,
                text: change.value().trim_end_matches('\n').to_owned(),
            });
        }
        next = group.last().map_or(next, |op| op.old_range().end);
    }
    if !diff.is_empty() {
        gap(&mut diff, before.lines().count().saturating_sub(next));
    }
    diff
}

fn gap(diff: &mut TextDiff, lines: usize) {
    if lines > 0 {
        diff.lines.push(DiffLine {
            kind: DiffKind::Gap,
            text: super::health::counted(
                i64::try_from(lines).unwrap_or(i64::MAX),
                "unchanged line",
            ),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    fn shown(before: &str, after: &str) -> String {
        let mut text = String::new();
        for line in compare(before, after).lines {
            let sign = match line.kind {
                DiffKind::Same => ' ',
                DiffKind::Added => '+',
                DiffKind::Removed => '-',
                DiffKind::Gap => '@',
            };
            writeln!(text, "{sign}{}", line.text).unwrap();
        }
        text
    }

    #[test]
    fn a_change_is_shown_with_its_surroundings() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\ni\n";
        let after = "a\nb\nc\nd\nE\nf\ng\nh\ni\n";
        assert_eq!(
            shown(before, after),
            "@1 unchanged line\n b\n c\n d\n-e\n+E\n f\n g\n h\n@1 unchanged line\n"
        );
    }

    #[test]
    fn equal_texts_have_no_lines() {
        let diff = compare("a\nb\n", "a\nb\n");
        assert!(diff.is_empty() && diff.lines.is_empty());
        assert_eq!(compare("", "a\n").added, 1);
    }
}
