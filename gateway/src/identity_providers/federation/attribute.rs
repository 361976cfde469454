//! Encodes an identity as headers of the web server in front of Keystone (`mod_auth_openidc` and
//! the like).
//!
//! Keystone's mappings split every value at `;`. A value that contains one would be ambiguous, and
//! is never passed on.
use std::collections::BTreeMap;

use http::{HeaderMap, HeaderName, HeaderValue};
use portico_oidc::Identity;

use crate::config::FederationAttribute;

const SEPARATOR: char = ';';
/// Bounds the value of one attribute header, in bytes; web servers limit a header line.
const MAX_HEADER_BYTES: usize = 6 * 1024;

/// The identity has an attribute that no header can carry unambiguously.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} holds a character that Keystone's mapping would split it at, or is too long")]
pub(super) struct UnencodableAttribute(&'static str);

/// Returns the headers with the user's attributes; a header without a value is left out.
pub(super) fn headers(
    wanted: &BTreeMap<String, FederationAttribute>,
    identity: &Identity,
) -> Result<HeaderMap, UnencodableAttribute> {
    let mut headers = HeaderMap::new();
    for (name, attribute) in wanted {
        let Some(text) = value(*attribute, identity)? else {
            continue;
        };
        let what = UnencodableAttribute(word(*attribute));
        let name = HeaderName::try_from(name.as_str()).map_err(|_| what)?;
        // as bytes: WSGI decodes them as ISO 8859-1, and Keystone restores the UTF-8
        let mut value = HeaderValue::from_bytes(text.as_bytes()).map_err(|_| what)?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn value(
    attribute: FederationAttribute,
    identity: &Identity,
) -> Result<Option<String>, UnencodableAttribute> {
    let text = match attribute {
        FederationAttribute::Issuer => identity.issuer.clone(),
        FederationAttribute::Subject => identity.subject.clone(),
        FederationAttribute::Name => identity.name.clone(),
        FederationAttribute::Email => match &identity.email {
            Some(email) if email.verified => email.address.clone(),
            _ => return Ok(None),
        },
        FederationAttribute::Groups => return Ok(list(&identity.groups)),
        FederationAttribute::Roles => return Ok(list(&identity.roles)),
    };
    if text.is_empty() {
        return Ok(None);
    }
    if is_plain(&text) {
        Ok(Some(text))
    } else {
        Err(UnencodableAttribute(word(attribute)))
    }
}

/// Returns a list as a header value. Entries that cannot be encoded, and those beyond the maximum
/// length, are left out: fewer groups mean fewer rights.
fn list(entries: &[String]) -> Option<String> {
    let mut line = String::new();
    for entry in entries.iter().filter(|entry| is_plain(entry)) {
        if line.len() + entry.len() + 1 > MAX_HEADER_BYTES {
            tracing::warn!(
                groups = entries.len(),
                "not all groups fit into the request to Keystone"
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
        && text.len() <= MAX_HEADER_BYTES
        && text.trim() == text
        && !text.chars().any(|c| c == SEPARATOR || c.is_control())
}

fn word(attribute: FederationAttribute) -> &'static str {
    match attribute {
        FederationAttribute::Issuer => "the issuer",
        FederationAttribute::Subject => "the subject",
        FederationAttribute::Name => "the name",
        FederationAttribute::Email => "the e-mail address",
        FederationAttribute::Groups => "the groups",
        FederationAttribute::Roles => "the roles",
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

    fn wanted() -> BTreeMap<String, FederationAttribute> {
        [
            ("OIDC-ISS", FederationAttribute::Issuer),
            ("OIDC-CLAIM-SUB", FederationAttribute::Subject),
            ("OIDC-CLAIM-PREFERRED-USERNAME", FederationAttribute::Name),
            ("OIDC-CLAIM-EMAIL", FederationAttribute::Email),
            ("OIDC-CLAIM-GROUPS", FederationAttribute::Groups),
            ("OIDC-CLAIM-ROLES", FederationAttribute::Roles),
        ]
        .map(|(name, attribute)| (name.to_owned(), attribute))
        .into()
    }

    fn attribute(identity: &Identity, name: &str) -> Option<String> {
        let headers = headers(&wanted(), identity).expect("sayable");
        let value = headers.get(name)?;
        Some(String::from_utf8(value.as_bytes().to_vec()).expect("UTF-8"))
    }

    #[test]
    fn an_identity_has_the_attributes_of_a_web_server() {
        let identity = identity();
        let attribute = |name| attribute(&identity, name);
        assert_eq!(
            attribute("oidc-iss").as_deref(),
            Some("https://id.example.org")
        );
        assert_eq!(attribute("oidc-claim-sub").as_deref(), Some("s-1"));
        assert_eq!(
            attribute("oidc-claim-preferred-username").as_deref(),
            Some("zoë")
        );
        assert_eq!(
            attribute("oidc-claim-email").as_deref(),
            Some("zoe@example.org")
        );
        assert_eq!(
            attribute("oidc-claim-groups").as_deref(),
            Some("developers;ops")
        );
        assert_eq!(attribute("oidc-claim-roles"), None, "nothing to say");
    }

    #[test]
    fn an_unverified_address_is_not_sent() {
        let mut identity = identity();
        identity.email = Some(Email {
            address: "admin@example.org".to_owned(),
            verified: false,
        });
        assert_eq!(attribute(&identity, "oidc-claim-email"), None);
    }

    #[test]
    fn attack_104_no_user_gets_a_group_by_the_separator_in_a_text() {
        let mut identity = identity();
        identity.groups = vec![
            "ops".to_owned(),
            "x;k8s-admins".to_owned(),
            "y\r\nOIDC-ISS: z".to_owned(),
            " ".to_owned(),
        ];
        assert_eq!(
            attribute(&identity, "oidc-claim-groups").as_deref(),
            Some("ops")
        );
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
        let line = attribute(&identity, "oidc-claim-groups").expect("groups");
        assert!(line.len() <= MAX_HEADER_BYTES && !line.ends_with(';'));
        assert!(
            line.split(';')
                .all(|group| identity.groups.iter().any(|one| one == group))
        );
    }
}
