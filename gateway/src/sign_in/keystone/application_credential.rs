//! `POST /oauth2/sign_in/application_credential`: sign-in with a Keystone application credential.
//!
//! The token of an application credential is for one project and cannot be exchanged, so the
//! session is bound to that project.
use std::sync::Arc;

use axum::{Extension, extract::State, response::Response};
use http::HeaderMap;
use portico_openstack::keystone::{ApplicationCredential, IssuedToken, TokenScope, UserRef};
use secrecy::SecretString;

use super::{
    attempt::{Claimed, Failed},
    password::Form,
};
use crate::{
    authentication::extract::FormWithoutCsrf,
    browser_state::BrowserState,
    config::KeystoneMethod,
    http::{
        forms::Fields,
        interrupt::Interrupt,
        redirect::{see_other, with_cookie},
        return_path::ReturnPath,
    },
    pages::sign_in_methods::Attempted,
    request_context::Context,
    sign_in::{SignIn, attempts::limits::SignInMethod, wording::failure_or_refused},
};

const MAX_NAME_BYTES: usize = 255;

/// An application credential as the form identifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CredentialReference<'a> {
    /// The ID, or the name where a user is given.
    pub credential: &'a str,
    pub user: &'a str,
    pub domain: &'a str,
}

/// Redirects a reload after a failure to the sign-in page, which has all forms.
pub(crate) async fn get() -> Response {
    see_other("/oauth2/sign_in")
}

pub(crate) async fn application_credential(
    State(sign_in): State<Arc<SignIn>>,
    Extension(context): Extension<Context>,
    browser: BrowserState,
    headers: HeaderMap,
    FormWithoutCsrf(mut fields): FormWithoutCsrf,
) -> Result<Response, Interrupt> {
    let secret = fields.secret("secret");
    let return_path = ReturnPath::from_query(fields.optional("rd"));
    sign_in.offered(KeystoneMethod::ApplicationCredential, &return_path)?;
    let named = CredentialReference::of(&fields);
    let attempted = Attempted::ApplicationCredential {
        credential: named.shown(named.credential),
        user: named.shown(named.user),
    };
    if let Some(form) = sign_in
        .not_our_form(&headers, &browser, &fields, &return_path)
        .await?
    {
        let form = Form { attempted, ..form };
        return Ok(sign_in.sign_in_page(&headers, &browser, form).await?);
    }
    match sign_in
        .try_application_credential(&context, &headers, &named, &secret)
        .await
    {
        Ok(issued) => {
            sign_in
                .establish(&context, &headers, issued, &return_path)
                .await
        }
        Err(failed) => {
            let retry_after = failed.retry_after();
            let own = matches!(failed, Failed::Refused).then(|| {
                let accounts = named.accounts(&sign_in.default_domain);
                sign_in.attempts.remember_own_attempt(&headers, &accounts)
            });
            let (text, status) = failure_or_refused(failed, CREDENTIAL_REFUSED)?;
            let form = Form {
                retry_after,
                domain: named.shown(named.domain),
                attempted,
                ..Form::new(return_path)
            };
            let form = form.failed(text, status);
            let page = sign_in.sign_in_page(&headers, &browser, form).await?;
            Ok(with_cookie(page, own.flatten()))
        }
    }
}

const CREDENTIAL_REFUSED: &str = "Keystone did not accept this application credential. Check ID \
                                  and secret, and that it has not expired. If you give its name in \
                                  place of the ID, give its user as well.";

impl<'a> CredentialReference<'a> {
    pub fn of(fields: &'a Fields) -> Self {
        Self {
            credential: fields.get("credential").trim(),
            user: fields.get("user").trim(),
            domain: fields.get("domain").trim(),
        }
    }

    fn shown(&self, text: &'a str) -> &'a str {
        if text.len() > MAX_NAME_BYTES {
            ""
        } else {
            text
        }
    }

    /// Returns the accounts whose counters apply to it.
    fn accounts(&self, preset: &str) -> Vec<Claimed> {
        if self.user.is_empty() {
            return vec![Claimed {
                name: format!("application credential {}", self.credential),
                domain: String::new(),
            }];
        }
        Claimed::readings(self.user, self.domain, preset)
    }

    /// Returns the requests to try at Keystone, each with the account whose counters apply.
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

impl SignIn {
    /// Tries an application credential, with the same limits as passwords.
    pub(crate) async fn try_application_credential(
        &self,
        context: &Context,
        headers: &HeaderMap,
        named: &CredentialReference<'_>,
        secret: &SecretString,
    ) -> Result<IssuedToken, Failed> {
        let parts = [named.credential, named.user, named.domain];
        if named.credential.is_empty() || parts.iter().any(|part| part.len() > MAX_NAME_BYTES) {
            return Err(Failed::Unfit(
                "An application credential has an ID or a name of at most 255 characters.",
            ));
        }
        let readings = named.readings(&self.default_domain, secret);
        let accounts: Vec<Claimed> = readings.iter().map(|(who, _)| who.clone()).collect();
        let attempt = self
            .attempts
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
                    self.attempts.succeeded(attempt).await?;
                    return self.fit_credential(issued).await;
                }
                Err(Failed::Refused) => {}
                Err(other) => {
                    self.attempts.undecided(attempt).await?;
                    return Err(other);
                }
            }
        }
        Err(self.attempts.refuse_attempt(context, attempt).await?)
    }

    /// Refuses a credential with access rules: it is limited to the API calls in these rules, and a
    /// session would permit more.
    async fn fit_credential(&self, issued: IssuedToken) -> Result<IssuedToken, Failed> {
        let details = &issued.details;
        let ruled = details
            .application_credential
            .as_ref()
            .is_none_or(|credential| credential.access_rules.is_some());
        if ruled || details.scope != TokenScope::Project {
            self.sessions.revoke(&issued.token).await;
            return Err(Failed::Unfit(
                "This application credential has access rules: it allows only the calls that they \
                 name, and signing in is not one of them. Use one without access rules.",
            ));
        }
        Ok(issued)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(credential: &str, user: &str, domain: &str) -> Vec<(String, String, bool)> {
        let named = CredentialReference {
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
