//! Identities read from claims by JSON pointer (RFC 6901).
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::{error::TokenFault, jwt::Claims, settings::ClaimPointers};

/// Maximum number of groups; further ones are ignored.
const MAX_GROUPS: usize = 1000;
/// Maximum length of a claim's text, in bytes; longer ones are ignored.
const MAX_CLAIM_BYTES: usize = 255;

/// A user, as described by a provider. Issuer and subject identify them; all other fields only
/// describe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub issuer: String,
    pub subject: String,
    /// The provider's own session (`sid`), if it names one.
    pub session: Option<String>,
    pub name: String,
    /// The display name (`name`), if the provider sends it.
    pub display_name: Option<String>,
    pub email: Option<Email>,
    /// Sorted, without duplicates.
    pub groups: Vec<String>,
    /// Sorted, without duplicates.
    pub roles: Vec<String>,
    /// How the user signed in (`amr`).
    pub methods: Vec<String>,
    /// When the user signed in (`auth_time`), if the provider sends it.
    pub authenticated_at: Option<Timestamp>,
}

/// An e-mail address. Never an identity: it may belong to another person tomorrow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Email {
    pub address: String,
    /// A missing claim counts as not verified.
    pub verified: bool,
}

impl Identity {
    pub(crate) fn read(claims: &Claims, pointers: &ClaimPointers) -> Result<Self, TokenFault> {
        let subject = claims.text("sub")?;
        // OpenID Connect Core 2: at most 255 ASCII characters
        if subject.len() > MAX_CLAIM_BYTES || !subject.is_ascii() {
            return Err(TokenFault::Claim("sub"));
        }
        let mut identity = Self {
            issuer: claims.text("iss")?.to_owned(),
            subject: subject.to_owned(),
            session: claims.optional_text("sid")?.map(str::to_owned),
            name: String::new(),
            display_name: None,
            email: None,
            groups: Vec::new(),
            roles: Vec::new(),
            methods: texts(claims.0.get("amr")),
            authenticated_at: claims.time("auth_time")?,
        };
        identity.describe(&claims.0, pointers);
        if identity.name.is_empty() {
            identity.name.clone_from(&identity.subject);
        }
        Ok(identity)
    }

    /// Adds the values of other claims of the same subject.
    pub(crate) fn describe(&mut self, claims: &Map<String, Value>, pointers: &ClaimPointers) {
        let claims = Value::Object(claims.clone());
        let at = |pointer: &str| {
            if pointer.is_empty() {
                None
            } else {
                claims.pointer(pointer)
            }
        };
        let text = |pointer: &str| at(pointer).and_then(Value::as_str).and_then(plain);
        if let Some(address) = text(&pointers.email) {
            let verified = match at(&pointers.email_verified) {
                Some(Value::Bool(verified)) => *verified,
                // some providers write it as a text
                Some(Value::String(verified)) => verified == "true",
                _ => false,
            };
            self.email = Some(Email { address, verified });
        }
        let name = text(&pointers.name)
            .or_else(|| text("/name"))
            .or_else(|| self.email.as_ref().map(|email| email.address.clone()));
        if let Some(name) = name {
            self.name = name;
        }
        if let Some(name) = text("/name") {
            self.display_name = Some(name);
        }
        if let Some(groups) = at(&pointers.groups) {
            self.groups = texts(Some(groups));
        }
        if let Some(roles) = at(&pointers.roles) {
            self.roles = texts(Some(roles));
        }
    }
}

/// Returns a text that can be shown: without control characters, not longer than a name.
fn plain(text: &str) -> Option<String> {
    let text = text.trim();
    let good =
        !text.is_empty() && text.len() <= MAX_CLAIM_BYTES && !text.chars().any(char::is_control);
    good.then(|| text.to_owned())
}

/// Returns a list of texts, or one text alone.
fn texts(value: Option<&Value>) -> Vec<String> {
    let mut texts: Vec<String> = match value {
        Some(Value::String(one)) => plain(one).into_iter().collect(),
        Some(Value::Array(several)) => several
            .iter()
            .take(MAX_GROUPS)
            .filter_map(|one| plain(one.as_str()?))
            .collect(),
        _ => Vec::new(),
    };
    texts.sort();
    texts.dedup();
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(claims: Value, pointers: &ClaimPointers) -> Identity {
        let Value::Object(map) = claims else {
            panic!("an object")
        };
        Identity::read(&Claims(map), pointers).expect("identity")
    }

    #[test]
    fn groups_and_roles_come_from_any_claim() {
        let pointers = ClaimPointers {
            groups: "/https:~1~1example.org~1groups".to_owned(),
            roles: "/realm_access/roles".to_owned(),
            ..ClaimPointers::default()
        };
        let identity = read(
            json!({
                "iss": "i", "sub": "s",
                "https://example.org/groups": ["ops", "dev", "ops", 7],
                "realm_access": { "roles": "admin" },
                "groups": ["not-this"],
            }),
            &pointers,
        );
        assert_eq!(identity.groups, ["dev", "ops"]);
        assert_eq!(identity.roles, ["admin"]);
    }

    #[test]
    fn attack_54_an_address_counts_as_verified_only_when_the_provider_verified_it() {
        let pointers = ClaimPointers::default();
        let verified = |claims| read(claims, &pointers).email.map(|email| email.verified);
        let of = |verified: Value| json!({ "iss": "i", "sub": "s", "email": "a@b", "email_verified": verified });
        assert_eq!(verified(of(json!(true))), Some(true));
        assert_eq!(verified(of(json!("true"))), Some(true));
        assert_eq!(verified(of(json!(false))), Some(false));
        assert_eq!(verified(of(json!(1))), Some(false));
        assert_eq!(
            verified(json!({ "iss": "i", "sub": "s", "email": "a@b" })),
            Some(false)
        );
        assert_eq!(verified(json!({ "iss": "i", "sub": "s" })), None);
    }

    #[test]
    fn a_name_is_found_and_never_holds_control_characters() {
        let pointers = ClaimPointers::default();
        let name = |claims| read(claims, &pointers).name;
        assert_eq!(
            name(json!({ "iss": "i", "sub": "s", "preferred_username": "ada", "name": "Ada" })),
            "ada"
        );
        assert_eq!(
            name(json!({ "iss": "i", "sub": "s", "name": "Ada" })),
            "Ada"
        );
        assert_eq!(
            name(json!({ "iss": "i", "sub": "s", "email": "a@b" })),
            "a@b"
        );
        assert_eq!(name(json!({ "iss": "i", "sub": "s" })), "s");
        assert_eq!(
            name(json!({ "iss": "i", "sub": "s", "preferred_username": "a\u{7}b" })),
            "s"
        );
    }
}
