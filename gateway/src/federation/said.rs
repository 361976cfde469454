//! An identity as headers of the web server in front of Keystone (`mod_auth_openidc` and the like).
//!
//! Keystone's mappings split every value at `;`. So a text with one in it could say more than one
//! thing, and is never passed on.
use std::collections::BTreeMap;

use http::{HeaderMap, HeaderName, HeaderValue};
use portico_oidc::Identity;

use super::config::Said;

const SEPARATOR: char = ';';
/// Web servers take so much in a header line.
const LONGEST: usize = 6 * 1024;

/// The identity holds something that no header can say in one way only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} holds a character that Keystone's mapping would split it at, or is too long")]
pub(super) struct Unsayable(&'static str);

/// The headers that say who somebody is; a header for which there is nothing to say is left out.
pub(super) fn headers(
    wanted: &BTreeMap<String, Said>,
    identity: &Identity,
) -> Result<HeaderMap, Unsayable> {
    let mut headers = HeaderMap::new();
    for (name, said) in wanted {
        let Some(text) = value(*said, identity)? else {
            continue;
        };
        let what = Unsayable(word(*said));
        let name = HeaderName::try_from(name.as_str()).map_err(|_| what)?;
        // bytes: WSGI takes them for ISO 8859-1 and Keystone puts UTF-8 together again
        let mut value = HeaderValue::from_bytes(text.as_bytes()).map_err(|_| what)?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn value(said: Said, identity: &Identity) -> Result<Option<String>, Unsayable> {
    let text = match said {
        Said::Issuer => identity.issuer.clone(),
        Said::Subject => identity.subject.clone(),
        Said::Name => identity.name.clone(),
        Said::Email => match &identity.email {
            Some(email) if email.verified => email.address.clone(),
            _ => return Ok(None),
        },
        Said::Groups => return Ok(list(&identity.groups)),
        Said::Roles => return Ok(list(&identity.roles)),
    };
    if text.is_empty() {
        return Ok(None);
    }
    if is_plain(&text) {
        Ok(Some(text))
    } else {
        Err(Unsayable(word(said)))
    }
}

/// What can be said of a list: entries that cannot are left out, and so are those beyond what a
/// line holds. Fewer groups mean fewer rights.
fn list(entries: &[String]) -> Option<String> {
    let mut line = String::new();
    for entry in entries.iter().filter(|entry| is_plain(entry)) {
        if line.len() + entry.len() + 1 > LONGEST {
            tracing::warn!(
                groups = entries.len(),
                "not all groups have room on their way to Keystone"
            );
            break;
        }
        if !line.is_empty() {
            line.push(SEPARATOR);
        }
        line.push_str(entry);
    }
    (!line.is_empty()).then_some(line)
}

fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= LONGEST
        && text.trim() == text
        && !text.chars().any(|c| c == SEPARATOR || c.is_control())
}

fn word(said: Said) -> &'static str {
    match said {
        Said::Issuer => "the issuer",
        Said::Subject => "the subject",
        Said::Name => "the name",
        Said::Email => "the e-mail address",
        Said::Groups => "the groups",
        Said::Roles => "the roles",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_oidc::Email;

    fn identity() -> Identity {
        Identity {
            issuer: "https://id.example.org".to_owned(),
            subject: "s-1".to_owned(),
            session: None,
            name: "zoë".to_owned(),
            display_name: None,
            email: Some(Email {
                address: "zoe@example.org".to_owned(),
                verified: true,
            }),
            groups: vec!["developers".to_owned(), "ops".to_owned()],
            roles: Vec::new(),
            methods: Vec::new(),
            authenticated_at: None,
        }
    }

    fn wanted() -> BTreeMap<String, Said> {
        [
            ("OIDC-ISS", Said::Issuer),
            ("OIDC-CLAIM-SUB", Said::Subject),
            ("OIDC-CLAIM-PREFERRED-USERNAME", Said::Name),
            ("OIDC-CLAIM-EMAIL", Said::Email),
            ("OIDC-CLAIM-GROUPS", Said::Groups),
            ("OIDC-CLAIM-ROLES", Said::Roles),
        ]
        .map(|(name, said)| (name.to_owned(), said))
        .into()
    }

    fn said(identity: &Identity, name: &str) -> Option<String> {
        let headers = headers(&wanted(), identity).expect("sayable");
        let value = headers.get(name)?;
        Some(String::from_utf8(value.as_bytes().to_vec()).expect("UTF-8"))
    }

    #[test]
    fn an_identity_is_said_as_a_web_server_would() {
        let identity = identity();
        let said = |name| said(&identity, name);
        assert_eq!(said("oidc-iss").as_deref(), Some("https://id.example.org"));
        assert_eq!(said("oidc-claim-sub").as_deref(), Some("s-1"));
        assert_eq!(
            said("oidc-claim-preferred-username").as_deref(),
            Some("zoë")
        );
        assert_eq!(said("oidc-claim-email").as_deref(), Some("zoe@example.org"));
        assert_eq!(said("oidc-claim-groups").as_deref(), Some("developers;ops"));
        assert_eq!(said("oidc-claim-roles"), None, "nothing to say");
    }

    #[test]
    fn an_address_that_nobody_verified_is_not_said() {
        let mut identity = identity();
        identity.email = Some(Email {
            address: "admin@example.org".to_owned(),
            verified: false,
        });
        assert_eq!(said(&identity, "oidc-claim-email"), None);
    }

    #[test]
    fn attack_104_nobody_gets_a_group_by_the_separator_in_a_text() {
        let mut identity = identity();
        identity.groups = vec![
            "ops".to_owned(),
            "x;k8s-admins".to_owned(),
            "y\r\nOIDC-ISS: z".to_owned(),
            " ".to_owned(),
        ];
        assert_eq!(said(&identity, "oidc-claim-groups").as_deref(), Some("ops"));
        for change in [
            |who: &mut Identity| who.name = "ada;admin".to_owned(),
            |who: &mut Identity| who.subject = "a\nb".to_owned(),
            |who: &mut Identity| who.issuer = "https://a;https://b".to_owned(),
        ] {
            let mut identity = self::identity();
            change(&mut identity);
            assert!(headers(&wanted(), &identity).is_err(), "{identity:?}");
        }
    }

    #[test]
    fn a_thousand_groups_never_break_the_line() {
        let mut identity = identity();
        identity.groups = (0..1000).map(|n| format!("group-{n:05}-of-many")).collect();
        let line = said(&identity, "oidc-claim-groups").expect("groups");
        assert!(line.len() <= LONGEST && !line.ends_with(';'));
        assert!(
            line.split(';')
                .all(|group| identity.groups.iter().any(|one| one == group))
        );
    }
}
