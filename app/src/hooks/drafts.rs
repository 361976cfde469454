//! What this tab stores of unsaved work, under `portico-draft:<user>:<what>`: a key is found by one user
//! only. `app/browser/editor/draft.js` stores texts under such keys, this module the edits of a form.
use leptos::prelude::*;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use portico_domain::panel::ObjectRef;
use uuid::Uuid;

const PREFIX: &str = "portico-draft:";

/// Returns the key of a user's draft, without the prefix; `None` for an unknown user.
pub fn key(user: &str, what: &str) -> Option<String> {
    // the ID ends at the first colon
    let user = utf8_percent_encode(user, NON_ALPHANUMERIC).to_string();
    (!user.is_empty()).then(|| format!("{user}:{what}"))
}

/// Returns the key of the draft of an edit; `None` for a Secret, whose values must not be stored.
/// `editor` tells the drafts of several editors apart.
pub fn key_of_edit(
    user: &str,
    editor: &str,
    cluster: Uuid,
    object: &ObjectRef,
    uid: &str,
) -> Option<String> {
    if object.resource.group.is_empty() && object.resource.plural == "secrets" {
        return None;
    }
    key(user, &format!("{editor}:{cluster}:{uid}"))
}

/// Returns what an earlier page of this tab has stored under a key, and removes the drafts of other users.
pub fn read(key: &str) -> Option<String> {
    let storage = storage()?;
    let keys: Vec<String> = (0..storage.length().unwrap_or(0))
        .filter_map(|index| storage.key(index).ok().flatten())
        .collect();
    for other in keys.iter().filter(|other| is_of_another(other, key)) {
        let _ = storage.remove_item(other);
    }
    storage.get_item(&format!("{PREFIX}{key}")).ok().flatten()
}

/// Stores a draft, or removes it. A browser that refuses storage loses it with the page.
pub fn write(key: &str, text: Option<&str>) {
    if let Some(storage) = storage() {
        let key = format!("{PREFIX}{key}");
        let _ = match text {
            Some(text) => storage.set_item(&key, text),
            None => storage.remove_item(&key),
        };
    }
}

fn storage() -> Option<web_sys::Storage> {
    window().session_storage().ok().flatten()
}

/// Returns whether a key of the storage is that of a draft of another user than the owner of `key`.
fn is_of_another(stored: &str, key: &str) -> bool {
    let owner = |key: &str| key.split_once(':').map(|(user, _)| user.to_owned());
    stored
        .strip_prefix(PREFIX)
        .is_some_and(|stored| owner(stored) != owner(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::ResourceRef;

    fn edit(user: &str, plural: &str, uid: &str) -> Option<String> {
        let object = ObjectRef {
            resource: ResourceRef::core(plural),
            namespace: Some("shop".to_owned()),
            name: "a".to_owned(),
        };
        key_of_edit(user, "edit", Uuid::from_u128(1), &object, uid)
    }

    #[test]
    fn a_draft_belongs_to_one_user_and_one_object() {
        let own = edit("u1", "configmaps", "o1");
        assert_eq!(
            own.as_deref(),
            Some("u1:edit:00000000-0000-0000-0000-000000000001:o1")
        );
        assert_ne!(own, edit("u2", "configmaps", "o1"));
        assert_ne!(own, edit("u1", "configmaps", "o2"));
    }

    #[test]
    fn an_id_does_not_extend_into_the_rest_of_the_key() {
        assert_eq!(key("u1:create", "c"), Some("u1%3Acreate:c".to_owned()));
        assert_eq!(key("", "create:c"), None);
    }

    #[test]
    fn drafts_of_other_users_are_found_among_the_keys_of_the_tab() {
        let key = "u1:form:c:o1";
        for own in ["portico-draft:u1:edit:c:o1", "portico-form:u2:c", "theme"] {
            assert!(!is_of_another(own, key), "{own}");
        }
        // the last one is of a version whose keys have no user
        for other in ["portico-draft:u2:form:c:o1", "portico-draft:edit:c:/p"] {
            assert!(is_of_another(other, key), "{other}");
        }
    }

    #[test]
    fn an_edit_of_a_secret_has_no_draft() {
        assert_eq!(edit("u1", "secrets", "o1"), None);
    }
}
