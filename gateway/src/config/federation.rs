//! `[gateway.providers.federation]`: how identities of an OIDC provider are passed to Keystone.
use std::{collections::BTreeMap, time::Duration};

use http::HeaderName;
use portico_openstack::keystone::FederatedProtocol;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

/// `[gateway.providers.federation]`: how identities of this provider are exchanged for Keystone
/// tokens. Without it, the provider's users can open apps but no clusters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FederationConfig {
    /// The identity provider's ID in Keystone.
    pub identity_provider: String,
    /// The protocol's ID in Keystone.
    #[serde(default = "openid")]
    pub protocol: String,
    /// The URL of the identity API for these calls, where it differs from `keystone.url`; required
    /// with `headers`. Keystone trusts every client that reaches that port, so only the gateway
    /// must be able to.
    #[serde(default)]
    pub url: Option<Url>,
    /// Whether `url` on another machine may use plain HTTP. A client that can write to that network
    /// can impersonate any user of the cloud.
    #[serde(default)]
    pub allow_plain_http: bool,
    /// The headers that the web server in front of Keystone would set, and the attribute in each of
    /// them. One must be the `issuer`, which Keystone compares with `remote_ids`.
    #[serde(default)]
    pub headers: BTreeMap<String, FederationAttribute>,
    /// Sends a token of the provider as a bearer token, which the web server in front of Keystone
    /// verifies, instead of `headers`.
    #[serde(default)]
    pub bearer: Option<CarriedToken>,
    /// How long before a session's Keystone token ends a new one is fetched, by a refresh at the
    /// provider.
    #[serde(default = "twelve_minutes", with = "humantime_serde")]
    #[schemars(with = "String")]
    pub renew_ahead: Duration,
}

/// The content of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FederationAttribute {
    /// The issuer identifier.
    Issuer,
    /// The subject, which is never reused for another user: the safest attribute to map users by.
    Subject,
    /// The name, as `claims.name` finds it. It may be reassigned to another user.
    Name,
    /// The e-mail address, where the provider has verified it.
    Email,
    /// The groups, separated by `;` as Keystone's mappings expect.
    Groups,
    /// The roles, in the same form.
    Roles,
}

/// A token that is passed on to Keystone's web server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CarriedToken {
    IdToken,
    AccessToken,
}

/// What is wrong with the configuration of a federation.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum InvalidFederation {
    #[error("identity_provider and protocol must be IDs of letters, digits, - and _")]
    Ids,
    #[error("either headers or bearer must be set, and not both")]
    Carrier,
    #[error("headers needs url, the port of Keystone's that only the gateway reaches")]
    NoUrl,
    #[error("headers must include the issuer")]
    NoIssuer,
    #[error("headers: {0:?} cannot carry a provider's attribute")]
    Header(String),
    #[error("url: {0}")]
    Url(String),
}

/// Returns the default, which is before the panel would ask for a new sign-in, ten minutes ahead.
fn twelve_minutes() -> Duration {
    Duration::from_secs(720)
}

fn openid() -> String {
    "openid".to_owned()
}

/// Headers that have a meaning in HTTP or Keystone.
const RESERVED_HEADERS: [&str; 6] = [
    "authorization",
    "cookie",
    "host",
    "x-auth-token",
    "x-subject-token",
    "openstack-auth-receipt",
];

impl FederationConfig {
    pub fn way(&self) -> FederatedProtocol {
        FederatedProtocol {
            identity_provider: self.identity_provider.clone(),
            protocol: self.protocol.clone(),
        }
    }

    /// Checks what types cannot.
    ///
    /// # Errors
    /// Returns the first invalid setting.
    pub fn validate(&self) -> Result<(), InvalidFederation> {
        if !self.way().is_plain() {
            return Err(InvalidFederation::Ids);
        }
        if self.headers.is_empty() == self.bearer.is_none() {
            return Err(InvalidFederation::Carrier);
        }
        if self.headers.is_empty() {
            return Ok(());
        }
        if self.url.is_none() {
            return Err(InvalidFederation::NoUrl);
        }
        for name in self.headers.keys() {
            let known = HeaderName::try_from(name.as_str());
            let usable = known.is_ok_and(|name| {
                let name = name.as_str();
                // WSGI does not distinguish _ and -
                !RESERVED_HEADERS.contains(&name)
                    && !name.contains('_')
                    && !name.starts_with("content-")
            });
            if !usable {
                return Err(InvalidFederation::Header(name.clone()));
            }
        }
        if !self
            .headers
            .values()
            .any(|attribute| *attribute == FederationAttribute::Issuer)
        {
            return Err(InvalidFederation::NoIssuer);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(change: &Value) -> Result<(), InvalidFederation> {
        let mut section = json!({
            "identity_provider": "op",
            "url": "http://127.0.0.1:5001/v3",
            "headers": { "OIDC-ISS": "issuer", "OIDC-CLAIM-SUB": "subject" },
        });
        for (key, value) in change.as_object().expect("object") {
            section[key] = value.clone();
        }
        let config: FederationConfig = serde_json::from_value(section).expect("shape");
        config.validate()
    }

    #[test]
    fn headers_need_the_closed_port_and_the_issuer() {
        assert_eq!(check(&json!({})), Ok(()));
        assert_eq!(
            check(&json!({ "url": null })),
            Err(InvalidFederation::NoUrl)
        );
        assert_eq!(
            check(&json!({ "headers": { "OIDC-CLAIM-SUB": "subject" } })),
            Err(InvalidFederation::NoIssuer)
        );
        assert_eq!(
            check(&json!({ "identity_provider": "../tokens" })),
            Err(InvalidFederation::Ids)
        );
    }

    #[test]
    fn an_identity_is_carried_in_one_way() {
        assert_eq!(
            check(&json!({ "bearer": "id_token" })),
            Err(InvalidFederation::Carrier)
        );
        assert_eq!(
            check(&json!({ "headers": {} })),
            Err(InvalidFederation::Carrier)
        );
        assert_eq!(
            check(&json!({ "headers": {}, "bearer": "id_token", "url": null })),
            Ok(())
        );
    }

    #[test]
    fn no_header_takes_the_place_of_another() {
        for name in [
            "X-Auth-Token",
            "Authorization",
            "OIDC_ISS",
            "a b",
            "Content-Length",
        ] {
            let change = json!({ "headers": { name: "issuer" } });
            assert_eq!(
                check(&change),
                Err(InvalidFederation::Header(name.to_owned())),
                "{name}"
            );
        }
    }
}
