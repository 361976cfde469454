//! Cluster templates: what Magnum returns, requests, and calls.
use super::body::body_of_new;
use super::client::Client;
use super::patch::{PatchOperation, body_of};
use crate::lenient;
use crate::rest::{
    Answer, Call, Candidate, Collection, Error, ErrorKind, Listing, PAGE_SIZE, ScopedToken,
    Service, resolve,
};
use jiff::Timestamp;
use reqwest::{Method, StatusCode};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use uuid::Uuid;

/// A cluster template.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ClusterTemplate {
    pub uuid: Uuid,
    /// Not unique, not even in a project.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub name: String,
    /// `kubernetes`.
    pub coe: Option<String>,
    /// Magnum's driver; `None` before 23.0.
    pub driver: Option<String>,
    /// Name or ID, as it was entered.
    pub image_id: Option<String>,
    pub flavor_id: Option<String>,
    pub master_flavor_id: Option<String>,
    pub keypair_id: Option<String>,
    pub external_network_id: Option<String>,
    pub fixed_network: Option<String>,
    pub fixed_subnet: Option<String>,
    pub network_driver: Option<String>,
    pub volume_driver: Option<String>,
    pub docker_storage_driver: Option<String>,
    /// In GiB.
    pub docker_volume_size: Option<u32>,
    pub dns_nameserver: Option<String>,
    pub apiserver_port: Option<u16>,
    pub http_proxy: Option<String>,
    pub https_proxy: Option<String>,
    pub no_proxy: Option<String>,
    pub insecure_registry: Option<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub registry_enabled: bool,
    #[serde(default, deserialize_with = "lenient::texts")]
    pub labels: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub tls_disabled: bool,
    /// Whether every project may use it.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub public: bool,
    /// Whether it is offered to admins only.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub hidden: bool,
    /// Words, separated by commas.
    pub tags: Option<String>,
    /// `vm` or `bm`.
    pub server_type: Option<String>,
    /// The operating system, from the image's property `os_distro`.
    pub cluster_distro: Option<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub master_lb_enabled: bool,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub floating_ip_enabled: bool,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub project_id: String,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub user_id: String,
    #[serde(default, deserialize_with = "lenient::time")]
    pub created_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "lenient::time")]
    pub updated_at: Option<Timestamp>,
}

impl ClusterTemplate {
    /// Returns what distinguishes it from others with the same name.
    pub fn candidate(&self) -> Candidate {
        Candidate {
            id: self.uuid.to_string(),
            name: self.name.clone(),
            status: None,
            created_at: self.created_at,
        }
    }
}

/// A template to create, as the body of the request; `None` leaves a value to Magnum.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewClusterTemplate {
    pub name: Option<String>,
    /// `kubernetes`.
    pub coe: String,
    /// Name or ID; its property `os_distro` chooses the driver.
    pub image_id: String,
    pub flavor_id: Option<String>,
    pub master_flavor_id: Option<String>,
    pub keypair_id: Option<String>,
    pub external_network_id: Option<String>,
    pub fixed_network: Option<String>,
    pub fixed_subnet: Option<String>,
    pub network_driver: Option<String>,
    pub volume_driver: Option<String>,
    pub docker_storage_driver: Option<String>,
    /// In GiB.
    pub docker_volume_size: Option<u32>,
    pub dns_nameserver: Option<String>,
    pub apiserver_port: Option<u16>,
    pub http_proxy: Option<String>,
    pub https_proxy: Option<String>,
    pub no_proxy: Option<String>,
    pub insecure_registry: Option<String>,
    pub registry_enabled: Option<bool>,
    #[serde(default, deserialize_with = "lenient::texts")]
    pub labels: BTreeMap<String, String>,
    pub tls_disabled: Option<bool>,
    /// Only an admin may set it.
    pub public: Option<bool>,
    /// Only an admin may set it.
    pub hidden: Option<bool>,
    pub tags: Option<String>,
    pub server_type: Option<String>,
    pub driver: Option<String>,
    pub master_lb_enabled: Option<bool>,
    pub floating_ip_enabled: Option<bool>,
}

impl Client {
    /// Returns the templates that the token's project may use: its own and public ones. Magnum
    /// lists those of all projects to an admin; private ones of others are left out here.
    ///
    /// # Errors
    /// If Magnum cannot be asked or refuses.
    pub async fn templates(&self, token: &ScopedToken) -> Result<Listing<ClusterTemplate>, Error> {
        let call = Call::get("templates", "clustertemplates/detail").with_query("limit", PAGE_SIZE);
        let collection = Collection {
            key: "clustertemplates",
            id: |template: &ClusterTemplate| template.uuid.to_string(),
        };
        let all = self.list(token, &[], call, &collection).await?;
        Ok(all.filtered(|template| {
            let project = &template.project_id;
            template.public || project.is_empty() || *project == token.project_id
        }))
    }

    /// Returns a template.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none that the token may see.
    pub async fn template(
        &self,
        token: &ScopedToken,
        uuid: Uuid,
    ) -> Result<ClusterTemplate, Error> {
        let call = Call::get("template", format!("clustertemplates/{uuid}"));
        self.run(token, &[], call, |answer| answer.json(&[StatusCode::OK]))
            .await
    }

    /// Returns the template with this UUID, or the only one with this name that the project may
    /// use.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]; [`ErrorKind::Ambiguous`] with the candidates.
    pub async fn template_named(
        &self,
        token: &ScopedToken,
        name_or_uuid: &str,
    ) -> Result<ClusterTemplate, Error> {
        let templates = self.templates(token).await?;
        resolve(templates, name_or_uuid, ClusterTemplate::candidate)
            .map_err(|kind| Error::new(Service::Magnum, "template_named", kind))
    }

    /// Creates a template. It is sent once, as a cluster is.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] with Magnum's reason for an image, flavor or network that it does not
    /// find; [`ErrorKind::Forbidden`] for a public or hidden one without an admin's role.
    pub async fn create_template(
        &self,
        token: &ScopedToken,
        new: &NewClusterTemplate,
    ) -> Result<ClusterTemplate, Error> {
        let call = Call::new("create_template", Method::POST, "clustertemplates")
            .with_body(body_of_new(new));
        self.run(token, &[], call, |answer| {
            answer.json(&[StatusCode::CREATED, StatusCode::OK])
        })
        .await
    }

    /// Changes a template. Clusters that were made from it do not change.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] for a field that is in use by clusters.
    pub async fn change_template(
        &self,
        token: &ScopedToken,
        uuid: Uuid,
        operations: &[PatchOperation],
    ) -> Result<ClusterTemplate, Error> {
        let path = format!("clustertemplates/{uuid}");
        let call = Call::new("change_template", Method::PATCH, path)
            .with_body(body_of("change_template", operations)?);
        self.run(token, &[], call, |answer: &Answer| {
            answer.json(&[StatusCode::OK, StatusCode::ACCEPTED])
        })
        .await
    }

    /// Deletes a template.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] while clusters refer to it.
    pub async fn delete_template(&self, token: &ScopedToken, uuid: Uuid) -> Result<(), Error> {
        let path = format!("clustertemplates/{uuid}");
        let call = Call::new("delete_template", Method::DELETE, path);
        self.run(token, &[], call, |answer| -> Result<(), ErrorKind> {
            answer.expect(&[StatusCode::NO_CONTENT, StatusCode::OK])
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_template_of_a_real_magnum_is_read() {
        let template: ClusterTemplate =
            serde_json::from_str(include_str!("fixtures/clustertemplate_show.json")).unwrap();
        assert_eq!(template.name, "k8s-small");
        assert_eq!(template.driver.as_deref(), Some("k8s_sim_v1"));
        assert_eq!(template.labels["kube_tag"], "v1.31.0");
        assert!(template.master_lb_enabled && !template.public);
        assert_eq!(template.dns_nameserver, None);
    }

    #[test]
    fn what_is_left_to_magnum_is_not_sent() {
        let template = NewClusterTemplate {
            coe: "kubernetes".to_owned(),
            image_id: "ubuntu".to_owned(),
            ..NewClusterTemplate::default()
        };
        let expected = json!({"coe": "kubernetes", "image_id": "ubuntu"});
        assert_eq!(body_of_new(&template), expected);
    }
}
