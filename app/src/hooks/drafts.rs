//! What this tab stores of unsaved work, under `portico-draft:<user>:<what>`: a key is found by one user
//! only. `app/browser/editor/draft.js` stores texts under such keys.
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use portico_domain::panel::ObjectRef;
use uuid::Uuid;

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
    fn an_edit_of_a_secret_has_no_draft() {
        assert_eq!(edit("u1", "secrets", "o1"), None);
    }
}
