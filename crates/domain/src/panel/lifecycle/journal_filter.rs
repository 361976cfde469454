//! Which entries of a journal a user wants to see.
use super::{JournalRow, JournalSource};
use serde::{Deserialize, Serialize};

/// Maximum length of a text of a filter, in characters.
const MAX_TEXT_CHARS: usize = 200;

/// A filter over the entries as they are shown; every field that is set must match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JournalFilter {
    /// The sources that are left out.
    pub hidden: Vec<JournalSource>,
    /// A part of the name of the user who requested it, in any case.
    pub user: String,
    /// A part of what is shown of an entry, in any case.
    pub text: String,
    /// Earliest time, in Unix seconds.
    pub since: Option<i64>,
    /// Latest time, in Unix seconds.
    pub until: Option<i64>,
}

impl JournalFilter {
    /// Returns whether every entry matches.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the filter with trimmed texts of limited length.
    #[must_use]
    pub fn limited(mut self) -> Self {
        for text in [&mut self.user, &mut self.text] {
            *text = text.trim().chars().take(MAX_TEXT_CHARS).collect();
        }
        self.hidden.sort_unstable();
        self.hidden.dedup();
        self
    }

    /// Returns whether an entry matches. One whose time is a range matches if a part of the range does.
    pub fn matches(&self, row: &JournalRow) -> bool {
        let first = row.since.unwrap_or(row.at);
        !self.hidden.contains(&row.source)
            && self.since.is_none_or(|since| row.at >= since)
            && self.until.is_none_or(|until| first <= until)
            && (self.user.is_empty() || row.user.as_ref().is_some_and(|user| has(user, &self.user)))
            && (self.text.is_empty() || shown(row).any(|text| has(text, &self.text)))
    }

    /// Returns the parameters of an address, without those that are not set.
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let hidden: Vec<&str> = self.hidden.iter().map(|source| source.as_str()).collect();
        let time = |time: Option<i64>| time.map(|time| time.to_string()).unwrap_or_default();
        let all = [
            ("hide", hidden.join(",")),
            ("user", self.user.clone()),
            ("text", self.text.clone()),
            ("since", time(self.since)),
            ("until", time(self.until)),
        ];
        all.into_iter()
            .filter(|(_, value)| !value.is_empty())
            .collect()
    }

    /// Returns the filter of an address, of which `parameter` returns a value by its name. What cannot be read is
    /// not set.
    pub fn from_parameters(parameter: impl Fn(&str) -> Option<String>) -> Self {
        let text = |name: &str| parameter(name).unwrap_or_default();
        let time = |name: &str| parameter(name)?.parse().ok();
        let hidden = text("hide");
        let hidden = JournalSource::ALL
            .into_iter()
            .filter(|source| hidden.split(',').any(|word| word == source.as_str()));
        Self {
            hidden: hidden.collect(),
            user: text("user"),
            text: text("text"),
            since: time("since"),
            until: time("until"),
        }
        .limited()
    }
}

fn shown(row: &JournalRow) -> impl Iterator<Item = &str> {
    let texts = [&row.title, &row.by, &row.status];
    let optional = [row.reason.as_ref(), row.request_id.as_ref()];
    texts
        .into_iter()
        .chain(optional.into_iter().flatten())
        .chain(&row.lines)
        .map(String::as_str)
}

fn has(text: &str, part: &str) -> bool {
    text.to_lowercase().contains(&part.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::Health;

    fn row() -> JournalRow {
        JournalRow {
            id: "p7".to_owned(),
            at: 1_000,
            since: None,
            source: JournalSource::Request,
            title: "Resize the node group gpu to 3".to_owned(),
            lines: vec!["Nodes of gpu: 1 → 3".to_owned()],
            by: "Ada (you)".to_owned(),
            user: Some("Ada".to_owned()),
            is_outside: false,
            reason: Some("CHG-12".to_owned()),
            status: "Accepted".to_owned(),
            health: Health::Ok,
            request_id: Some("r-1".to_owned()),
        }
    }

    fn filter(change: impl FnOnce(&mut JournalFilter)) -> JournalFilter {
        let mut filter = JournalFilter::default();
        change(&mut filter);
        filter
    }

    #[test]
    fn entries_are_filtered_by_source_user_time_and_text() {
        assert!(JournalFilter::default().matches(&row()));
        for matching in [
            filter(|one| one.hidden = vec![JournalSource::Heat]),
            filter(|one| one.user = "ada".to_owned()),
            filter(|one| one.text = "chg-12".to_owned()),
            filter(|one| one.text = "1 → 3".to_owned()),
            filter(|one| one.text = "R-1".to_owned()),
            filter(|one| (one.since, one.until) = (Some(1_000), Some(1_000))),
        ] {
            assert!(matching.matches(&row()), "{matching:?}");
        }
        for other in [
            filter(|one| one.hidden = vec![JournalSource::Request]),
            filter(|one| one.user = "grace".to_owned()),
            filter(|one| one.text = "upgrade".to_owned()),
            filter(|one| one.since = Some(1_001)),
            filter(|one| one.until = Some(999)),
        ] {
            assert!(!other.matches(&row()), "{other:?}");
        }
        // what happened between two times
        let range = JournalRow {
            since: Some(500),
            user: None,
            ..row()
        };
        assert!(filter(|one| one.until = Some(600)).matches(&range));
        assert!(!filter(|one| one.user = "ada".to_owned()).matches(&range));
    }

    #[test]
    fn an_address_holds_the_filter() {
        let whole = JournalFilter {
            hidden: vec![JournalSource::Observation, JournalSource::Heat],
            user: "ada".to_owned(),
            text: "a & b".to_owned(),
            since: Some(1_773_065_107),
            until: None,
        };
        let parameters = whole.parameters();
        let read = JournalFilter::from_parameters(|name| {
            let found = parameters.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| value.clone())
        });
        assert_eq!(read, whole);
        assert!(JournalFilter::default().parameters().is_empty());
        let long = JournalFilter::from_parameters(|name| match name {
            "hide" => Some("heat,other,heat".to_owned()),
            "text" => Some("x".repeat(1_000)),
            _ => Some("soon".to_owned()),
        });
        assert_eq!(long.hidden, [JournalSource::Heat]);
        assert_eq!((long.text.len(), long.since), (200, None));
    }
}
