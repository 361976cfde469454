//! What a provider states about a user, as it is stored.
use jiff::Timestamp;
use portico_domain::identity::{Named, User};
use portico_oidc::Identity;
use portico_store::ProviderProfile;
use sha2::{Digest as _, Sha256};

use super::OidcProvider;

/// Returns the account of a user whom only the provider knows. The ID is derived from issuer and
/// subject, so that no other provider's subject and no Keystone user can have it; never from an
/// e-mail address.
pub(crate) fn user_of(provider: &OidcProvider, identity: &Identity) -> User {
    let digest = Sha256::new()
        .chain_update(identity.issuer.as_bytes())
        .chain_update([0])
        .chain_update(identity.subject.as_bytes())
        .finalize();
    let hex: String = digest
        .iter()
        .take(20)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    User {
        id: format!("oidc-{hex}"),
        name: identity.name.clone(),
        domain: Named {
            id: format!("oidc-{}", provider.config.id),
            name: provider.config.name.clone(),
        },
    }
}

/// Returns when a user authenticated at their provider: the time in the ID token, or now.
pub(crate) fn authenticated_at(identity: &Identity, now: Timestamp) -> Timestamp {
    identity.authenticated_at.map_or(now, |at| at.min(now))
}

/// Returns the attributes of an identity that are stored, besides the user.
pub(crate) fn profile_of(identity: &Identity, keystone: bool) -> ProviderProfile {
    ProviderProfile {
        email: identity.email.as_ref().map(|email| email.address.clone()),
        email_verified: identity.email.as_ref().is_some_and(|email| email.verified),
        display_name: identity.display_name.clone(),
        groups: identity.groups.clone(),
        roles: identity.roles.clone(),
        keystone,
    }
}
