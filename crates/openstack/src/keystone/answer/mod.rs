//! Interpretation of responses: from status, headers and body to a result; no I/O.
use super::error::{Error, Unavailable};
use super::token::{
    AuthOutcome, IssuedToken, Revoked, TokenDetails, TokenScope, Trust, UsedApplicationCredential,
    Version,
};
use super::wire;
use portico_domain::identity::{Identity, Named, Project, User};
use reqwest::StatusCode;
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// A complete response.
pub(super) struct Answer {
    pub status: StatusCode,
    /// The delay that a busy server asks for.
    pub retry_after: Option<Duration>,
    /// `X-Subject-Token`.
    pub subject_token: Option<SecretString>,
    /// `Openstack-Auth-Receipt`.
    pub receipt: Option<SecretString>,
    pub body: Vec<u8>,
}

impl Answer {
    /// Returns the outage if the response is not Keystone's own but reports its absence.
    pub fn outage(&self) -> Option<Error> {
        let status = self.status.as_u16();
        let outage = matches!(status, 429 | 502..=504);
        outage.then_some(Error::Unavailable(Unavailable::Status(status)))
    }

    /// Interprets the response to `POST /auth/tokens` with credentials.
    pub fn authenticated(self) -> Result<AuthOutcome, Error> {
        if self.status == StatusCode::UNAUTHORIZED
            && let Some(receipt) = self.receipt
        {
            let answer: wire::ReceiptAnswer = json(&self.body)?;
            return Ok(AuthOutcome::ReceiptRequired {
                receipt,
                required: answer.required_auth_methods,
            });
        }
        self.issued(Error::InvalidCredentials)
            .map(|issued| AuthOutcome::Token(Box::new(issued)))
    }

    /// Interprets the response to `POST /auth/tokens`; a 401 means `refused`.
    pub fn issued(mut self, refused: Error) -> Result<IssuedToken, Error> {
        self.expect(StatusCode::CREATED, refused)?;
        let token = self
            .subject_token
            .take()
            .ok_or(Error::Malformed("no X-Subject-Token"))?;
        let details = self.details()?;
        Ok(IssuedToken { token, details })
    }

    /// Interprets the response to `GET /auth/tokens` for the requesting token itself.
    pub fn validated(&self) -> Result<TokenDetails, Error> {
        self.expect(StatusCode::OK, Error::InvalidToken)?;
        self.details()
    }

    /// Interprets the response to `GET /auth/tokens` for another token than the requesting one: a
    /// 404 is about that one, a 401 about the requesting one.
    pub fn validated_by_another(&self) -> Result<Option<TokenDetails>, Error> {
        match self.validated() {
            Ok(details) => Ok(Some(details)),
            Err(Error::InvalidToken) if self.status == StatusCode::NOT_FOUND => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Interprets the response to `DELETE /auth/tokens` for the requesting token itself: an invalid
    /// one is refused as the requesting token (401) or as the subject (404).
    pub fn revoked(&self) -> Result<Revoked, Error> {
        match self.expect(StatusCode::NO_CONTENT, Error::InvalidToken) {
            Ok(()) => Ok(Revoked::Now),
            Err(Error::InvalidToken) => Ok(Revoked::Already),
            Err(error) => Err(error),
        }
    }

    /// Interprets the response to `GET /auth/projects`. The list has domain IDs only; `home` is the
    /// one with a known name.
    pub fn projects(&self, home: &Named) -> Result<Vec<Project>, Error> {
        self.expect(StatusCode::OK, Error::InvalidToken)?;
        let answer: wire::ProjectsAnswer = json(&self.body)?;
        let mut projects: Vec<_> = answer
            .projects
            .into_iter()
            .filter(|project| project.enabled && !project.is_domain)
            .map(|project| {
                let id = project.domain_id.unwrap_or_else(|| home.id.clone());
                let name = if id == home.id { &home.name } else { &id };
                Project {
                    id: project.id,
                    name: project.name,
                    domain: Named {
                        name: name.clone(),
                        id,
                    },
                }
            })
            .collect();
        projects.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
        Ok(projects)
    }

    /// Interprets the response to `GET /v3`.
    pub fn version(&self) -> Result<Version, Error> {
        self.expect(StatusCode::OK, Error::Malformed("401 without credentials"))?;
        let answer: wire::VersionAnswer = json(&self.body)?;
        if !answer.version.id.starts_with("v3.") {
            return Err(Error::Malformed("not the identity API v3"));
        }
        Ok(Version {
            id: answer.version.id,
            status: answer.version.status,
        })
    }

    /// Checks the status. A refusal counts only in Keystone's own format: a proxy's 404 page must
    /// not sign users out.
    pub fn expect(&self, success: StatusCode, refused: Error) -> Result<(), Error> {
        let status = self.status;
        if status == success {
            return Ok(());
        }
        if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
            return Err(Error::Unavailable(Unavailable::Status(status.as_u16())));
        }
        let error = match status {
            StatusCode::UNAUTHORIZED | StatusCode::NOT_FOUND => refused,
            StatusCode::FORBIDDEN => Error::Forbidden,
            StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE => Error::BadRequest,
            _ => return Err(Error::Malformed("unexpected status")),
        };
        match serde_json::from_slice::<wire::ErrorAnswer>(&self.body) {
            Ok(answer) if answer.error.code == status.as_u16() => Err(error),
            _ => Err(Error::Malformed("an error that is not Keystone's")),
        }
    }

    /// Returns the roles of a token in any scope; for Portico's own account, whose rights are
    /// inspected and never passed on.
    pub fn roles_in_any_scope(&self) -> Vec<Named> {
        json::<wire::TokenAnswer>(&self.body)
            .map(|answer| answer.token.roles.into_iter().map(Named::from).collect())
            .unwrap_or_default()
    }

    fn details(&self) -> Result<TokenDetails, Error> {
        let wire::TokenAnswer { token } = json(&self.body)?;
        let scope = match (&token.project, &token.domain, &token.system) {
            (None, None, None) => TokenScope::Unscoped,
            (Some(_), None, None) => TokenScope::Project,
            (None, Some(_), None) => TokenScope::Domain,
            (None, None, Some(_)) => TokenScope::System,
            _ => return Err(Error::Malformed("a token with several scopes")),
        };
        let roles = if scope == TokenScope::Project {
            token.roles.into_iter().map(Named::from).collect()
        } else {
            // roles in a domain or in the system must never be taken for roles in a project
            Vec::new()
        };
        Ok(TokenDetails {
            identity: Identity {
                user: User {
                    id: token.user.id,
                    name: token.user.name,
                    domain: token.user.domain.into(),
                },
                project: token.project.map(Project::from),
                roles,
            },
            scope,
            issued_at: token.issued_at,
            expires_at: token.expires_at,
            methods: token.methods,
            audit_ids: token.audit_ids,
            application_credential: token.application_credential.map(|credential| {
                UsedApplicationCredential {
                    id: credential.id,
                    access_rules: credential
                        .access_rules
                        .map(|rules| rules.into_iter().map(|rule| rule.service).collect()),
                }
            }),
            trust: token.trust.map(|trust| Trust {
                id: trust.id,
                trustor_id: trust.trustor_user.id,
                impersonation: trust.impersonation,
            }),
            is_oauth: token.oauth1.is_some() || token.oauth2_credential.is_some(),
        })
    }
}

pub(super) fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Error> {
    // serde_json's message may quote the body, so it is dropped
    serde_json::from_slice(body).map_err(|_| Error::Malformed("unexpected content"))
}

#[cfg(test)]
mod tests;
