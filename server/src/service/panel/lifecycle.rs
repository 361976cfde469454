//! Clusters that Magnum makes.
mod care;
mod nodes;
mod outcomes;
mod repairs;
mod templates;
#[cfg(test)]
mod tests;

use super::PanelService;
use crate::{
    caller::audit::{self, Outcome},
    service::{
        enrolment,
        lifecycle::{self, Accepted, Change, RequestOutcome, waiting},
    },
};
use app::{error::UiError, ports::Lifecycle};
use async_trait::async_trait;
use outcomes::{
    accepted, change, deletion_object, of_change, of_deletion, of_enrolment, outcome_of,
    outcome_of_change,
};
use portico_domain::panel::lifecycle::{
    ApiServerConfiguration, CertificateView, ChangeOutcome, ClusterCertificates, ClusterFile,
    ClusterJournal, CreationForm, CreationOptions, CreationOutcome, CreationReview,
    DeletionInventory, DeletionOptions, DeletionOutcome, DeletionRecord, EnrolmentOutcome,
    JournalFilter, Leftovers, ManagedClusters, NodeGroupChange, NodeGroupReview, NodeGroups,
    ProgressUpdate, UpgradeOptions, UpgradeSelection,
};
use std::sync::Arc;
use uuid::Uuid;

#[async_trait]
impl Lifecycle for PanelService {
    async fn managed_clusters(&self) -> Result<ManagedClusters, UiError> {
        self.ui(lifecycle::list(&self.services, &self.clusters, &self.caller).await)
    }

    async fn creation_options(&self) -> Result<CreationOptions, UiError> {
        self.ui(lifecycle::options(&self.services, &self.caller).await)
    }

    async fn read_cluster_file(&self, text: String) -> Result<ClusterFile, UiError> {
        self.ui(lifecycle::read_file(&text))
    }

    async fn review_creation(&self, form: CreationForm) -> Result<CreationReview, UiError> {
        self.ui(lifecycle::review(&self.services, &self.caller, &form).await)
    }

    async fn create_cluster(
        &self,
        form: CreationForm,
        attempt: Uuid,
    ) -> Result<CreationOutcome, UiError> {
        let answer = lifecycle::create(&self.services, &self.caller, &form, attempt).await;
        let (cluster, outcome) = match &answer {
            Ok(CreationOutcome::Accepted { cluster }) => (*cluster, Outcome::Done),
            Ok(CreationOutcome::AlreadyCreated { cluster }) => (*cluster, Outcome::Done),
            Ok(CreationOutcome::Refused(_)) => (Uuid::nil(), Outcome::Refused),
            Ok(CreationOutcome::Unknown(_)) => (Uuid::nil(), Outcome::Started),
            Err(error) => (Uuid::nil(), outcome_of(error)),
        };
        let is_accepted = matches!(answer, Ok(CreationOutcome::Accepted { .. }));
        if is_accepted {
            // its attempt was stored before it was sent; the journal needs the UUID
            let change = change(cluster, "create_cluster", "").with_reason(form.reason());
            let accepted = RequestOutcome::Accepted;
            lifecycle::record(&self.services, &self.caller, change, accepted, None).await;
        }
        audit::record(&self.caller, "create_cluster", cluster, &form.name, outcome);
        if is_accepted {
            if form.protection {
                self.record_protection(cluster).await;
            }
            let name = form.name.clone();
            let request = Accepted::Creation { name };
            lifecycle::follow(&self.services, &self.caller, cluster, &request).await;
        }
        self.ui(answer)
    }

    async fn continue_creation(&self, cluster: Uuid) -> Result<(), UiError> {
        let change = change(cluster, "continue_creation", "");
        let work = lifecycle::continue_creation(&self.services, &self.caller, cluster);
        let answer = self.journalled(change, work, accepted).await;
        self.audited("continue_creation", cluster, "", answer)
    }

    async fn dismiss_creation(&self, attempt: Uuid) -> Result<(), UiError> {
        let answer = lifecycle::dismiss_creation(&self.services, &self.caller, attempt).await;
        let target = attempt.to_string();
        self.audited("dismiss_creation", Uuid::nil(), &target, answer)
    }

    async fn cluster_progress(
        &self,
        cluster: Uuid,
        version: Option<String>,
    ) -> Result<ProgressUpdate, UiError> {
        let (services, clusters, caller) = (&self.services, &self.clusters, &self.caller);
        let version = version.as_deref();
        let parts = (Arc::clone(services), Arc::clone(clusters));
        lifecycle::follow_nodes(parts.0, parts.1, caller.clone(), cluster);
        self.ui(lifecycle::progress(services, clusters, caller, cluster, version).await)
    }

    async fn deletion_inventory(
        &self,
        cluster: Uuid,
        options: DeletionOptions,
    ) -> Result<DeletionInventory, UiError> {
        let (services, clusters, caller) = (&self.services, &self.clusters, &self.caller);
        self.ui(lifecycle::inventory(services, clusters, caller, cluster, options).await)
    }

    async fn delete_cluster(
        &self,
        cluster: Uuid,
        typed: String,
        options: DeletionOptions,
        reason: String,
    ) -> Result<DeletionOutcome, UiError> {
        let (services, clusters, caller) = (&self.services, &self.clusters, &self.caller);
        let accepted = options.accepted().unwrap_or_default();
        let work = lifecycle::delete(services, clusters, caller, cluster, &typed, options);
        let change = change(cluster, "delete_cluster", accepted).with_reason(&reason);
        let answer = self.journalled(change, work, of_deletion).await;
        let outcome = match &answer {
            Ok(DeletionOutcome::Accepted(_)) | Ok(DeletionOutcome::AlreadyGone) => Outcome::Done,
            Ok(DeletionOutcome::Refused { .. }) => Outcome::Refused,
            Ok(DeletionOutcome::Unknown { .. }) => Outcome::Started,
            Err(error) => outcome_of(error),
        };
        let object = deletion_object(&typed, accepted);
        audit::record(caller, "delete_cluster", cluster, &object, outcome);
        if matches!(answer, Ok(DeletionOutcome::Accepted(_))) {
            lifecycle::follow(services, caller, cluster, &Accepted::Deletion).await;
        }
        self.ui(answer)
    }

    async fn leftovers(
        &self,
        cluster: Uuid,
        record: Option<DeletionRecord>,
    ) -> Result<Leftovers, UiError> {
        let (services, clusters, caller) = (&self.services, &self.clusters, &self.caller);
        let record = record.as_ref();
        self.ui(lifecycle::leftovers(services, clusters, caller, cluster, record).await)
    }

    async fn enrol_cluster(
        &self,
        cluster: Uuid,
        reason: String,
    ) -> Result<EnrolmentOutcome, UiError> {
        let (services, clusters, caller) = (&self.services, &self.clusters, &self.caller);
        let answer = lifecycle::enrol(services, clusters, caller, cluster).await;
        if let Some((outcome, text)) = answer.as_ref().ok().and_then(of_enrolment)
            && (outcome == RequestOutcome::Accepted
                || lifecycle::records_refused_enrolment(services, caller, cluster).await)
        {
            let change = change(cluster, "enrol", "").with_reason(&reason);
            lifecycle::record(services, caller, change, outcome, text).await;
        }
        self.ui(answer)
    }

    async fn remove_cluster_record(&self, cluster: Uuid) -> Result<bool, UiError> {
        // the audit line is written there
        self.ui(enrolment::remove_record(&self.services, &self.caller, cluster).await)
    }

    async fn node_groups(&self, cluster: Uuid) -> Result<NodeGroups, UiError> {
        self.ui(lifecycle::node_groups(&self.services, &self.caller, cluster).await)
    }

    async fn review_node_group(
        &self,
        cluster: Uuid,
        change: NodeGroupChange,
    ) -> Result<NodeGroupReview, UiError> {
        let (services, clusters, caller) = (&self.services, &self.clusters, &self.caller);
        let review =
            lifecycle::review_node_group(services, clusters, caller, cluster, &change).await;
        self.ui(review)
    }

    async fn change_node_group(
        &self,
        cluster: Uuid,
        change: NodeGroupChange,
        reason: String,
    ) -> Result<ChangeOutcome, UiError> {
        let (services, caller) = (&self.services, &self.caller);
        let action = lifecycle::action_of(&change);
        let target = lifecycle::target_of(&change);
        let entry = Change {
            cluster,
            action,
            target: &target,
            reason: Some(&reason),
        };
        let steps = waiting::number_of_steps(services, caller, cluster, &change).await;
        let clusters = &self.clusters;
        let work = lifecycle::change_node_group(services, clusters, caller, cluster, &change);
        let answer = self.journalled(entry, work, of_change).await;
        let outcome = outcome_of_change(&answer);
        audit::record(caller, action, cluster, &target, outcome);
        if steps > 1 && matches!(outcome, Outcome::Done | Outcome::Started) {
            // this page continues; another one can
            let rest = (steps - 1, reason.as_str());
            waiting::record_rest(services, caller, cluster, &change, rest).await;
        }
        self.ui(answer)
    }

    async fn cluster_journal(
        &self,
        cluster: Uuid,
        before: Option<i64>,
        filter: JournalFilter,
    ) -> Result<ClusterJournal, UiError> {
        let (services, clusters, caller) = (&self.services, &self.clusters, &self.caller);
        let filter = filter.limited();
        self.ui(lifecycle::journal(services, clusters, caller, cluster, before, &filter).await)
    }

    async fn api_server_configuration(
        &self,
        cluster: Uuid,
    ) -> Result<ApiServerConfiguration, UiError> {
        let (services, clusters, caller) = (&self.services, &self.clusters, &self.caller);
        self.ui(lifecycle::configuration(services, clusters, caller, cluster).await)
    }

    async fn upgrade_options(
        &self,
        cluster: Uuid,
        template: Option<Uuid>,
        selection: UpgradeSelection,
    ) -> Result<UpgradeOptions, UiError> {
        let (services, clusters, caller) = (&self.services, &self.clusters, &self.caller);
        let choice = lifecycle::upgrade_choice(selection);
        let read =
            lifecycle::upgrade_options(services, clusters, caller, cluster, template, &choice);
        self.ui(read.await)
    }

    async fn upgrade_cluster(
        &self,
        cluster: Uuid,
        template: Uuid,
        selection: UpgradeSelection,
        typed: String,
        reason: String,
    ) -> Result<ChangeOutcome, UiError> {
        let (services, caller) = (&self.services, &self.caller);
        let object = match &selection.group {
            Some(group) => format!("{template} ({group})"),
            None => template.to_string(),
        };
        let choice = lifecycle::upgrade_choice(selection);
        let entry = change(cluster, "upgrade_cluster", &object).with_reason(&reason);
        let work = lifecycle::upgrade(services, caller, cluster, (template, &choice), &typed);
        let answer = self.journalled(entry, work, of_change).await;
        let outcome = outcome_of_change(&answer);
        audit::record(caller, "upgrade_cluster", cluster, &object, outcome);
        self.ui(answer)
    }

    async fn cluster_certificates(&self, cluster: Uuid) -> Result<ClusterCertificates, UiError> {
        let (services, clusters, caller) = (&self.services, &self.clusters, &self.caller);
        self.ui(lifecycle::certificates(services, clusters, caller, cluster).await)
    }

    async fn sign_certificate(
        &self,
        cluster: Uuid,
        request: String,
        reason: String,
    ) -> Result<CertificateView, UiError> {
        let entry = change(cluster, "sign_certificate", "").with_reason(&reason);
        let work = lifecycle::sign(&self.services, &self.caller, cluster, &request);
        let answer = self.journalled(entry, work, accepted).await;
        // who it was made for, not the certificate
        let subject = answer.as_ref().map(|signed| signed.subject.clone());
        let subject = subject.unwrap_or_default();
        self.audited("sign_certificate", cluster, &subject, answer)
    }

    async fn rotate_ca(
        &self,
        cluster: Uuid,
        typed: String,
        reason: String,
    ) -> Result<ChangeOutcome, UiError> {
        let (services, caller) = (&self.services, &self.caller);
        let entry = change(cluster, "rotate_ca", "").with_reason(&reason);
        let work = lifecycle::rotate(services, caller, cluster, &typed);
        let answer = self.journalled(entry, work, of_change).await;
        let outcome = outcome_of_change(&answer);
        audit::record(caller, "rotate_ca", cluster, &typed, outcome);
        self.ui(answer)
    }
}
