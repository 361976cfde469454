//! Magnum's report about the health of a cluster, in words.
use portico_openstack::magnum::HealthStatus;
use std::collections::BTreeMap;

/// Maximum number of reasons in one text.
const MAX_REASONS: usize = 3;

/// What Magnum reports about a part of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Such as "API server", or the name of a node.
    pub name: String,
    /// Such as "not ready".
    pub text: String,
    pub is_good: bool,
}

/// Returns the health that Magnum measured, the worst reason first.
pub fn measured(health: Option<&HealthStatus>, reasons: &BTreeMap<String, String>) -> String {
    let words = status(health);
    if matches!(health, None | Some(HealthStatus::Healthy)) {
        return words;
    }
    // the API concerns all users of the cluster, a node only some
    let (of_api, of_others): (Vec<_>, Vec<_>) = reasons
        .iter()
        .filter(|(_, text)| !is_good(text))
        .partition(|(part, _)| part.as_str() == "api");
    let bad: Vec<_> = of_api.into_iter().chain(of_others).collect();
    let mut texts: Vec<_> = bad
        .iter()
        .take(MAX_REASONS)
        .map(|(part, text)| reason(part, text))
        .collect();
    if bad.len() > MAX_REASONS {
        texts.push(format!("{} more", bad.len() - MAX_REASONS));
    }
    if texts.is_empty() {
        return words;
    }
    format!("{words}: {}", texts.join("; "))
}

/// Returns Magnum's word for the health of a cluster in words, without its reasons.
pub fn status(health: Option<&HealthStatus>) -> String {
    let words = match health {
        None => "Not measured",
        Some(HealthStatus::Healthy) => "Healthy",
        Some(HealthStatus::Unhealthy) => "Unhealthy",
        Some(HealthStatus::Unknown) => "Not known",
        Some(HealthStatus::Other(word)) => word.as_str(),
    };
    words.to_owned()
}

/// Returns what Magnum reports about each part, the bad ones first.
pub fn parts(reasons: &BTreeMap<String, String>) -> Vec<Part> {
    let mut parts: Vec<_> = reasons
        .iter()
        .map(|(name, text)| part(name, text))
        .collect();
    // stable: within each half the API server and the nodes stay in the order of their names
    parts.sort_by_key(|part| part.is_good);
    parts
}

/// Returns what Magnum reports about one part.
pub fn part(part: &str, text: &str) -> Part {
    let is_good = is_good(text);
    let (name, words) = match (part, part.strip_suffix(".Ready")) {
        ("api", _) => ("API server", text),
        (_, Some(node)) if is_good => (node, "ready"),
        (_, Some(node)) if text.eq_ignore_ascii_case("false") => (node, "not ready"),
        (_, Some(node)) => (node, text),
        (other, None) => (other, text),
    };
    Part {
        name: name.to_owned(),
        text: words.to_owned(),
        is_good,
    }
}

/// Returns whether Magnum's text about a part means that it works.
pub fn is_good(text: &str) -> bool {
    ["ok", "true", "ready"].contains(&text.trim().to_lowercase().as_str())
}

fn reason(part: &str, text: &str) -> String {
    match part.strip_suffix(".Ready") {
        Some(node) if text.eq_ignore_ascii_case("false") => format!("{node} is not ready"),
        _ => format!("{part}: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons(all: &[(&str, &str)]) -> BTreeMap<String, String> {
        let owned = |(part, text): &(&str, &str)| ((*part).to_owned(), (*text).to_owned());
        all.iter().map(owned).collect()
    }

    #[test]
    fn case_45_the_worst_reason_of_bad_health_is_first_and_in_words() {
        let reasons = reasons(&[
            ("api", "error"),
            ("node-0.Ready", "True"),
            ("node-1.Ready", "False"),
        ]);
        let text = measured(Some(&HealthStatus::Unhealthy), &reasons);
        assert_eq!(text, "Unhealthy: api: error; node-1 is not ready");
    }

    #[test]
    fn further_reasons_are_counted() {
        let all: Vec<_> = (0..5)
            .map(|number| format!("node-{number}.Ready"))
            .collect();
        let all: Vec<_> = all.iter().map(|part| (part.as_str(), "False")).collect();
        let text = measured(Some(&HealthStatus::Unhealthy), &reasons(&all));
        assert!(text.ends_with("node-2 is not ready; 2 more"), "{text}");
    }

    #[test]
    fn case_46_health_that_is_not_measured_is_not_a_failure() {
        assert_eq!(measured(None, &BTreeMap::new()), "Not measured");
        let old = reasons(&[("api", "error")]);
        assert_eq!(measured(None, &old), "Not measured");
    }

    #[test]
    fn parts_are_in_words_and_the_bad_ones_first() {
        let parts: Vec<_> = parts(&reasons(&[
            ("api", "ok"),
            ("node-0.Ready", "True"),
            ("node-1.Ready", "False"),
            ("node-2.Ready", "Unknown"),
        ]))
        .into_iter()
        .map(|part| (part.name, part.text, part.is_good))
        .collect();
        let part = |name: &str, text: &str, is_good| (name.to_owned(), text.to_owned(), is_good);
        assert_eq!(
            parts,
            [
                part("node-1", "not ready", false),
                part("node-2", "Unknown", false),
                part("API server", "ok", true),
                part("node-0", "ready", true),
            ]
        );
    }
}
