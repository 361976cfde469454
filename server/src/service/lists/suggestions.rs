//! Labels that complete what a user has typed.
use super::arrangement::Arranged;
use portico_domain::panel::LabelCount;
use std::{cmp::Reverse, collections::HashMap};

const MAX_SUGGESTIONS: usize = 20;

/// Returns the labels of rows that complete `typed`, a key or `key=` and a part of a value, the most
/// frequent first.
pub fn complete(arranged: &Arranged, typed: &str) -> Vec<LabelCount> {
    let typed = typed.trim().trim_start_matches('!').trim_start();
    let labels = arranged.rows.iter().flat_map(|row| &row.row.labels);
    let mut counts: HashMap<(&str, Option<&str>), usize> = HashMap::new();
    match typed.split_once('=') {
        Some((key, part)) => {
            let key = key.trim_end_matches('!').trim_end();
            let part = part.trim_start_matches('=').trim_start().to_lowercase();
            for (_, value) in labels
                .filter(|(name, value)| name == key && value.to_lowercase().starts_with(&part))
            {
                *counts.entry((key, Some(value))).or_default() += 1;
            }
        }
        None => {
            let part = typed.to_lowercase();
            for (name, _) in labels.filter(|(name, _)| begins(name, &part)) {
                *counts.entry((name, None)).or_default() += 1;
            }
        }
    }
    let mut found: Vec<_> = counts
        .into_iter()
        .map(|((key, value), count)| LabelCount {
            key: key.to_owned(),
            value: value.map(str::to_owned),
            count,
        })
        .collect();
    found.sort_unstable_by(|a, b| {
        (Reverse(a.count), &a.key, &a.value).cmp(&(Reverse(b.count), &b.key, &b.value))
    });
    found.truncate(MAX_SUGGESTIONS);
    found
}

/// Returns whether a key, or its name after the domain, begins with a part in lower case.
fn begins(key: &str, part: &str) -> bool {
    let key = key.to_lowercase();
    key.starts_with(part)
        || key
            .split_once('/')
            .is_some_and(|(_, name)| name.starts_with(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::lists::{
        filter::Filter,
        fixtures::{NOW, query, row, rows},
    };
    use portico_domain::panel::Row;

    fn suggested(typed: &str) -> Vec<String> {
        let labelled = |name: &str, labels: &[(&str, &str)]| Row {
            labels: labels
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
            ..row("a", name, "Running", "0")
        };
        let source = rows(vec![
            labelled("1", &[("app", "web"), ("tier", "front")]),
            labelled("2", &[("app", "web")]),
            labelled("3", &[("app", "db"), ("app.kubernetes.io/name", "db")]),
            labelled("4", &[("tier", "")]),
        ]);
        let arranged = Arranged::new(source, &Filter::new(&query()).unwrap(), NOW).unwrap();
        complete(&arranged, typed)
            .into_iter()
            .map(|one| match one.value {
                Some(value) => format!("{}={value} {}", one.key, one.count),
                None => format!("{} {}", one.key, one.count),
            })
            .collect()
    }

    #[test]
    fn keys_and_values_are_completed_the_most_frequent_first() {
        assert_eq!(
            suggested(""),
            ["app 3", "tier 2", "app.kubernetes.io/name 1"]
        );
        assert_eq!(suggested("AP"), ["app 3", "app.kubernetes.io/name 1"]);
        assert_eq!(suggested("name"), ["app.kubernetes.io/name 1"]);
        assert_eq!(suggested("!ti"), ["tier 2"]);
        assert_eq!(suggested("app="), ["app=web 2", "app=db 1"]);
        assert_eq!(suggested("app=W"), ["app=web 2"]);
        assert_eq!(suggested("app != d"), ["app=db 1"]);
        assert_eq!(suggested("app==d"), ["app=db 1"]);
        assert_eq!(suggested("tier="), ["tier= 1", "tier=front 1"]);
        assert_eq!(suggested("missing"), [""; 0]);
        assert_eq!(suggested("missing="), [""; 0]);
    }
}
