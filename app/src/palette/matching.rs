//! How well a text matches what was typed. Every typed word has to occur.

/// The scores of one word, from the best match to the weakest.
const EXACT: u32 = 100;
const PREFIX: u32 = 80;
const WORD: u32 = 60;
const INITIALS: u32 = 50;
const INSIDE: u32 = 40;
const SCATTERED: u32 = 10;

/// Returns how well `text` matches; `None` if it does not. Nothing typed matches everything.
pub fn score(typed: &str, text: &str) -> Option<u32> {
    let (mut sum, mut words) = (0_u32, 0_u32);
    for word in typed.split_whitespace() {
        sum += word_score(&word.to_lowercase(), text)?;
        words += 1;
    }
    Some(u32::checked_div(sum, words).unwrap_or(EXACT))
}

/// Returns the best score of several names of one thing.
pub fn best<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<u32> {
    names
        .into_iter()
        .filter_map(|name| score(typed, name))
        .max()
}

fn word_score(word: &str, text: &str) -> Option<u32> {
    let lower = text.to_lowercase();
    if lower == word {
        return Some(EXACT);
    }
    if lower.starts_with(word) {
        return Some(PREFIX);
    }
    let initials = initials(text);
    if initials
        .iter()
        .any(|at| lower.get(*at..).is_some_and(|rest| rest.starts_with(word)))
    {
        return Some(WORD);
    }
    if word.len() > 1
        && follows(
            word,
            initials
                .iter()
                .filter_map(|at| lower.get(*at..)?.chars().next()),
        )
    {
        return Some(INITIALS);
    }
    if lower.contains(word) {
        return Some(INSIDE);
    }
    (word.len() > 2 && is_scattered(word, &lower)).then_some(SCATTERED)
}

/// Returns where the words of a text begin: after a separator, or with a capital after a small
/// letter.
fn initials(text: &str) -> Vec<usize> {
    let mut before = ' ';
    let mut found = Vec::new();
    for (at, char) in text.char_indices() {
        let begins = char.is_alphanumeric()
            && (!before.is_alphanumeric() || char.is_uppercase() && before.is_lowercase());
        // positions of a text whose lower case has another length would be wrong
        if begins && text.is_ascii() {
            found.push(at);
        }
        before = char;
    }
    found
}

/// Returns whether the letters of a word are found in this order.
fn follows(word: &str, mut letters: impl Iterator<Item = char>) -> bool {
    word.chars()
        .all(|char| letters.any(|letter| letter == char))
}

/// Returns whether the letters occur in this order and close to each other, as in a word with a
/// letter left out.
fn is_scattered(word: &str, text: &str) -> bool {
    let length = word.chars().count();
    let Some(first) = word.chars().next() else {
        return false;
    };
    text.match_indices(first).any(|(at, _)| {
        let near = text.get(at..).unwrap_or_default();
        follows(word, near.chars().take(length + length / 2))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_better_match_has_a_higher_score() {
        let scores = [
            score("pods", "Pods"),
            score("pod", "Pods"),
            score("claim", "PersistentVolumeClaims"),
            score("pvc", "PersistentVolumeClaims"),
            score("sistent", "PersistentVolumeClaims"),
            score("persistntvol", "PersistentVolumeClaims"),
        ];
        assert!(scores.iter().all(Option::is_some), "{scores:?}");
        assert!(
            scores.windows(2).all(|pair| pair[0] > pair[1]),
            "{scores:?}"
        );
    }

    #[test]
    fn every_word_has_to_occur_in_any_order_and_case() {
        assert!(score("quota resource", "ResourceQuotas").is_some());
        assert!(score("NET pol", "NetworkPolicies").is_some());
        assert_eq!(score("web pods", "Pods"), None);
        assert_eq!(score("xyz", "Pods"), None);
    }

    #[test]
    fn letters_far_from_each_other_are_not_a_match() {
        assert!(score("daemnsets", "DaemonSets").is_some());
        assert_eq!(score("web", "ValidatingAdmissionPolicyBindings"), None);
        assert_eq!(score("pods", "PersistentVolumes in the cold storage"), None);
    }

    #[test]
    fn nothing_typed_matches_everything() {
        assert_eq!(score(" ", "Pods"), Some(EXACT));
        assert_eq!(score("", ""), Some(EXACT));
    }

    #[test]
    fn texts_of_any_script_are_compared() {
        assert!(score("über", "Überblick").is_some());
        assert_eq!(score("ﬁ", "İstanbul"), None);
        assert_eq!(best("po", ["Pods", "po"]), Some(EXACT));
    }
}
