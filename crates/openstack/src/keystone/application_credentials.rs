//! Creation and deletion of application credentials, as their own user.
use super::answer::json;
use super::call::{Call, asking_token};
use super::client::Client;
use super::error::Error;
use jiff::Timestamp;
use reqwest::{Method, StatusCode};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::json;

/// A credential to create. It gets the roles of the requesting token, in that token's project, and
/// may not create others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewApplicationCredential<'a> {
    pub user_id: &'a str,
    /// Unique among the user's credentials.
    pub name: &'a str,
    /// For users who find it in a list.
    pub description: &'a str,
    pub expires_at: Timestamp,
}

/// A new credential: its secret cannot be read again.
#[derive(Clone, Debug)]
pub struct MadeApplicationCredential {
    pub id: String,
    pub secret: SecretString,
}

#[derive(Deserialize)]
struct CreatedAnswer {
    application_credential: Created,
}

#[derive(Deserialize)]
struct Created {
    id: String,
    secret: SecretString,
}

impl Client {
    /// Creates a restricted, expiring application credential for the project of `token`.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] if the token is invalid, [`Error::Forbidden`] if the cloud does not
    /// allow it, or not with such a token.
    pub async fn create_application_credential(
        &self,
        token: &SecretString,
        new: &NewApplicationCredential<'_>,
    ) -> Result<MadeApplicationCredential, Error> {
        let call = Call {
            operation: "create_application_credential",
            method: Method::POST,
            path: path(new.user_id)?,
            query: None,
            headers: asking_token(token)?,
            body: Some(json!({ "application_credential": {
                "name": new.name,
                "description": new.description,
                "expires_at": new.expires_at.strftime("%Y-%m-%dT%H:%M:%S.000000Z").to_string(),
                "unrestricted": false,
            } })),
        };
        self.run(call, |answer| {
            answer.expect(StatusCode::CREATED, Error::InvalidToken)?;
            let CreatedAnswer {
                application_credential: made,
            } = json(&answer.body)?;
            Ok(MadeApplicationCredential {
                id: made.id,
                secret: made.secret,
            })
        })
        .await
    }

    /// Deletes an application credential of the token's user, and with it the tokens that were made
    /// with it; one that does not exist any more is not an error.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] if the token is invalid, [`Error::Forbidden`] if it may not.
    pub async fn delete_application_credential(
        &self,
        token: &SecretString,
        user_id: &str,
        id: &str,
    ) -> Result<(), Error> {
        if !is_id(id) {
            return Err(Error::BadRequest);
        }
        let call = Call {
            operation: "delete_application_credential",
            method: Method::DELETE,
            path: format!("{}/{id}", path(user_id)?),
            query: None,
            headers: asking_token(token)?,
            body: None,
        };
        self.run(call, |answer| {
            match answer.expect(StatusCode::NO_CONTENT, Error::InvalidToken) {
                Err(Error::InvalidToken) if answer.status == StatusCode::NOT_FOUND => Ok(()),
                other => other,
            }
        })
        .await
    }
}

fn path(user_id: &str) -> Result<String, Error> {
    if is_id(user_id) {
        Ok(format!("users/{user_id}/application_credentials"))
    } else {
        Err(Error::BadRequest)
    }
}

/// Returns whether a text is an ID: Keystone's IDs are hexadecimal, or words such as `default`;
/// nothing else becomes part of a path.
fn is_id(id: &str) -> bool {
    (1..=255).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}
