//! Cluster templates of Magnum.
use crate::error::UiError;
use async_trait::async_trait;
use portico_domain::panel::lifecycle::{
    ClusterTemplates, TemplateDetails, TemplateFlag, TemplateOutcome, TemplateValues,
};
use uuid::Uuid;

/// The cluster templates that the project may use. As for [`super::Lifecycle`], all calls use the viewer's
/// own token in the project of the URL; a private template of another project is `NotFound`.
#[async_trait]
pub trait Templates {
    /// Returns the templates of the project, and public ones of others.
    async fn cluster_templates(&self) -> Result<ClusterTemplates, UiError>;
    /// Returns a template with its labels, and with what the viewer may do.
    async fn cluster_template(&self, template: Uuid) -> Result<TemplateDetails, UiError>;
    /// Creates a private template with the values of another one, and with these.
    ///
    /// # Errors
    /// `NotPermitted` for users who may not create templates.
    async fn copy_template(
        &self,
        template: Uuid,
        values: TemplateValues,
    ) -> Result<TemplateOutcome, UiError>;
    /// Publishes or hides a template, or undoes it.
    ///
    /// # Errors
    /// `NotPermitted` for others than administrators of the cloud.
    async fn set_template_flag(
        &self,
        template: Uuid,
        flag: TemplateFlag,
        is_on: bool,
    ) -> Result<TemplateOutcome, UiError>;
    /// Deletes a template that no cluster uses; `typed` is its name.
    ///
    /// # Errors
    /// `NotPermitted` for users who may not delete templates.
    async fn delete_template(
        &self,
        template: Uuid,
        typed: String,
    ) -> Result<TemplateOutcome, UiError>;
}
