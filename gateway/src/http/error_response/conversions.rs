//! Conversions of errors of the store and of sessions into problems.
use http::StatusCode;
use portico_store::StoreError;

use super::Problem;
use crate::{
    hosts::rate_limit::RateLimited,
    identity_providers::OidcProvider,
    sessions::{
        assertion::AssertionError, keystone_tokens::TokenError, stay_signed_in::StayError,
        validation::InvalidSession,
    },
};

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let next_step = error.next_step();
        tracing::error!(%error, next_step, "the store failed");
        Problem::store_unavailable(&error)
    }
}

impl From<TokenError> for Problem {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::SessionEnded => Problem::signed_out(),
            TokenError::Bound => Problem::downstream(
                StatusCode::FORBIDDEN,
                "bound_to_project",
                "This sign-in cannot approve a command line",
                "You have signed in with an application credential, whose token cannot be \
                 exchanged. Use the credential itself: portico login --cloud NAME.",
            ),
            TokenError::Store(error) => error.into(),
            TokenError::Keystone(error) => Problem::keystone_unavailable_by(&error),
        }
    }
}

impl From<InvalidSession> for Problem {
    fn from(error: InvalidSession) -> Self {
        match error {
            InvalidSession::RefusedByKeystone | InvalidSession::RefusedByProvider => {
                Problem::signed_out()
            }
            InvalidSession::ProviderUnavailable(name) => Problem::provider_unavailable(&name, true),
            InvalidSession::KeystoneUnavailable => Problem::keystone_unavailable(),
            InvalidSession::Token(error) => error.into(),
        }
    }
}

impl From<AssertionError> for Problem {
    fn from(error: AssertionError) -> Self {
        tracing::error!(%error, "a user's identity could not be signed");
        Problem::internal()
    }
}

impl From<StayError> for Problem {
    fn from(error: StayError) -> Self {
        match error {
            StayError::NotOffered => Problem::downstream(
                StatusCode::FORBIDDEN,
                "stay_not_offered",
                "Staying signed in is not offered here",
                "The administrators of this Portico have turned it off \
                 (gateway.session.stay_signed_in).",
            ),
            StayError::NoRole => Problem::bad_request("You have no role in this project."),
            StayError::Refused => Problem::downstream(
                StatusCode::FORBIDDEN,
                "stay_refused",
                "Keystone does not let you stay signed in",
                "Your cloud does not let you create application credentials. You are still signed \
                 in, until your Keystone token ends.",
            )
            .leads_to("Continue", "/"),
            StayError::Token(error) => error.into(),
        }
    }
}

impl From<RateLimited> for Problem {
    fn from(error: RateLimited) -> Self {
        Problem::too_many_requests(&error.app, error.wait)
    }
}

impl Problem {
    /// Returns the problem for a provider that cannot be used: its name, and where the cause lies.
    pub fn provider(provider: &OidcProvider, error: &portico_oidc::Error) -> Self {
        tracing::warn!(provider = provider.config.id, %error, "a provider cannot be used");
        Problem::provider_unavailable(&provider.config.name, error.is_outage())
    }
}
