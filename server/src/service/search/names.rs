//! How well the names of objects match a search.
use crate::service::{error::ServiceError, lists};
use portico_domain::panel::{ResourceKind, Row};

const MIN_CHARS: usize = 2;
/// Maximum length of a search, in bytes: that of a name, and of its namespace.
const MAX_BYTES: usize = 512;

/// How well a name matches; the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    Exact,
    Prefix,
    WordStart,
    Substring,
}

/// Returns the words of a search, in lower case; `shop/web` is two of them.
pub fn words(text: &str) -> Result<Vec<String>, ServiceError> {
    let words: Vec<_> = text
        .split(|c: char| c.is_whitespace() || c == '/')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    if words.iter().map(|word| word.chars().count()).sum::<usize>() < MIN_CHARS {
        return Err(ServiceError::invalid(format!(
            "Type at least {MIN_CHARS} characters."
        )));
    }
    if text.len() > MAX_BYTES {
        return Err(ServiceError::invalid("This search is too long."));
    }
    Ok(words)
}

/// Returns how well a row matches; `None` if a word is found neither in its name nor in its namespace
/// or kind, or none is in its name. The best word counts.
pub fn rank(row: &Row, kind: &ResourceKind, words: &[String]) -> Option<Rank> {
    let is_elsewhere = |word: &str| {
        row.namespace
            .as_ref()
            .is_some_and(|namespace| lists::contains(namespace, word))
            || kind.plural.starts_with(word)
            || kind.short_names.iter().any(|name| name == word)
    };
    let mut best = None;
    for word in words {
        match rank_of_name(&row.name, word) {
            Some(rank) => best = Some(best.map_or(rank, |best: Rank| best.min(rank))),
            None if is_elsewhere(word) => {}
            None => return None,
        }
    }
    best
}

fn rank_of_name(name: &str, word: &str) -> Option<Rank> {
    if !lists::contains(name, word) {
        return None;
    }
    let name = name.to_lowercase();
    if name == word {
        return Some(Rank::Exact);
    }
    if name.starts_with(word) {
        return Some(Rank::Prefix);
    }
    let is_word_start = name
        .match_indices(word)
        .any(|(at, _)| name[..at].ends_with(|c: char| !c.is_alphanumeric()));
    Some(if is_word_start {
        Rank::WordStart
    } else {
        Rank::Substring
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::lists::fixtures::row;

    fn deployments() -> ResourceKind {
        ResourceKind {
            group: "apps".to_owned(),
            version: "v1".to_owned(),
            plural: "deployments".to_owned(),
            kind: "Deployment".to_owned(),
            namespaced: true,
            verbs: Vec::new(),
            short_names: vec!["deploy".to_owned()],
        }
    }

    fn ranked(text: &str, name: &str) -> Option<Rank> {
        let row = row("shop", name, "Running", "0");
        rank(&row, &deployments(), &words(text).ok()?)
    }

    #[test]
    fn an_exact_name_is_better_than_its_start_a_word_and_a_part() {
        assert_eq!(ranked("WEB", "web"), Some(Rank::Exact));
        assert_eq!(ranked("web", "web-1"), Some(Rank::Prefix));
        assert_eq!(ranked("web", "old-web"), Some(Rank::WordStart));
        assert_eq!(ranked("web", "cobweb-web"), Some(Rank::WordStart));
        assert_eq!(ranked("web", "cobweb"), Some(Rank::Substring));
        assert_eq!(ranked("web", "db"), None);
    }

    #[test]
    fn further_words_may_name_the_namespace_or_the_kind() {
        assert_eq!(ranked("shop/web", "web"), Some(Rank::Exact));
        assert_eq!(ranked("deploy web", "web-1"), Some(Rank::Prefix));
        assert_eq!(ranked("bank web", "web"), None);
        // a namespace alone would be every object in it
        assert_eq!(ranked("shop", "web"), None);
    }

    #[test]
    fn a_search_has_two_characters_and_an_end() {
        assert!(words("a").is_err());
        assert!(words(" / ").is_err());
        assert!(words("ab").is_ok());
        assert!(words(&"a".repeat(MAX_BYTES + 1)).is_err());
    }
}
