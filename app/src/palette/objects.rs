//! The search for objects by name, which the server answers.
use super::{entries::Entry, sources};
use crate::{api::resources::search_objects, error::UiError, hooks::Timer, ui::Tone};
use leptos::prelude::*;
use portico_domain::panel::{Refusal, ResourceRef, RightQuestion, SearchAnswer, SearchHit};
use std::time::Duration;
use uuid::Uuid;

/// How long typing has to pause before the server is asked.
const DEBOUNCE: Duration = Duration::from_millis(150);
/// How often a search is continued that a slow cluster did not answer in time.
const MAX_CONTINUATIONS: u8 = 8;
/// The pause before that.
const CONTINUATION_PAUSE: Duration = Duration::from_millis(500);
/// Minimum number of characters that are searched.
const MIN_CHARACTERS: usize = 2;
/// Maximum number of objects that are shown.
const MAX_SHOWN: usize = 20;

/// The outcome in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing is searched.
    Nothing,
    Searching,
    Failed(Refusal),
    Hits {
        shown: usize,
        total: usize,
        failures: Vec<String>,
        /// Kinds that were not read completely in time.
        late: Vec<String>,
        /// The search for these is continued.
        is_continued: bool,
        /// The permission that is missing, if no kind may be listed.
        missing: Option<Box<RightQuestion>>,
    },
}

/// One search at a time. `Copy`.
#[derive(Clone, Copy)]
pub struct ObjectSearch {
    /// Cluster, text and kind that are wanted; an answer to another question is dropped.
    wanted: StoredValue<Option<(Uuid, String, Option<ResourceRef>)>>,
    cluster: StoredValue<Option<Uuid>>,
    hits: RwSignal<Vec<SearchHit>>,
    found: RwSignal<Found>,
    pending: Timer,
    continuations: StoredValue<u8>,
}

impl ObjectSearch {
    pub fn new() -> Self {
        Self {
            continuations: StoredValue::new(0),
            wanted: StoredValue::new(None),
            cluster: StoredValue::new(None),
            hits: RwSignal::new(Vec::new()),
            found: RwSignal::new(Found::Nothing),
            pending: Timer::new(),
        }
    }

    pub fn found(self) -> Found {
        self.found.get()
    }

    pub fn clear(self) {
        self.wanted.set_value(None);
        self.hits.set(Vec::new());
        self.found.set(Found::Nothing);
    }

    /// Searches soon; what was found before stays until then.
    pub fn search(self, cluster: Uuid, text: &str, kind: Option<ResourceRef>) {
        if text.chars().count() < MIN_CHARACTERS {
            self.clear();
            return;
        }
        let question = Some((cluster, text.to_owned(), kind));
        if self.wanted.with_value(|wanted| *wanted == question) {
            return;
        }
        self.wanted.set_value(question);
        self.found.set(Found::Searching);
        self.continuations.set_value(0);
        self.ask_after(DEBOUNCE);
    }

    /// Continues a search that a slow cluster did not answer in time: the server has cached what it
    /// has read meanwhile.
    pub fn search_again(self) {
        self.continuations.set_value(0);
        self.found.set(Found::Searching);
        self.ask_after(Duration::ZERO);
    }

    fn ask_after(self, pause: Duration) {
        let Some(question) = self.wanted.get_value() else {
            return;
        };
        self.pending.start(pause, move || {
            leptos::task::spawn_local(async move {
                let answer = search_objects(question.0, question.1.clone()).await;
                let is_current = self
                    .wanted
                    .try_with_value(|wanted| wanted.as_ref() == Some(&question));
                if is_current == Some(true) {
                    self.cluster.set_value(Some(question.0));
                    self.take(answer);
                }
            });
        });
    }

    fn take(self, answer: Result<SearchAnswer, UiError>) {
        match answer {
            Ok(answer) => {
                let kind = self.wanted.with_value(|wanted| wanted.as_ref()?.2.clone());
                let (hits, total) = of_kind(answer.hits, answer.total, kind.as_ref());
                let is_continued =
                    !answer.late.is_empty() && self.continuations.get_value() < MAX_CONTINUATIONS;
                if is_continued {
                    self.continuations.update_value(|count| *count += 1);
                    self.ask_after(CONTINUATION_PAUSE);
                }
                self.found.set(Found::Hits {
                    shown: hits.len(),
                    total,
                    failures: answer.failures,
                    late: answer.late,
                    is_continued,
                    missing: answer.missing,
                });
                self.hits.set(hits);
            }
            Err(error) => {
                self.hits.set(Vec::new());
                self.found.set(Found::Failed(Refusal {
                    reason: error.message,
                    missing: error.missing,
                }));
            }
        }
    }

    /// Returns the objects that were found.
    pub fn entries(self, project: &str) -> Vec<Entry> {
        // read before anything can return, so that the first answer is noticed too
        let found = self.found.get();
        let Some(cluster) = self.cluster.get_value() else {
            return Vec::new();
        };
        let entry = |hit: &SearchHit| {
            let state = hit
                .status
                .clone()
                .map(|status| (hit.health.map_or(Tone::Idle, Tone::from), status));
            sources::object(project, cluster, &hit.object, &hit.kind, state)
        };
        // while the next answer is awaited, only what it will contain too
        let text = match found {
            Found::Searching => self.wanted.with_value(|wanted| {
                wanted
                    .as_ref()
                    .map_or_else(String::new, |(_, text, _)| text.to_lowercase())
            }),
            _ => String::new(),
        };
        self.hits.with(|hits| {
            hits.iter()
                .filter(|hit| {
                    text.split_whitespace()
                        .all(|word| hit.object.name.contains(word))
                })
                .map(entry)
                .collect()
        })
    }
}

/// Returns the best hits, of one kind if one is named, and the number of all of them.
fn of_kind(
    mut hits: Vec<SearchHit>,
    total: usize,
    kind: Option<&ResourceRef>,
) -> (Vec<SearchHit>, usize) {
    let total = kind.map_or(total, |kind| {
        hits.retain(|hit| {
            let resource = &hit.object.resource;
            resource.group == kind.group && resource.plural == kind.plural
        });
        hits.len()
    });
    hits.truncate(MAX_SHOWN);
    (hits, total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::ObjectRef;

    fn hit(plural: &str, name: &str) -> SearchHit {
        SearchHit {
            object: ObjectRef {
                resource: ResourceRef::core(plural),
                namespace: Some("shop".to_owned()),
                name: name.to_owned(),
            },
            kind: plural.to_owned(),
            status: None,
            health: None,
        }
    }

    #[test]
    fn a_named_kind_leaves_out_the_others() {
        let hits = vec![hit("pods", "web-0"), hit("services", "web")];
        let (found, total) = of_kind(hits.clone(), 7, Some(&ResourceRef::core("services")));
        assert_eq!((found.len(), total), (1, 1));
        let (found, total) = of_kind(hits, 7, None);
        assert_eq!((found.len(), total), (2, 7));
    }
}
