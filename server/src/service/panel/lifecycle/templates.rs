//! Cluster templates. They belong to no cluster: their changes are in the audit log, and in no journal.
use super::outcomes::outcome_of;
use crate::{
    caller::audit::{self, Outcome},
    service::{error::ServiceError, lifecycle, panel::PanelService},
};
use app::{error::UiError, ports::Templates};
use async_trait::async_trait;
use portico_domain::panel::lifecycle::{
    ClusterTemplates, TemplateDetails, TemplateFlag, TemplateOutcome, TemplateValues,
};
use uuid::Uuid;

#[async_trait]
impl Templates for PanelService {
    async fn cluster_templates(&self) -> Result<ClusterTemplates, UiError> {
        self.ui(lifecycle::templates(&self.services, &self.caller).await)
    }

    async fn cluster_template(&self, template: Uuid) -> Result<TemplateDetails, UiError> {
        self.ui(lifecycle::template(&self.services, &self.caller, template).await)
    }

    async fn copy_template(
        &self,
        template: Uuid,
        values: TemplateValues,
    ) -> Result<TemplateOutcome, UiError> {
        let (services, caller) = (&self.services, &self.caller);
        let answer = lifecycle::copy_template(services, caller, template, &values).await;
        let object = format!("{} from {template}", values.name);
        self.audited_template("create_template", &object, answer)
    }

    async fn set_template_flag(
        &self,
        template: Uuid,
        flag: TemplateFlag,
        is_on: bool,
    ) -> Result<TemplateOutcome, UiError> {
        let (services, caller) = (&self.services, &self.caller);
        let answer = lifecycle::set_template_flag(services, caller, template, flag, is_on).await;
        let field = match flag {
            TemplateFlag::Public => "public",
            TemplateFlag::Hidden => "hidden",
        };
        let object = format!("{template} {field}={is_on}");
        self.audited_template("change_template", &object, answer)
    }

    async fn delete_template(
        &self,
        template: Uuid,
        typed: String,
    ) -> Result<TemplateOutcome, UiError> {
        let (services, caller) = (&self.services, &self.caller);
        let answer = lifecycle::delete_template(services, caller, template, &typed).await;
        let object = format!("{template} {typed}");
        self.audited_template("delete_template", &object, answer)
    }
}

impl PanelService {
    /// Writes the audit line of a change of a template, whatever its outcome.
    fn audited_template(
        &self,
        action: &str,
        object: &str,
        answer: Result<TemplateOutcome, ServiceError>,
    ) -> Result<TemplateOutcome, UiError> {
        let outcome = match &answer {
            Ok(TemplateOutcome::Done { .. }) => Outcome::Done,
            Ok(TemplateOutcome::Refused { .. }) => Outcome::Refused,
            Ok(TemplateOutcome::Unknown { .. }) => Outcome::Started,
            Err(error) => outcome_of(error),
        };
        audit::record(&self.caller, action, Uuid::nil(), object, outcome);
        self.ui(answer)
    }
}
