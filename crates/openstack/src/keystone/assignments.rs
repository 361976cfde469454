//! Role assignments and projects: lists that only an account of Portico's own may read.
//!
//! A list is complete or an error. A partial one would look like revoked roles.
use super::answer::{Answer, json};
use super::call::{Call, asking_token};
use super::client::Client;
use super::error::Error;
use portico_domain::identity::Named;
use reqwest::{Method, StatusCode, Url};
use secrecy::SecretString;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::borrow::Cow;
use url::form_urlencoded::Serializer;

/// Maximum number of entries in one list; a cloud's project has a few dozen role assignments.
const MAX_ENTRIES: usize = 20_000;
const MAX_PAGES: usize = 50;

/// A user's role in a project, whether assigned directly, through a group, inherited from above, or
/// implied by another role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleAssignment {
    pub user_id: String,
    pub role: Named,
}

/// A project in Keystone's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedProject {
    pub id: String,
    pub name: String,
    pub domain_id: String,
    pub enabled: bool,
}

/// A user in Keystone's list.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ListedUser {
    pub id: String,
    pub name: String,
    pub domain_id: String,
}

impl Client {
    /// Returns the users of a name, which is unique in a domain only.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] if the token is invalid, [`Error::Forbidden`] if its user may not
    /// list users.
    pub async fn users_named(
        &self,
        token: &SecretString,
        name: &str,
    ) -> Result<Vec<ListedUser>, Error> {
        let query = Serializer::new(String::new())
            .append_pair("name", name)
            .finish();
        let listed: Option<Vec<ListedUser>> =
            self.list("users_named", "users", query, token).await?;
        let listed = listed.ok_or(Error::Malformed("404 to a list"))?;
        // Keystone compares names in any case on some databases
        Ok(listed
            .into_iter()
            .filter(|user| user.name.to_lowercase() == name.to_lowercase())
            .collect())
    }

    /// Returns the role assignments in a project; `None` if there is no such project.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] if the token is invalid, [`Error::Forbidden`] if its user may not
    /// read them.
    pub async fn role_assignments(
        &self,
        token: &SecretString,
        project_id: &str,
    ) -> Result<Option<Vec<RoleAssignment>>, Error> {
        let query = Serializer::new(String::new())
            .append_pair("scope.project.id", project_id)
            .append_key_only("effective")
            .append_key_only("include_names")
            .finish();
        let listed: Option<Vec<AssignmentAnswer>> = self
            .list("role_assignments", "role_assignments", query, token)
            .await?;
        Ok(listed.map(|listed| {
            listed
                .into_iter()
                // an assignment to a group without members is listed like this
                .filter_map(|entry| {
                    Some(RoleAssignment {
                        user_id: entry.user?.id,
                        role: entry.role.into(),
                    })
                })
                .collect()
        }))
    }

    /// Returns the projects of a domain, disabled ones included; those that act as domains are left
    /// out.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] if the token is invalid, [`Error::Forbidden`] if its user may not
    /// list them.
    pub async fn projects_of_domain(
        &self,
        token: &SecretString,
        domain_id: &str,
    ) -> Result<Vec<ListedProject>, Error> {
        let query = Serializer::new(String::new())
            .append_pair("domain_id", domain_id)
            .finish();
        let listed: Option<Vec<ProjectAnswer>> = self
            .list("projects_of_domain", "projects", query, token)
            .await?;
        let listed = listed.ok_or(Error::Malformed("404 to a list"))?;
        Ok(listed
            .into_iter()
            .filter(|project| !project.is_domain)
            .map(ListedProject::from)
            .collect())
    }

    /// Returns one project; `None` if there is none with this ID.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] if the token is invalid, [`Error::Forbidden`] if its user may not
    /// see the project.
    pub async fn project(
        &self,
        token: &SecretString,
        id: &str,
    ) -> Result<Option<ListedProject>, Error> {
        if !is_id(id) {
            return Err(Error::BadRequest);
        }
        let call = Call {
            operation: "project",
            method: Method::GET,
            path: format!("projects/{id}"),
            query: None,
            headers: asking_token(token)?,
            body: None,
        };
        self.run(call, |answer| {
            if !found(&answer)? {
                return Ok(None);
            }
            let body: OneProject = json(&answer.body)?;
            Ok((!body.project.is_domain).then(|| body.project.into()))
        })
        .await
    }

    /// Returns the name of a user; `None` if there is none with this ID.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] if the token is invalid, [`Error::Forbidden`] if its user may not
    /// see the other.
    pub async fn user(&self, token: &SecretString, id: &str) -> Result<Option<String>, Error> {
        self.name_of("user", "users", token, id).await
    }

    /// Returns the name of a role; `None` if there is none with this ID.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] if the token is invalid, [`Error::Forbidden`] if its user may not
    /// see the role.
    pub async fn role(&self, token: &SecretString, id: &str) -> Result<Option<String>, Error> {
        self.name_of("role", "roles", token, id).await
    }

    /// Returns the name of one entry of a collection, whose response is an object under the key
    /// `operation`.
    async fn name_of(
        &self,
        operation: &'static str,
        collection: &'static str,
        token: &SecretString,
        id: &str,
    ) -> Result<Option<String>, Error> {
        if !is_id(id) {
            return Err(Error::BadRequest);
        }
        let call = Call {
            operation,
            method: Method::GET,
            path: format!("{collection}/{id}"),
            query: None,
            headers: asking_token(token)?,
            body: None,
        };
        self.run(call, |answer| {
            if !found(&answer)? {
                return Ok(None);
            }
            let mut body: Map<String, Value> = json(&answer.body)?;
            let entry: NamedAnswer = body
                .remove(operation)
                .and_then(|entry| serde_json::from_value(entry).ok())
                .ok_or(Error::Malformed("unexpected content"))?;
            Ok(Some(entry.name))
        })
        .await
    }

    /// Returns every role of the cloud, without those that belong to one domain.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] if the token is invalid, [`Error::Forbidden`] if its user may not
    /// list them.
    pub async fn roles(&self, token: &SecretString) -> Result<Vec<Named>, Error> {
        let listed: Option<Vec<NamedAnswer>> =
            self.list("roles", "roles", String::new(), token).await?;
        let listed = listed.ok_or(Error::Malformed("404 to a list"))?;
        Ok(listed.into_iter().map(Named::from).collect())
    }

    /// Returns all pages of a collection, whose name is its path; `None` for Keystone's own 404.
    async fn list<T: DeserializeOwned>(
        &self,
        operation: &'static str,
        collection: &'static str,
        first: String,
        token: &SecretString,
    ) -> Result<Option<Vec<T>>, Error> {
        let mut query = Some(first).filter(|query| !query.is_empty());
        let mut entries = Vec::new();
        for _ in 0..MAX_PAGES {
            let call = Call {
                operation,
                method: Method::GET,
                path: collection.to_owned(),
                query: query.map(Cow::Owned),
                headers: asking_token(token)?,
                body: None,
            };
            let Some(page) = self
                .run(call, |answer| page::<T>(&answer, collection))
                .await?
            else {
                return Ok(None);
            };
            entries.extend(page.entries);
            if entries.len() > MAX_ENTRIES {
                return Err(Error::Malformed("a list that is too long"));
            }
            let Some(next) = page.next else {
                return Ok(Some(entries));
            };
            // its host is the name that Keystone has for itself: the token is sent only where it
            // was sent before
            query = next.query().map(str::to_owned);
        }
        Err(Error::Malformed("a list of too many pages"))
    }
}

struct Page<T> {
    entries: Vec<T>,
    next: Option<Url>,
}

fn page<T: DeserializeOwned>(answer: &Answer, collection: &str) -> Result<Option<Page<T>>, Error> {
    if !found(answer)? {
        return Ok(None);
    }
    let mut body: Map<String, Value> = json(&answer.body)?;
    if body.get("truncated").and_then(Value::as_bool) == Some(true) {
        return Err(Error::Malformed("a list that Keystone cut short"));
    }
    let entries = body
        .remove(collection)
        .ok_or(Error::Malformed("no list in the answer"))?;
    let next = match body.get("links").and_then(|links| links.get("next")) {
        None | Some(Value::Null) => None,
        Some(link) => {
            let link = link.as_str().and_then(|link| Url::parse(link).ok());
            Some(link.ok_or(Error::Malformed("a link that is not a URL"))?)
        }
    };
    Ok(Some(Page {
        entries: serde_json::from_value(entries)
            .map_err(|_| Error::Malformed("unexpected content"))?,
        next,
    }))
}

/// Returns whether the requested entry exists. A 404 counts only in Keystone's own format.
fn found(answer: &Answer) -> Result<bool, Error> {
    match answer.expect(StatusCode::OK, Error::InvalidToken) {
        Ok(()) => Ok(true),
        Err(Error::InvalidToken) if answer.status == StatusCode::NOT_FOUND => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns whether a text may be part of a path: Keystone's own IDs are hexadecimal.
fn is_id(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=64).contains(&id.len()) && id.bytes().all(plain)
}

#[derive(Deserialize)]
struct AssignmentAnswer {
    user: Option<IdAnswer>,
    role: NamedAnswer,
}

#[derive(Deserialize)]
struct IdAnswer {
    id: String,
}

#[derive(Deserialize)]
struct NamedAnswer {
    id: String,
    name: String,
}

#[derive(Deserialize)]
struct OneProject {
    project: ProjectAnswer,
}

#[derive(Deserialize)]
struct ProjectAnswer {
    id: String,
    name: String,
    domain_id: Option<String>,
    enabled: bool,
    #[serde(default)]
    is_domain: bool,
}

impl From<NamedAnswer> for Named {
    fn from(answer: NamedAnswer) -> Self {
        Self {
            id: answer.id,
            name: answer.name,
        }
    }
}

impl From<ProjectAnswer> for ListedProject {
    fn from(answer: ProjectAnswer) -> Self {
        Self {
            id: answer.id,
            name: answer.name,
            domain_id: answer.domain_id.unwrap_or_default(),
            enabled: answer.enabled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answer(status: u16, body: &Value) -> Answer {
        Answer {
            retry_after: None,
            status: StatusCode::from_u16(status).unwrap(),
            subject_token: None,
            receipt: None,
            body: body.to_string().into_bytes(),
        }
    }

    fn read(status: u16, body: &Value) -> Result<Option<Page<AssignmentAnswer>>, Error> {
        page(&answer(status, body), "role_assignments")
    }

    #[test]
    fn a_list_is_whole_or_an_error() {
        let entry = json!({"user": {"id": "u"}, "role": {"id": "r", "name": "member"}});
        let whole = json!({"role_assignments": [entry], "links": {"next": null}});
        assert_eq!(read(200, &whole).unwrap().unwrap().entries.len(), 1);
        for cut in [
            json!({"role_assignments": [entry], "truncated": true}),
            json!({"role_assignments": [entry], "links": {"next": "?marker=x"}}),
            json!({"links": {"next": null}}),
            json!({"role_assignments": [{"user": {"id": "u"}}]}),
        ] {
            assert!(matches!(read(200, &cut), Err(Error::Malformed(_))), "{cut}");
        }
        let more = json!({"role_assignments": [], "links": {"next": "http://k/v3/x?marker=m"}});
        let next = read(200, &more).unwrap().unwrap().next.unwrap();
        assert_eq!(next.query(), Some("marker=m"));
    }

    #[test]
    fn only_keystones_own_404_means_not_found() {
        let keystones = json!({"error": {"code": 404, "message": "", "title": "Not Found"}});
        assert!(read(404, &keystones).unwrap().is_none());
        let a_proxy = json!("nothing here");
        assert!(matches!(read(404, &a_proxy), Err(Error::Malformed(_))));
        let ours = json!({"error": {"code": 401, "message": "", "title": "Unauthorized"}});
        assert!(matches!(read(401, &ours), Err(Error::InvalidToken)));
    }

    #[test]
    fn an_id_leads_nowhere_else() {
        for (id, good) in [
            ("915d66fac5204c35aa2ac52c13254e05", true),
            ("default", true),
            ("..", false),
            ("a/b", false),
            ("", false),
        ] {
            assert_eq!(is_id(id), good, "{id}");
        }
    }
}
