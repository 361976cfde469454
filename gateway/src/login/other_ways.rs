//! `POST /oauth2/sign_in/application_credential` and `POST /oauth2/sign_in/token`: the ways of
//! Keystone's beside the password.
//!
//! An application credential's token is for one project and cannot be exchanged, so the session is
//! bound to that project. A token that somebody brings is exchanged at once for one of our own,
//! with the same end: that one is revoked at sign-out, the brought one only if its owner says so.
//! When the brought one is revoked, Keystone ends ours with it, and the session too.
use axum::{Extension, extract::State, response::Response};
use http::{HeaderMap, StatusCode};
use portico_openstack::keystone::{
    self, ApplicationCredential, IssuedToken, TokenDetails, TokenScope, UserRef,
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{
    attempt::{Claimed, Failed},
    limits::SignInMethod,
    sign_in::Form,
    wording::failure,
};
use crate::{
    access::return_path::ReturnPath,
    config::KeystoneMethod,
    forms::Fields,
    guard::{Stop, see_other, with_cookie},
    pages::other_ways::Tried,
    state::{Context, Gateway, Shared},
};

const LONGEST_NAME: usize = 255;
/// Longer than any that Keystone's web server takes.
const LONGEST_TOKEN: usize = 8 * 1024;

/// Which application credential somebody means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named<'a> {
    /// The ID, or the name where a user is given.
    pub credential: &'a str,
    pub user: &'a str,
    pub domain: &'a str,
}

/// A token that somebody has brought, and ours that is made from it.
pub(super) struct Brought {
    pub own: IssuedToken,
    pub brought: IssuedToken,
}

/// An address that was reloaded after a failure: the page has all forms.
pub(crate) async fn get() -> Response {
    see_other("/oauth2/sign_in")
}

pub(crate) async fn application_credential(
    State(gateway): State<Shared>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
    mut fields: Fields,
) -> Result<Response, Stop> {
    let secret = fields.secret("secret");
    let return_path = ReturnPath::from_query(fields.optional("rd"));
    gateway.offered(KeystoneMethod::ApplicationCredential, &return_path)?;
    let named = Named::of(&fields);
    let tried = Tried::ApplicationCredential {
        credential: named.shown(named.credential),
        user: named.shown(named.user),
    };
    if let Some(form) = gateway
        .not_our_form(&headers, &fields, &return_path)
        .await?
    {
        return Ok(gateway.sign_in_page(&headers, Form { tried, ..form })?);
    }
    match gateway
        .try_application_credential(&context, &headers, &named, &secret)
        .await
    {
        Ok(issued) => {
            gateway
                .establish(&context, &headers, issued, &return_path)
                .await
        }
        Err(failed) => {
            let retry_after = failed.retry_after();
            let own = matches!(failed, Failed::Refused).then(|| {
                let accounts = named.accounts(&gateway.default_domain);
                gateway.remember_own_attempt(&headers, &accounts)
            });
            let (text, status) = explained(failed, CREDENTIAL_REFUSED)?;
            let form = Form {
                retry_after,
                domain: named.shown(named.domain),
                tried,
                ..Form::new(return_path)
            };
            let page = gateway.sign_in_page(&headers, form.failed(text, status))?;
            Ok(with_cookie(page, own.flatten()))
        }
    }
}

pub(crate) async fn token(
    State(gateway): State<Shared>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
    mut fields: Fields,
) -> Result<Response, Stop> {
    let token = fields.secret("token");
    let return_path = ReturnPath::from_query(fields.optional("rd"));
    gateway.offered(KeystoneMethod::Token, &return_path)?;
    let tried = Tried::Token;
    if let Some(form) = gateway
        .not_our_form(&headers, &fields, &return_path)
        .await?
    {
        return Ok(gateway.sign_in_page(&headers, Form { tried, ..form })?);
    }
    match gateway.try_token(&context, &headers, &token).await {
        Ok(Brought { own, brought }) => {
            let ends_too = (fields.get("end_token") == "1").then_some(&brought);
            gateway
                // nobody knows how old a token is that somebody has
                .establish_with(&context, &headers, own, ends_too, None, &return_path)
                .await
        }
        Err(failed) => {
            let retry_after = failed.retry_after();
            let (text, status) = explained(failed, TOKEN_REFUSED)?;
            let form = Form {
                retry_after,
                tried,
                ..Form::new(return_path)
            };
            Ok(gateway.sign_in_page(&headers, form.failed(text, status))?)
        }
    }
}

const CREDENTIAL_REFUSED: &str = "Keystone did not accept this application credential. Check ID \
     and secret, and that it has not expired. With its name in place of the ID, say whose it is.";
const TOKEN_REFUSED: &str = "Keystone does not accept this token: it has ended, or is not complete. Get a new one with \
     openstack token issue, and paste all of it.";

/// What to say about a failure, where a refusal has words of its own.
pub(super) fn explained(
    failed: Failed,
    refused: &str,
) -> Result<(String, StatusCode), crate::problem::Problem> {
    match failed {
        Failed::Refused => Ok((refused.to_owned(), StatusCode::UNAUTHORIZED)),
        other => failure(other),
    }
}

impl<'a> Named<'a> {
    pub fn of(fields: &'a Fields) -> Self {
        Self {
            credential: fields.get("credential").trim(),
            user: fields.get("user").trim(),
            domain: fields.get("domain").trim(),
        }
    }

    fn shown(&self, text: &'a str) -> &'a str {
        if text.len() > LONGEST_NAME { "" } else { text }
    }

    /// The accounts whose counters it falls under.
    fn accounts(&self, preset: &str) -> Vec<Claimed> {
        if self.user.is_empty() {
            return vec![Claimed {
                name: format!("application credential {}", self.credential),
                domain: String::new(),
            }];
        }
        Claimed::readings(self.user, self.domain, preset)
    }

    /// What to ask Keystone for, with the account whose counters it falls under.
    fn readings(
        &self,
        preset: &str,
        secret: &SecretString,
    ) -> Vec<(Claimed, ApplicationCredential)> {
        let credential = |claimed: &Claimed| {
            let (named, secret) = (self.credential.to_owned(), secret.clone());
            if self.user.is_empty() {
                return ApplicationCredential::Id { id: named, secret };
            }
            let user: UserRef = claimed.user();
            ApplicationCredential::Name {
                name: named,
                user,
                secret,
            }
        };
        self.accounts(preset)
            .into_iter()
            .map(|claimed| {
                let credential = credential(&claimed);
                (claimed, credential)
            })
            .collect()
    }
}

impl Gateway {
    /// Tries an application credential under the same counters as passwords.
    pub(super) async fn try_application_credential(
        &self,
        context: &Context,
        headers: &HeaderMap,
        named: &Named<'_>,
        secret: &SecretString,
    ) -> Result<IssuedToken, Failed> {
        let parts = [named.credential, named.user, named.domain];
        if named.credential.is_empty() || parts.iter().any(|part| part.len() > LONGEST_NAME) {
            return Err(Failed::Unfit(
                "An application credential has an ID or a name of at most 255 characters.",
            ));
        }
        let readings = named.readings(&self.default_domain, secret);
        let accounts: Vec<Claimed> = readings.iter().map(|(who, _)| who.clone()).collect();
        let attempt = self
            .begin_attempt(
                context,
                headers,
                SignInMethod::ApplicationCredential,
                &accounts,
            )
            .await?;
        for (_, credential) in &readings {
            let asked = self
                .keystone
                .authenticate_application_credential(credential)
                .await
                .map_err(|error| self.not_asked_or_refused(&error));
            match asked {
                Ok(issued) => {
                    self.succeeded(attempt).await?;
                    return self.fit_credential(issued).await;
                }
                Err(Failed::Refused) => {}
                Err(other) => {
                    self.undecided(attempt).await?;
                    return Err(other);
                }
            }
        }
        Err(self.refuse_attempt(context, attempt).await?)
    }

    /// With access rules a credential is good for the calls that they name only: a session of ours
    /// would let it do more.
    async fn fit_credential(&self, issued: IssuedToken) -> Result<IssuedToken, Failed> {
        let details = &issued.details;
        let ruled = details
            .application_credential
            .as_ref()
            .is_none_or(|credential| credential.access_rules.is_some());
        if ruled || details.scope != TokenScope::Project {
            self.revoke(&issued.token).await;
            return Err(Failed::Unfit(
                "This application credential has access rules: it is good for the calls that they \
                 name, and signing in is none of them. Use one without access rules.",
            ));
        }
        Ok(issued)
    }

    /// Tries a token that somebody has, and makes one of our own from it.
    pub(super) async fn try_token(
        &self,
        context: &Context,
        headers: &HeaderMap,
        token: &SecretString,
    ) -> Result<Brought, Failed> {
        let pasted = token.expose_secret().trim();
        if pasted.is_empty() || pasted.len() > LONGEST_TOKEN {
            return Err(Failed::Refused);
        }
        let token = SecretString::from(pasted.to_owned());
        // what the token says about itself cannot be counted by account: its network is
        let attempt = self
            .begin_attempt(context, headers, SignInMethod::Token, &[])
            .await?;
        match self.exchange_brought(token).await {
            Err(Failed::Refused) => Err(self.refuse_attempt(context, attempt).await?),
            Ok(brought) => {
                self.succeeded(attempt).await?;
                Ok(brought)
            }
            // good at Keystone, or undecided
            Err(other) => {
                self.undecided(attempt).await?;
                Err(other)
            }
        }
    }

    async fn exchange_brought(&self, token: SecretString) -> Result<Brought, Failed> {
        let failed = |error: keystone::Error| self.not_asked_or_refused(&error);
        let details = self.keystone.validate(&token).await.map_err(failed)?;
        if let Some(why) = unfit(&details) {
            return Err(Failed::Unfit(why));
        }
        let own = match self.keystone.unscope(&token).await {
            Ok(own) => own,
            Err(keystone::Error::Forbidden) => {
                return Err(Failed::Unfit(
                    "Your Keystone does not exchange tokens that belong to a project. Bring an \
                     unscoped one: openstack --os-project-name '' token issue.",
                ));
            }
            Err(error) => return Err(failed(error)),
        };
        if own.details.identity.user.id != details.identity.user.id {
            self.revoke(&own.token).await;
            return Err(Failed::Refused);
        }
        let brought = IssuedToken { token, details };
        Ok(Brought { own, brought })
    }
}

/// Why a good token cannot become a session.
fn unfit(details: &TokenDetails) -> Option<&'static str> {
    if details.application_credential.is_some() {
        return Some(
            "This token was made with an application credential and cannot be exchanged for one of \
             Portico's. Sign in with the credential itself.",
        );
    }
    if details.trust.is_some() || details.is_oauth {
        return Some(
            "This token acts for somebody else (a trust, or OAuth). Bring one that you got with \
             your own account.",
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(credential: &str, user: &str, domain: &str) -> Vec<(String, String, bool)> {
        let named = Named {
            credential,
            user,
            domain,
        };
        named
            .readings("Default", &SecretString::from("s"))
            .into_iter()
            .map(|(who, credential)| {
                let by_id = matches!(credential, ApplicationCredential::Id { .. });
                (who.name, who.domain, by_id)
            })
            .collect()
    }

    #[test]
    fn a_credential_by_name_falls_under_its_users_counter() {
        let ada = |domain: &str| ("ada".to_owned(), domain.to_owned(), false);
        assert_eq!(readings("ci", "ada", ""), [ada("Default")]);
        assert_eq!(readings("ci", "ada", "acme"), [ada("acme")]);
        let both = readings("ci", "ada@acme", "");
        assert_eq!(both[0], ada("acme"));
        assert_eq!(both.len(), 2);
    }

    #[test]
    fn a_credential_by_id_has_a_counter_of_its_own_that_no_account_shares() {
        let by_id = readings("4f2a", "", "");
        assert_eq!(by_id.len(), 1);
        assert!(by_id[0].2 && by_id[0].1.is_empty());
    }
}
