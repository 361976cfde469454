//! The names of users, for entries that have their IDs. Magnum has the IDs only; the journal has the names of
//! those who requested anything through Portico.
use super::content::RequestContent;
use portico_lifecycle::journal::{Difference, OWNER_FIELD};
use std::collections::HashMap;

/// The names of users, by ID.
pub struct UserNames<'a> {
    names: HashMap<&'a str, &'a str>,
    viewer_id: &'a str,
}

impl<'a> UserNames<'a> {
    /// Returns the names in requests.
    pub fn of(requests: impl Iterator<Item = &'a RequestContent>, viewer_id: &'a str) -> Self {
        let names = requests.map(|one| (one.user_id.as_str(), one.user_name.as_str()));
        Self {
            names: names.collect(),
            viewer_id,
        }
    }

    /// Returns a user by name if it is known, and by ID otherwise.
    pub fn shown(&self, id: &str) -> String {
        let name = self.names.get(id).copied();
        match (name, id == self.viewer_id) {
            (Some(name), true) => format!("{name} (you)"),
            (None, true) => "you".to_owned(),
            (Some(name), false) => name.to_owned(),
            (None, false) => format!("the user with the ID {id}"),
        }
    }

    /// Returns a difference with names, if it is that of the owner.
    pub fn named(&self, difference: Difference) -> Difference {
        if difference.field != OWNER_FIELD {
            return difference;
        }
        let shown = |id: Option<String>| id.map(|id| self.shown(&id));
        Difference {
            before: shown(difference.before),
            after: shown(difference.after),
            ..difference
        }
    }
}
