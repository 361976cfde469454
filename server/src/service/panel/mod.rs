//! The implementation of [`Panel`] for one caller.
mod candidates;
mod creation;
mod lifecycle;
mod manifests;
mod objects;

use super::{
    Services, access, authentication, bulk, cluster_states, error::ServiceError, launchpad, lists,
    object::listed_pods::listed_pods, overview, rights, search, visible,
};
use crate::{
    caller::{
        Caller,
        audit::{self, Outcome},
    },
    kube::{Api, Cluster, ClusterSnapshot, changes, namespaces},
};
use app::{
    error::{UiError, UiErrorKind},
    ports::Panel,
};
use async_trait::async_trait;
use portico_assertion::audit_report::Candidate;
use portico_domain::{
    cluster::ClusterRecord,
    identity::{Named, user_group},
    panel::{
        AccessView, AlertsView, AuthenticationView, BoundName, BulkAction, BulkOutcome, BulkTarget,
        ChangeDone, ClusterOverview, ClusterState, FiguresView, GrantPreview, GrantRequest,
        LabelCount, Launchpad, ListQuery, PodList, ProgramsView, RegistryView, ResourceKind,
        ResourceRef, ResourceTable, RevokeRequest, RightAnswer, RightQuestion, RowRange,
        SearchAnswer, Selection, SelfTest, SessionView, UserTest, UserTestRequest,
        VisibleNamespaces, WhatCanView, WhoCanView,
    },
};
use portico_openstack::rest::Effect;
use std::sync::Arc;
use uuid::Uuid;

/// Maximum number of questions in one request.
const MAX_QUESTIONS: usize = 200;

/// The panel of one signed-in user, for one request.
pub struct PanelService {
    services: Arc<Services>,
    /// Those at the beginning of the request.
    clusters: Arc<ClusterSnapshot>,
    caller: Caller,
}

impl PanelService {
    pub fn new(services: Arc<Services>, caller: Caller) -> Self {
        Self {
            clusters: services.clusters.snapshot(),
            services,
            caller,
        }
    }

    async fn api(&self, id: Uuid) -> Result<(Api, &ClusterRecord), ServiceError> {
        let found = self.services.api_among(&self.clusters, &self.caller, id);
        let (api, cluster) = found.await?;
        Ok((api, cluster.record()))
    }

    fn visible(&self, id: Uuid) -> Result<&Arc<Cluster>, ServiceError> {
        visible(&self.clusters, &self.caller, id)
    }

    fn ui<T>(&self, answer: Result<T, ServiceError>) -> Result<T, UiError> {
        answer.map_err(|error| error.into_ui(self.caller.request_id()))
    }

    /// Writes the audit line of a change, whatever its outcome.
    fn audited<T>(
        &self,
        action: &str,
        cluster: Uuid,
        target: &str,
        answer: Result<T, ServiceError>,
    ) -> Result<T, UiError> {
        self.audited_with(action, cluster, target, None, answer)
    }

    /// Does the same; reports a namespace in which a subject has rights if the change succeeded.
    fn audited_with<T>(
        &self,
        action: &str,
        cluster: Uuid,
        target: &str,
        candidate: Option<Candidate>,
        answer: Result<T, ServiceError>,
    ) -> Result<T, UiError> {
        let outcome = match &answer {
            Ok(_) => Outcome::Done,
            Err(error) if error.effect == Effect::Unknown => Outcome::Started,
            Err(error) if error.kind == UiErrorKind::NotPermitted => Outcome::Refused,
            Err(_) => Outcome::Failed,
        };
        let candidate =
            candidate.filter(|one| outcome == Outcome::Done && self.may_report(cluster, one));
        audit::record_with(&self.caller, action, cluster, target, outcome, candidate);
        self.ui(answer)
    }
}

#[async_trait]
impl Panel for PanelService {
    fn session(&self) -> SessionView {
        let mut session = self.caller.session(self.services.clock.now());
        if let Some(project) = self.caller.project() {
            let clusters = self.clusters.of_project(project);
            session.clusters = clusters
                .map(|cluster| Named {
                    id: cluster.record().id.to_string(),
                    name: cluster.record().name.clone(),
                })
                .collect();
        }
        session
    }

    async fn launchpad(&self) -> Result<Launchpad, UiError> {
        Ok(launchpad::view(&self.services, &self.clusters, &self.caller).await)
    }

    async fn cluster(&self, cluster: Uuid, wait: bool) -> Result<ClusterOverview, UiError> {
        let (api, record) = self.ui(self.api(cluster).await)?;
        let services = &self.services;
        let url = crate::caller::origin(&services.public_url);
        let (asks_for, patience) = (services.asks_for(), overview::patience(wait));
        let sources = overview::Sources {
            details: &services.details,
            prometheus: services.prometheus.as_ref(),
        };
        let project = self.caller.project();
        let project = project.map_or("", |project| project.id.as_str());
        let mut page =
            overview::overview(api, record, project, &url, &asks_for, sources, patience).await;
        page.terminal.system = self.caller.platform().system;
        Ok(page)
    }

    async fn cluster_states(&self, clusters: Vec<Uuid>) -> Result<Vec<ClusterState>, UiError> {
        let (services, caller) = (&self.services, &self.caller);
        Ok(cluster_states::states(services, &self.clusters, caller, &clusters).await)
    }

    async fn kinds(&self, cluster: Uuid) -> Result<Vec<ResourceKind>, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        self.ui(lists::kinds(&api).await)
    }

    async fn namespaces_for(
        &self,
        cluster: Uuid,
        resource: ResourceRef,
    ) -> Result<Option<Vec<String>>, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        self.ui(lists::namespaces_for(&api, &resource).await)
    }

    async fn visible_namespaces(&self, cluster: Uuid) -> Result<VisibleNamespaces, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        self.ui(namespaces::visible(&api).await.map_err(ServiceError::from))
    }

    async fn add_namespace(&self, cluster: Uuid, name: String) -> Result<(), UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let added = lists::check_namespace(&api, &name).await;
        let candidate = added.is_ok().then(|| Candidate {
            subject: user_group(&self.caller.identity().user.id),
            namespace: name.clone(),
        });
        let target = name.chars().take(64).collect::<String>();
        self.audited_with("add_namespace", cluster, &target, candidate, added)
    }

    async fn list(
        &self,
        cluster: Uuid,
        query: ListQuery,
        range: RowRange,
    ) -> Result<ResourceTable, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        self.ui(lists::list(&self.services, &api, &query, range).await)
    }

    async fn label_suggestions(
        &self,
        cluster: Uuid,
        query: ListQuery,
        typed: String,
    ) -> Result<Vec<LabelCount>, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        self.ui(lists::label_suggestions(&self.services, &api, query, &typed).await)
    }

    async fn select(&self, cluster: Uuid, query: ListQuery) -> Result<Selection, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        self.ui(lists::select(&self.services, &api, &query).await)
    }

    async fn pods_of_list(&self, cluster: Uuid, query: ListQuery) -> Result<PodList, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        self.ui(listed_pods(&self.services, &api, query).await)
    }

    async fn change_many(
        &self,
        cluster: Uuid,
        resource: ResourceRef,
        action: BulkAction,
        targets: Vec<BulkTarget>,
    ) -> Result<Vec<BulkOutcome>, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        self.ui(bulk::change(&self.caller, &api, &resource, &action, targets).await)
    }

    async fn search(&self, cluster: Uuid, text: String) -> Result<SearchAnswer, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        self.ui(search::search(&self.services, &self.caller, &api, &text).await)
    }

    async fn rights(
        &self,
        cluster: Uuid,
        questions: Vec<RightQuestion>,
    ) -> Result<Vec<RightAnswer>, UiError> {
        if questions.len() > MAX_QUESTIONS {
            return self.ui(Err(ServiceError::invalid(format!(
                "At most {MAX_QUESTIONS} questions can be asked at once."
            ))));
        }
        let (api, _) = self.ui(self.api(cluster).await)?;
        self.ui(rights::answer(&api, questions).await)
    }

    async fn access(&self, cluster: Uuid) -> Result<AccessView, UiError> {
        let (api, record) = self.ui(self.api(cluster).await)?;
        let names = self.services.names(&self.caller);
        self.ui(access::view(&api, record, &names).await)
    }

    async fn who_can(
        &self,
        cluster: Uuid,
        verb: String,
        resource: String,
        namespace: Option<String>,
    ) -> Result<WhoCanView, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let names = self.services.names(&self.caller);
        self.ui(access::who_can(&api, &names, &verb, &resource, namespace).await)
    }

    async fn what_can(&self, cluster: Uuid, subject: BoundName) -> Result<WhatCanView, UiError> {
        let (api, record) = self.ui(self.api(cluster).await)?;
        let names = self.services.names(&self.caller);
        self.ui(access::what_can(&api, record, &names, &subject).await)
    }

    async fn preview_grant(
        &self,
        cluster: Uuid,
        grant: GrantRequest,
    ) -> Result<GrantPreview, UiError> {
        let (api, record) = self.ui(self.api(cluster).await)?;
        let names = self.services.names(&self.caller);
        let keystone = access::KeystoneLookup {
            client: self.services.keystone.as_ref(),
            token: self.caller.token().map(|token| &token.token),
        };
        self.ui(access::preview(&api, record, &names, &keystone, &grant).await)
    }

    async fn grant(
        &self,
        cluster: Uuid,
        grant: GrantRequest,
        typed: String,
    ) -> Result<ChangeDone, UiError> {
        let (api, record) = self.ui(self.api(cluster).await)?;
        let names = self.services.names(&self.caller);
        let undo = &self.services.undo;
        let answer = access::grant(&api, record, &names, undo, &grant, &typed).await;
        let target = format!(
            "{} to {:?} {} in {}",
            grant.role.name,
            grant.subject_kind,
            grant.subject_id,
            grant.namespace.as_deref().unwrap_or("the cluster")
        );
        let candidate = grant.namespace.clone().map(|namespace| Candidate {
            subject: access::group_of(&grant, record, self.caller.identity()),
            namespace,
        });
        self.audited_with("grant", cluster, &target, candidate, answer)
    }

    async fn revoke(&self, cluster: Uuid, revoke: RevokeRequest) -> Result<ChangeDone, UiError> {
        let (api, record) = self.ui(self.api(cluster).await)?;
        let names = self.services.names(&self.caller);
        let undo = &self.services.undo;
        let answer = access::revoke(&api, record, &names, undo, &revoke).await;
        let target = format!(
            "{:?} from {} in {}",
            revoke.subject,
            revoke.binding.name,
            revoke.binding.namespace.as_deref().unwrap_or("the cluster")
        );
        self.audited("revoke", cluster, &target, answer)
    }

    async fn undo(&self, cluster: Uuid, undo: String) -> Result<ChangeDone, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let names = self.services.names(&self.caller);
        match access::take_back(&api, &names, &self.services.undo, &undo).await {
            Ok((done, target)) => self.audited("undo", cluster, &target, Ok(done)),
            Err(error) => self.audited("undo", cluster, "", Err(error)),
        }
    }

    async fn authentication(&self, cluster: Uuid) -> Result<AuthenticationView, UiError> {
        let cluster = self.ui(self.visible(cluster))?;
        let (services, caller) = (&self.services, &self.caller);
        self.ui(authentication::view(services, &self.clusters, caller, cluster.record()).await)
    }

    async fn kube_auth_figures(&self, cluster: Uuid) -> Result<FiguresView, UiError> {
        self.ui(self.visible(cluster))?;
        Ok(self.services.kube_auth_metrics.of(cluster).await)
    }

    async fn programs(&self) -> Result<ProgramsView, UiError> {
        let programs = self.ui(self.services.programs(&self.caller))?;
        Ok(programs.view(self.caller.platform()).await)
    }

    async fn self_test(&self, cluster: Uuid) -> Result<SelfTest, UiError> {
        let (services, caller) = (&self.services, &self.caller);
        let tested = self.ui(self.visible(cluster))?;
        let test = authentication::self_test(services, caller, tested).await;
        let outcome = if test.passed {
            Outcome::Done
        } else {
            Outcome::Failed
        };
        audit::record(caller, "test_self", cluster, "", outcome);
        let kept = test.clone();
        let tests = &services.tests;
        tests
            .keep(services, caller, cluster, |all| all.own = Some(kept))
            .await;
        Ok(test)
    }

    async fn user_test(
        &self,
        cluster: Uuid,
        request: UserTestRequest,
    ) -> Result<UserTest, UiError> {
        let (services, caller) = (&self.services, &self.caller);
        self.ui(self.visible(cluster))?;
        let target = request.user_id.chars().take(64).collect::<String>();
        let answer = match self.api(cluster).await {
            Ok((api, record)) => {
                authentication::user_test(services, caller, &api, record, request).await
            }
            Err(error) => Err(error),
        };
        if let Ok(test) = &answer {
            let kept = test.clone();
            let tests = &services.tests;
            tests
                .keep(services, caller, cluster, |all| all.other = Some(kept))
                .await;
        }
        self.audited("test_user", cluster, &target, answer)
    }

    async fn registry(&self, app: String) -> Result<RegistryView, UiError> {
        let services = &self.services;
        let view = services
            .apps
            .registry(&app, &self.caller, &services.role_names)
            .await;
        self.ui(view)
    }

    async fn alerts(&self, app: String) -> Result<AlertsView, UiError> {
        let services = &self.services;
        let view = services
            .apps
            .alerts(&app, &self.caller, &services.role_names)
            .await;
        self.ui(view)
    }
}
