//! Quotas of clusters.
use super::client::Client;
use super::version::Feature;
use crate::lenient;
use crate::rest::{
    Call, Collection, Error, ErrorKind, Listing, PAGE_SIZE, ScopedToken, Service, is_id,
};
use jiff::Timestamp;
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;

/// The only resource with a quota.
const RESOURCE: &str = "Cluster";

/// A project's quota of clusters.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Quota {
    pub project_id: String,
    /// `Cluster`.
    pub resource: String,
    /// The maximum number of clusters.
    pub hard_limit: i64,
    /// `None` if no quota was set, and Magnum's default applies.
    #[serde(default, deserialize_with = "lenient::time")]
    pub created_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "lenient::time")]
    pub updated_at: Option<Timestamp>,
}

impl Client {
    /// Returns the quotas that were set, of all projects: for an admin's token.
    ///
    /// # Errors
    /// [`ErrorKind::Forbidden`] for others; [`ErrorKind::NotAvailable`] before 1.6.
    pub async fn quotas(&self, token: &ScopedToken) -> Result<Listing<Quota>, Error> {
        let call = Call::get("quotas", "quotas")
            .with_query("all_tenants", "true")
            .with_query("limit", PAGE_SIZE);
        let collection = Collection {
            key: "quotas",
            id: |quota: &Quota| format!("{}/{}", quota.project_id, quota.resource),
        };
        self.list(token, &[Feature::Quotas], call, &collection)
            .await
    }

    /// Returns the quota of a project, Magnum's default if none was set.
    ///
    /// # Errors
    /// [`ErrorKind::Forbidden`] for another project; [`ErrorKind::NotAvailable`] before 1.6.
    pub async fn quota(&self, token: &ScopedToken, project_id: &str) -> Result<Quota, Error> {
        let call = Call::get("quota", path("quota", project_id)?);
        self.run(token, &[Feature::Quotas], call, |answer| {
            answer.json(&[StatusCode::OK])
        })
        .await
    }

    /// Sets the quota of a project that has none: for an admin's token.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] if it has one, [`ErrorKind::Forbidden`] for others.
    pub async fn create_quota(
        &self,
        token: &ScopedToken,
        project_id: &str,
        hard_limit: u32,
    ) -> Result<Quota, Error> {
        let call = Call::new("create_quota", Method::POST, "quotas");
        self.write_quota(token, call, project_id, hard_limit).await
    }

    /// Changes the quota of a project that has one: for an admin's token.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if it has none, [`ErrorKind::Forbidden`] for others.
    pub async fn change_quota(
        &self,
        token: &ScopedToken,
        project_id: &str,
        hard_limit: u32,
    ) -> Result<Quota, Error> {
        let path = path("change_quota", project_id)?;
        let call = Call::new("change_quota", Method::PATCH, path);
        self.write_quota(token, call, project_id, hard_limit).await
    }

    /// Deletes the quota of a project, so that Magnum's default applies: for an admin's token.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if it has none, [`ErrorKind::Forbidden`] for others.
    pub async fn delete_quota(&self, token: &ScopedToken, project_id: &str) -> Result<(), Error> {
        let path = path("delete_quota", project_id)?;
        let call = Call::new("delete_quota", Method::DELETE, path);
        self.command(token, &[Feature::Quotas], call).await
    }

    async fn write_quota(
        &self,
        token: &ScopedToken,
        call: Call,
        project_id: &str,
        hard_limit: u32,
    ) -> Result<Quota, Error> {
        let call = call.with_body(json!({
            "project_id": project_id,
            "resource": RESOURCE,
            "hard_limit": hard_limit,
        }));
        let success = [StatusCode::CREATED, StatusCode::ACCEPTED, StatusCode::OK];
        self.run(token, &[Feature::Quotas], call, |answer| {
            answer.json(&success)
        })
        .await
    }
}

fn path(operation: &'static str, project_id: &str) -> Result<String, Error> {
    if is_id(project_id) {
        return Ok(format!("quotas/{project_id}/{RESOURCE}"));
    }
    let kind = ErrorKind::Invalid("this is not the ID of a project".to_owned());
    Err(Error::new(Service::Magnum, operation, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_of_a_real_magnum_is_read() {
        let quota: Quota = serde_json::from_str(include_str!("fixtures/quota_show.json")).unwrap();
        assert_eq!((quota.hard_limit, quota.resource.as_str()), (3, RESOURCE));
        assert!(quota.created_at.is_some());
    }
}
