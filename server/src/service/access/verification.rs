//! Verification that the subject of a grant exists, as far as Keystone shows it to the viewer.
use crate::service::error::ServiceError;
use app::error::UiErrorKind;
use portico_domain::panel::{Subject, SubjectKind};
use portico_openstack::keystone::{Client, Error, ListedUser};
use secrecy::SecretString;

/// Maximum number of users in the message about an ambiguous name.
const MAX_LISTED_USERS: usize = 10;

/// Looks subjects up with the viewer's own token.
#[derive(Clone, Copy)]
pub struct KeystoneLookup<'a> {
    /// `None` if the panel has no Keystone configured.
    pub client: Option<&'a Client>,
    pub token: Option<&'a SecretString>,
}

impl KeystoneLookup<'_> {
    /// Returns the subject with its name, and the reason if it could not be verified.
    pub async fn verify(
        &self,
        subject: Subject,
        kind: SubjectKind,
        id: &str,
    ) -> (Subject, Option<String>) {
        if name(&subject).is_some() {
            return (subject, None);
        }
        let (Some(client), Some(token)) = (self.client, self.token) else {
            let why = "This panel is not connected to Keystone, so it cannot look IDs up.";
            return (subject, Some(why.to_owned()));
        };
        let found = match kind {
            SubjectKind::User => client.user(token, id).await,
            SubjectKind::Role => client.role(token, id).await,
            SubjectKind::Project => client
                .project(token, id)
                .await
                .map(|found| found.map(|project| project.name)),
        };
        match found {
            Ok(Some(name)) => (with_name(subject, name), None),
            other => (subject, Some(reason(kind, &other))),
        }
    }
}

impl KeystoneLookup<'_> {
    /// Returns the ID of the user with a name.
    ///
    /// # Errors
    /// `Invalid` if there is none, or if there are several, which are then listed; also if Keystone
    /// does not let the viewer look users up.
    pub async fn user_id(&self, name: &str) -> Result<String, ServiceError> {
        let (Some(client), Some(token)) = (self.client, self.token) else {
            return Err(needs_id(
                "This panel is not connected to Keystone, so it cannot look names up.",
            ));
        };
        match client.users_named(token, name).await {
            Ok(found) => the_one(name, &found),
            Err(Error::Forbidden) => {
                Err(needs_id("Keystone does not let you look up users by name."))
            }
            Err(error) => {
                tracing::warn!(%error, "a user could not be looked up by name");
                Err(ServiceError::new(
                    UiErrorKind::Unavailable,
                    "Keystone did not respond, so the name could not be looked up.",
                )
                .next("Try again in a moment, or enter the user's ID."))
            }
        }
    }
}

fn needs_id(why: &str) -> ServiceError {
    ServiceError::invalid(format!(
        "{why} Enter the user's ID: 32 digits and letters a to f."
    ))
    .next("`openstack user show NAME` prints the ID.")
}

fn the_one(name: &str, found: &[ListedUser]) -> Result<String, ServiceError> {
    match found {
        [one] => Ok(one.id.clone()),
        [] => Err(
            ServiceError::invalid(format!("Keystone has no user with the name {name}."))
                .next("Check it for a typing error, or enter the user's ID."),
        ),
        several => {
            let all: Vec<_> = several
                .iter()
                .take(MAX_LISTED_USERS)
                .map(|user| format!("{} in domain {}", user.id, user.domain_id))
                .collect();
            Err(ServiceError::invalid(format!(
                "Keystone has {} users with the name {name}: {}.",
                several.len(),
                all.join(", ")
            ))
            .next("Enter the ID of one of them."))
        }
    }
}

fn reason(kind: SubjectKind, answer: &Result<Option<String>, Error>) -> String {
    let noun = match kind {
        SubjectKind::Role => "role",
        SubjectKind::User => "user",
        SubjectKind::Project => "project",
    };
    match answer {
        Ok(_) => format!(
            "Keystone has no {noun} with this ID. Check it for a typing error: \
             `openstack {noun} show NAME` prints it."
        ),
        Err(Error::Forbidden) => format!(
            "Keystone does not let you look up this {noun}, so it may or may not exist. Compare the \
             ID with what the {noun}'s owner or an administrator gave you."
        ),
        Err(_) => "Keystone did not respond. Go back and try again in a moment.".to_owned(),
    }
}

fn name(subject: &Subject) -> Option<&String> {
    match subject {
        Subject::KeystoneRole { name, .. }
        | Subject::KeystoneUser { name, .. }
        | Subject::KeystoneProject { name, .. } => name.as_ref(),
        // not a subject that a grant binds
        Subject::ServiceAccount { name, .. } | Subject::User { name } | Subject::Group { name } => {
            Some(name)
        }
    }
}

fn with_name(mut subject: Subject, found: String) -> Subject {
    if let Subject::KeystoneRole { name, .. }
    | Subject::KeystoneUser { name, .. }
    | Subject::KeystoneProject { name, .. } = &mut subject
    {
        *name = Some(found);
    }
    subject
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_openstack::keystone::error::Unavailable;

    #[test]
    fn finding_p17_what_could_not_be_verified_is_not_called_unknown() {
        let text = |answer| reason(SubjectKind::User, &answer);
        let forbidden = text(Err(Error::Forbidden));
        let outage = text(Err(Error::Unavailable(Unavailable::Timeout)));
        // only Keystone's own 404 is passed on as such
        for unsure in [&forbidden, &outage] {
            assert!(!unsure.contains("has no user"), "{unsure}");
        }
        let unknown = text(Ok(None));
        let texts = format!("{forbidden}\n{outage}\n{unknown}");
        insta::assert_snapshot!("users_that_were_not_found", texts);
    }

    #[test]
    fn need_32_a_name_belongs_to_one_user_or_is_refused_with_the_reason() {
        let user = |id: &str, domain: &str| ListedUser {
            id: id.to_owned(),
            name: "ada".to_owned(),
            domain_id: domain.to_owned(),
        };
        let one = [user("u1", "default")];
        assert_eq!(the_one("ada", &one).unwrap(), "u1");
        let text = |found: &[ListedUser]| the_one("ada", found).unwrap_err().message;
        let several = text(&[user("u1", "default"), user("u2", "d2")]);
        let texts = format!("{}\n{several}", text(&[]));
        insta::assert_snapshot!("names_of_no_user_and_of_two", texts);
    }

    #[tokio::test]
    async fn finding_p17_a_known_name_needs_no_keystone() {
        let lookup = KeystoneLookup {
            client: None,
            token: None,
        };
        let known = Subject::KeystoneUser {
            id: "u1".to_owned(),
            name: Some("ada".to_owned()),
        };
        let (subject, why) = lookup.verify(known.clone(), SubjectKind::User, "u1").await;
        assert_eq!((subject, why), (known, None));
        let unknown = Subject::KeystoneUser {
            id: "u2".to_owned(),
            name: None,
        };
        let (_, why) = lookup.verify(unknown, SubjectKind::User, "u2").await;
        assert!(why.unwrap().contains("not connected to Keystone"));
    }
}
