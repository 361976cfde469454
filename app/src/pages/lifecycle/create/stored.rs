//! What this tab stores of a form that was not sent yet, or whose response was lost. It holds no secret.
use crate::{context::use_session, hooks::drafts};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{CreationForm, FormPage};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The form, as it was left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stored {
    pub form: CreationForm,
    pub page: FormPage,
    pub furthest: FormPage,
    /// The attempt that the form belongs to; `None` before it is sent.
    pub attempt: Option<Uuid>,
    /// Whether the form was sent with the attempt, and it is not known what became of it.
    pub is_sent: bool,
}

/// Where the form of the page is stored. `Copy`.
#[derive(Clone, Copy)]
pub struct Storage {
    user: StoredValue<String>,
    project: StoredValue<String>,
    /// The attempt that is continued, if its form is not that of the tab.
    continued: StoredValue<Option<Uuid>>,
}

impl Storage {
    /// Makes the storage of the signed-in user's form in the project of the page.
    pub fn new() -> Self {
        let session = use_session();
        Self {
            user: StoredValue::new(session.view.with_untracked(|view| view.user_id.clone())),
            project: StoredValue::new(session.project.get_untracked()),
            continued: StoredValue::new(None),
        }
    }

    fn key(self, what: Option<Uuid>) -> Option<String> {
        let project = self.project.get_value();
        let what = match what {
            Some(id) => format!("new-cluster:{project}:{id}"),
            None => format!("new-cluster:{project}"),
        };
        self.user.with_value(|user| drafts::key(user, &what))
    }

    fn read_key(self, what: Option<Uuid>) -> Option<Stored> {
        serde_json::from_str(&drafts::read(&self.key(what)?)?).ok()
    }

    /// Returns the form of the tab.
    pub fn read(self) -> Option<Stored> {
        self.read_key(None)
    }

    /// Returns the form of an attempt. If the tab does not have it, what is written from now on does not
    /// replace the form of the tab.
    pub fn read_attempt(self, attempt: Uuid) -> Option<Stored> {
        let of_tab = self.read().filter(|stored| stored.attempt == Some(attempt));
        if of_tab.is_some() {
            return of_tab;
        }
        self.continued.set_value(Some(attempt));
        self.read_key(Some(attempt))
    }

    /// Returns the form with which this tab made a cluster.
    pub fn read_of_cluster(self, cluster: Uuid) -> Option<CreationForm> {
        self.read_key(Some(cluster)).map(|stored| stored.form)
    }

    pub fn write(self, stored: &Stored) {
        if let (Some(key), Ok(text)) = (
            self.key(self.continued.get_value()),
            serde_json::to_string(stored),
        ) {
            drafts::write(&key, Some(&text));
        }
    }

    /// Removes the form.
    pub fn clear(self) {
        if let Some(key) = self.key(self.continued.get_value()) {
            drafts::write(&key, None);
        }
    }

    /// Moves the form to the cluster that was made with it: a creation that fails is tried again with
    /// the same values.
    pub fn made(self, cluster: Uuid, form: CreationForm) {
        self.clear();
        let stored = Stored {
            form,
            ..Stored::default()
        };
        if let (Some(key), Ok(text)) = (self.key(Some(cluster)), serde_json::to_string(&stored)) {
            drafts::write(&key, Some(&text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sent_form_is_read_with_its_attempt() {
        let stored = Stored {
            form: CreationForm {
                name: "shop".to_owned(),
                ..CreationForm::default()
            },
            page: FormPage::Review,
            furthest: FormPage::Review,
            attempt: Some(Uuid::from_u128(7)),
            is_sent: true,
        };
        let text = serde_json::to_string(&stored).unwrap();
        assert_eq!(serde_json::from_str::<Stored>(&text).unwrap(), stored);
    }

    #[test]
    fn a_form_that_an_older_page_stored_can_be_read() {
        let stored: Stored = serde_json::from_str(r#"{"form":{"name":"shop"}}"#).unwrap();
        assert_eq!(stored.form.name, "shop");
        assert_eq!((stored.page, stored.attempt), (FormPage::Template, None));
    }
}
