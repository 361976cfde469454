//! `[gateway.keystone]`: the ways to sign in with Keystone itself.
use std::time::Duration;

use portico_openstack::keystone::federation::is_plain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use super::{ConfigError, is_loopback};

/// The maximum `refusal_time`; longer delays look like an outage.
const MAX_REFUSAL_TIME: Duration = Duration::from_secs(10);

/// `[gateway.keystone]`: which of Keystone's sign-in methods the sign-in page offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct KeystoneSignIn {
    /// What users may sign in with. `password` and `totp` are on the page itself, the others under
    /// *Other ways to sign in*. Empty: sign-in with Keystone's own accounts is not offered.
    pub methods: Vec<KeystoneMethod>,
    /// Single sign-on at Keystone, one button for each entry.
    pub websso: Vec<WebSso>,
    /// When a refused sign-in is answered, counted from its beginning, so that the response time
    /// does not distinguish an unknown user from a wrong password. Set it longer than Keystone
    /// takes to refuse; where Keystone takes longer, the response is sent at the next multiple.
    /// `0s`: refusals are answered at once.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub refusal_time: Duration,
}

/// A method of authentication at Keystone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeystoneMethod {
    /// User name and password.
    Password,
    /// The one-time code after the password, where Keystone asks for it.
    Totp,
    /// An application credential: a session in its project, with its roles.
    ApplicationCredential,
    /// An existing token, such as one of `openstack token issue`. The session gets a token of its
    /// own made from it, and ends when the existing one ends.
    Token,
}

/// `[[gateway.keystone.websso]]`: a sign-in that Keystone delegates to an identity provider, and
/// whose token the browser brings back. `<public_url>/oauth2/websso` must be a `trusted_dashboard`
/// in Keystone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebSso {
    /// The ID of this sign-in: lower case, part of a URL.
    pub id: String,
    /// The label of the button, after "Sign in with".
    pub label: String,
    /// The identity API as browsers reach it, `https://keystone.example.org/v3`.
    pub url: Url,
    /// The identity provider's ID in Keystone. Without it, Keystone finds the provider by the
    /// issuer.
    #[serde(default)]
    pub identity_provider: Option<String>,
    /// The protocol's ID in Keystone.
    #[serde(default = "openid")]
    pub protocol: String,
}

fn openid() -> String {
    "openid".to_owned()
}

impl Default for KeystoneSignIn {
    fn default() -> Self {
        Self {
            methods: vec![KeystoneMethod::Password, KeystoneMethod::Totp],
            websso: Vec::new(),
            refusal_time: Duration::from_millis(500),
        }
    }
}

impl KeystoneSignIn {
    pub fn offers(&self, method: KeystoneMethod) -> bool {
        self.methods.contains(&method)
    }

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let mut seen = std::collections::HashSet::new();
        if !self.methods.iter().all(|method| seen.insert(method)) {
            return Err(ConfigError::MethodTwice);
        }
        if self.offers(KeystoneMethod::Totp) && !self.offers(KeystoneMethod::Password) {
            return Err(ConfigError::TotpAlone);
        }
        if self.refusal_time > MAX_REFUSAL_TIME {
            return Err(ConfigError::LongRefusal);
        }
        let mut ids = std::collections::HashSet::new();
        for way in &self.websso {
            let url = &way.url;
            let private = url.scheme() == "https"
                || (url.scheme() == "http" && url.host_str().is_some_and(is_loopback));
            let plain = super::is_label(&way.id)
                && is_plain(&way.protocol)
                && way.identity_provider.as_deref().is_none_or(is_plain)
                && !way.label.trim().is_empty()
                && url.query().is_none()
                && url.path().trim_end_matches('/').ends_with("/v3");
            if !private || !plain || !ids.insert(way.id.as_str()) {
                return Err(ConfigError::WebSso(way.id.clone()));
            }
        }
        Ok(())
    }
}

impl WebSso {
    /// Returns the origin of Keystone's page with the token.
    pub fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(text: &str) -> Result<(), ConfigError> {
        serde_json::from_str::<KeystoneSignIn>(text)
            .expect("shape")
            .validate()
    }

    #[test]
    fn password_and_one_time_code_are_offered_by_default() {
        let section: KeystoneSignIn = serde_json::from_str("{}").expect("shape");
        assert!(section.offers(KeystoneMethod::Password) && section.offers(KeystoneMethod::Totp));
        assert!(!section.offers(KeystoneMethod::ApplicationCredential));
        assert!(!section.offers(KeystoneMethod::Token));
        assert_eq!(section.validate(), Ok(()));
    }

    #[test]
    fn a_code_alone_or_a_method_twice_is_a_mistake() {
        assert_eq!(
            section(r#"{"methods": ["totp"]}"#),
            Err(ConfigError::TotpAlone)
        );
        assert_eq!(
            section(r#"{"methods": ["token", "token"]}"#),
            Err(ConfigError::MethodTwice)
        );
        assert_eq!(
            section(r#"{"methods": ["application_credential", "token"]}"#),
            Ok(())
        );
    }

    #[test]
    fn finding_s11_refusals_take_half_a_second_and_ten_at_most() {
        let of = |text: &str| serde_json::from_str::<KeystoneSignIn>(text).expect("shape");
        assert_eq!(of("{}").refusal_time, Duration::from_millis(500));
        assert_eq!(of(r#"{"refusal_time": "0s"}"#).validate(), Ok(()));
        let long = of(r#"{"refusal_time": "11s"}"#).validate();
        assert_eq!(long, Err(ConfigError::LongRefusal));
    }

    #[test]
    fn single_sign_on_needs_an_address_that_browsers_can_trust() {
        let with = |url: &str, id: &str| {
            section(&format!(
                r#"{{"websso": [{{"id": "{id}", "label": "Company", "url": "{url}"}}]}}"#
            ))
        };
        assert_eq!(with("https://keystone.example.org/v3", "company"), Ok(()));
        assert_eq!(with("http://127.0.0.1:5000/v3", "company"), Ok(()));
        for (url, id) in [
            ("http://keystone.example.org/v3", "company"),
            ("https://keystone.example.org/", "company"),
            ("https://keystone.example.org/v3?a=b", "company"),
            ("https://keystone.example.org/v3", "Company!"),
        ] {
            assert_eq!(with(url, id), Err(ConfigError::WebSso(id.to_owned())));
        }
    }
}
