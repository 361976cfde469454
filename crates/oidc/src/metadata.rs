//! A provider's metadata (OpenID Connect Discovery 1.0): the document, and which of its endpoints
//! may be used.
use openidconnect::{
    AdditionalProviderMetadata, EndSessionUrl, JsonWebKeySetUrl, LogoutProviderMetadata,
    ProviderMetadata, RevocationUrl, TokenUrl,
    core::{
        CoreAuthDisplay, CoreClaimName, CoreClaimType, CoreClientAuthMethod, CoreGrantType,
        CoreJsonWebKey, CoreJweContentEncryptionAlgorithm, CoreJweKeyManagementAlgorithm,
        CoreResponseMode, CoreResponseType, CoreSubjectIdentifierType,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

use crate::{error::Error, http::Http};

/// The members that are used. `openidconnect` refuses a document for any member that it cannot
/// parse, so the others are removed first: an empty `service_documentation` must not prevent a
/// sign-in.
const USED_MEMBERS: [&str; 9] = [
    "issuer",
    "authorization_endpoint",
    "token_endpoint",
    "jwks_uri",
    "userinfo_endpoint",
    "end_session_endpoint",
    "revocation_endpoint",
    "token_endpoint_auth_methods_supported",
    "authorization_response_iss_parameter_supported",
];
/// Members that `openidconnect` requires, as Discovery does. Some providers omit them; they are
/// not used.
const UNUSED_LISTS: [&str; 3] = [
    "response_types_supported",
    "subject_types_supported",
    "id_token_signing_alg_values_supported",
];

/// A discovery document.
pub(crate) type Document = ProviderMetadata<
    LogoutProviderMetadata<Extensions>,
    CoreAuthDisplay,
    CoreClientAuthMethod,
    CoreClaimName,
    CoreClaimType,
    CoreGrantType,
    CoreJweContentEncryptionAlgorithm,
    CoreJweKeyManagementAlgorithm,
    CoreJsonWebKey,
    CoreResponseMode,
    CoreResponseType,
    CoreSubjectIdentifierType,
>;

/// The members of RFC 8414 and RFC 9207.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Extensions {
    revocation_endpoint: Option<RevocationUrl>,
    /// Whether every authorization response names its issuer.
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

impl AdditionalProviderMetadata for Extensions {}

/// The metadata of a provider. Every endpoint is on a configured host.
#[derive(Clone, Debug)]
pub(crate) struct Metadata {
    document: Document,
    token_endpoint: TokenUrl,
}

impl Metadata {
    /// Reads the document that was fetched from `source`, and checks the issuer and the endpoints.
    pub fn read(
        mut members: Map<String, Value>,
        source: &Url,
        issuer: &str,
        http: &Http,
    ) -> Result<Self, Error> {
        members.retain(|name, _| USED_MEMBERS.contains(&name.as_str()));
        for name in UNUSED_LISTS {
            members.insert(name.to_owned(), Value::Array(Vec::new()));
        }
        let unreadable = |reason: &dyn std::fmt::Display| {
            Error::Unusable(format!("{}: {reason}", source.path()))
        };
        let document: Document =
            serde_json::from_value(Value::Object(members)).map_err(|error| unreadable(&error))?;
        let token_endpoint = document
            .token_endpoint()
            .cloned()
            .ok_or_else(|| unreadable(&"missing field `token_endpoint`"))?;
        if document.issuer().as_str() != issuer {
            return Err(Error::Unusable(format!(
                "its issuer is {:?}, not {issuer:?}: write issuer exactly as the provider does",
                document.issuer().chars().take(200).collect::<String>()
            )));
        }
        for (name, url) in [
            (
                "authorization_endpoint",
                document.authorization_endpoint().url(),
            ),
            ("token_endpoint", token_endpoint.url()),
            ("jwks_uri", document.jwks_uri().url()),
        ] {
            if !http.allows(url) {
                return Err(elsewhere(name, url));
            }
        }
        Ok(Self {
            document: without_disallowed(document, issuer, http),
            token_endpoint,
        })
    }

    /// Returns the document, for the client of `openidconnect`.
    pub fn document(&self) -> &Document {
        &self.document
    }

    pub fn token_endpoint(&self) -> &TokenUrl {
        &self.token_endpoint
    }

    pub fn jwks_uri(&self) -> &JsonWebKeySetUrl {
        self.document.jwks_uri()
    }

    pub fn has_userinfo(&self) -> bool {
        self.document.userinfo_endpoint().is_some()
    }

    pub fn end_session_endpoint(&self) -> Option<&EndSessionUrl> {
        self.document
            .additional_metadata()
            .end_session_endpoint
            .as_ref()
    }

    pub fn revocation_endpoint(&self) -> Option<&RevocationUrl> {
        self.extensions().revocation_endpoint.as_ref()
    }

    /// Returns whether every authorization response names its issuer (RFC 9207).
    pub fn names_issuer_in_responses(&self) -> bool {
        self.extensions()
            .authorization_response_iss_parameter_supported
    }

    /// Returns whether the provider lists a method of client authentication.
    pub fn offers(&self, method: &CoreClientAuthMethod) -> bool {
        self.document
            .token_endpoint_auth_methods_supported()
            .is_some_and(|methods| methods.contains(method))
    }

    fn extensions(&self) -> &Extensions {
        &self.document.additional_metadata().additional_metadata
    }
}

/// Removes the endpoints that are not needed for signing in and are on other hosts.
fn without_disallowed(document: Document, issuer: &str, http: &Http) -> Document {
    let is_allowed = |name: &str, url: &Url| {
        let allowed = http.allows(url);
        if !allowed {
            tracing::warn!(issuer, "{}: it is not used", elsewhere(name, url));
        }
        allowed
    };
    let userinfo = document
        .userinfo_endpoint()
        .filter(|endpoint| is_allowed("userinfo_endpoint", endpoint.url()))
        .cloned();
    let mut document = document.set_userinfo_endpoint(userinfo);
    let logout = document.additional_metadata_mut();
    logout.end_session_endpoint = logout
        .end_session_endpoint
        .take()
        .filter(|endpoint| is_allowed("end_session_endpoint", endpoint.url()));
    let extensions = &mut logout.additional_metadata;
    extensions.revocation_endpoint = extensions
        .revocation_endpoint
        .take()
        .filter(|endpoint| is_allowed("revocation_endpoint", endpoint.url()));
    document
}

fn elsewhere(name: &str, url: &Url) -> Error {
    Error::Unusable(format!(
        "{name} is at {}, which is not the issuer's host over HTTPS: add it to endpoint_hosts if \
         it belongs there",
        url.host_str().unwrap_or("no host")
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::settings::Settings;

    const ISSUER: &str = "https://id.example.org";

    fn read(changes: Value) -> Result<Metadata, Error> {
        let mut members = json!({
            "issuer": ISSUER,
            "authorization_endpoint": "https://id.example.org/auth",
            "token_endpoint": "https://id.example.org/token",
            "jwks_uri": "https://id.example.org/jwks",
        });
        for (name, value) in changes.as_object().unwrap() {
            members[name] = value.clone();
        }
        let Value::Object(members) = members else {
            panic!("an object")
        };
        let source = "https://id.example.org/.well-known/openid-configuration"
            .parse()
            .unwrap();
        let http = Http::new(&Settings::new(ISSUER, "portico", None)).unwrap();
        Metadata::read(members, &source, ISSUER, &http)
    }

    #[test]
    fn the_least_document_names_issuer_keys_and_two_endpoints() {
        let metadata = read(json!({})).unwrap();
        assert_eq!(
            metadata.token_endpoint().as_str(),
            "https://id.example.org/token"
        );
        assert!(!metadata.has_userinfo());
        assert!(!metadata.names_issuer_in_responses());
        assert!(metadata.end_session_endpoint().is_none());
        assert!(metadata.revocation_endpoint().is_none());
        assert!(!metadata.offers(&CoreClientAuthMethod::ClientSecretBasic));
    }

    #[test]
    fn members_that_are_not_used_may_have_any_value() {
        for changes in [
            json!({ "service_documentation": "" }),
            json!({ "op_tos_uri": "terms", "registration_endpoint": null }),
            json!({ "claims_parameter_supported": "true" }),
            json!({ "response_types_supported": "code", "subject_types_supported": null }),
            json!({ "id_token_signing_alg_values_supported": ["RS256", "ML-DSA-65"] }),
            json!({ "scopes_supported": 7, "jwks": { "keys": [] } }),
        ] {
            assert!(read(changes.clone()).is_ok(), "{changes}");
        }
    }

    #[test]
    fn a_method_of_client_authentication_may_be_unknown() {
        let metadata = read(json!({
            "token_endpoint_auth_methods_supported": ["client_secret_post", "attestation"],
        }))
        .unwrap();
        assert!(metadata.offers(&CoreClientAuthMethod::ClientSecretPost));
        assert!(!metadata.offers(&CoreClientAuthMethod::ClientSecretBasic));
    }

    #[test]
    fn what_a_sign_in_needs_must_be_there() {
        for name in [
            "issuer",
            "authorization_endpoint",
            "token_endpoint",
            "jwks_uri",
        ] {
            for value in [json!(null), json!(7), json!("no URL")] {
                let refused = read(json!({ name: value }));
                assert!(matches!(refused, Err(Error::Unusable(_))), "{name} {value}");
            }
        }
    }

    #[test]
    fn optional_endpoints_on_other_hosts_are_left_out() {
        let at = |host: &str| {
            json!({
                "userinfo_endpoint": format!("https://{host}/userinfo"),
                "end_session_endpoint": format!("https://{host}/end"),
                "revocation_endpoint": format!("https://{host}/revoke"),
                "authorization_response_iss_parameter_supported": true,
            })
        };
        let metadata = read(at("id.example.org")).unwrap();
        assert!(metadata.has_userinfo());
        assert!(metadata.end_session_endpoint().is_some());
        assert!(metadata.revocation_endpoint().is_some());
        assert!(metadata.names_issuer_in_responses());
        let metadata = read(at("evil.example")).unwrap();
        assert!(!metadata.has_userinfo());
        assert!(metadata.end_session_endpoint().is_none());
        assert!(metadata.revocation_endpoint().is_none());
    }
}
