//! What the palette offers, and in which order.
use super::matching;
use crate::ui::Tone;

/// What an option does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Leads to a page of the panel.
    Page(String),
    /// Leads out of the panel: a download, a page of the gateway.
    External(String),
    /// Clicks the element of the page that this selector finds.
    Click(String),
    /// Focuses the field of the list's filter.
    Filter,
    /// Opens the help of the keyboard.
    Help,
    /// Opens the activity of this tab.
    Activity,
    /// Copies a text.
    Copy(String),
}

impl Target {
    /// Returns the address, if it has one.
    pub fn href(&self) -> Option<&str> {
        match self {
            Self::Page(href) | Self::External(href) => Some(href),
            _ => None,
        }
    }
}

/// One option.
#[derive(Clone)]
pub struct Entry {
    pub label: String,
    /// Beside the label: the kind, the namespace, the group.
    pub detail: String,
    pub icon: icondata_core::Icon,
    /// A state in words.
    pub state: Option<(Tone, String)>,
    pub target: Target,
    /// Other names under which it is found.
    pub names: Vec<String>,
    /// Why it cannot be used now.
    pub refusal: Option<String>,
}

impl Entry {
    pub fn new(label: impl Into<String>, icon: icondata_core::Icon, target: Target) -> Self {
        Self {
            label: label.into(),
            detail: String::new(),
            icon,
            state: None,
            target,
            names: Vec::new(),
            refusal: None,
        }
    }

    pub fn detail(self, detail: impl Into<String>) -> Self {
        Self {
            detail: detail.into(),
            ..self
        }
    }

    pub fn names(self, names: impl IntoIterator<Item = String>) -> Self {
        Self {
            names: names.into_iter().collect(),
            ..self
        }
    }

    fn score(&self, typed: &str) -> Option<u32> {
        let names = self.names.iter().map(String::as_str);
        matching::best(typed, names.chain([self.label.as_str()]))
    }
}

/// Options under a heading.
#[derive(Clone)]
pub struct Group {
    pub heading: &'static str,
    pub entries: Vec<Entry>,
    /// The place among the other groups: the higher one is first.
    pub rank: u32,
}

/// The rank of the objects that were found: after what matches from the beginning of a word.
pub const OBJECTS_RANK: u32 = 55;

/// Returns the best entries for what was typed; `None` if none matches.
pub fn matching_group(
    heading: &'static str,
    entries: Vec<Entry>,
    typed: &str,
    most: usize,
) -> Option<Group> {
    let mut found: Vec<(u32, Entry)> = entries
        .into_iter()
        .filter_map(|entry| Some((entry.score(typed)?, entry)))
        .collect();
    if !typed.is_empty() {
        found.sort_by(|(a, first), (b, second)| {
            b.cmp(a)
                .then_with(|| first.label.len().cmp(&second.label.len()))
        });
    }
    let rank = found.iter().map(|(score, _)| *score).max()?;
    found.truncate(most);
    Some(Group {
        heading,
        entries: found.into_iter().map(|(_, entry)| entry).collect(),
        rank,
    })
}

/// What was typed, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typed<'a> {
    Anything(&'a str),
    /// After `>`: actions only.
    Action(&'a str),
}

pub fn taken_apart(text: &str) -> Typed<'_> {
    let text = text.trim();
    match text.strip_prefix('>') {
        Some(action) => Typed::Action(action.trim_start()),
        None => Typed::Anything(text),
    }
}

/// Returns the first word and the others; `None` if there is only one.
pub fn kind_and_rest(text: &str) -> Option<(&str, &str)> {
    let (kind, rest) = text.trim().split_once(char::is_whitespace)?;
    Some((kind, rest.trim_start())).filter(|(_, rest)| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::icons;

    fn labels(typed: &str) -> Vec<String> {
        let entries = ["Pods", "PodTemplates", "Nodes", "Endpoints"]
            .map(|label| Entry::new(label, icons::BOX, Target::Page(label.to_owned())));
        matching_group("Kinds", entries.to_vec(), typed, 3).map_or_else(Vec::new, |group| {
            group.entries.into_iter().map(|entry| entry.label).collect()
        })
    }

    #[test]
    fn the_best_match_is_first_and_the_rest_is_cut() {
        assert_eq!(labels("pod"), ["Pods", "PodTemplates"]);
        assert_eq!(labels("po"), ["Pods", "PodTemplates", "Endpoints"]);
        assert_eq!(labels(""), ["Pods", "PodTemplates", "Nodes"]);
        assert!(labels("zzz").is_empty());
    }

    #[test]
    fn another_name_finds_an_entry_too() {
        let entry = Entry::new("PersistentVolumeClaims", icons::BOX, Target::Filter)
            .names(["claims-of-storage".to_owned()]);
        assert_eq!(entry.score("claims-of"), Some(80));
    }

    #[test]
    fn what_is_typed_is_taken_apart() {
        assert_eq!(taken_apart(" web "), Typed::Anything("web"));
        assert_eq!(taken_apart("> sign"), Typed::Action("sign"));
        assert_eq!(kind_and_rest("pods  web 0"), Some(("pods", "web 0")));
        assert_eq!(kind_and_rest("pods "), None);
    }
}
