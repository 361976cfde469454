//! The implementation of [`Panel`] for one caller.
use super::{
    Services, access, authentication, error::ServiceError, launchpad, lists, object, overview,
    rights,
};
use crate::{
    caller::{
        Caller,
        audit::{self, Outcome},
    },
    kube::{Api, changes},
};
use app::{
    error::{UiError, UiErrorKind},
    ports::Panel,
};
use async_trait::async_trait;
use portico_domain::{
    cluster::ClusterRecord,
    identity::Named,
    panel::{
        AccessView, AlertsView, AuthenticationView, ChangeDone, ClusterOverview, EventRow,
        FiguresView, GrantPreview, GrantRequest, Launchpad, ListQuery, ObjectRef, ObjectView,
        RegistryView, ResourceKind, ResourceRef, ResourceTable, RevokeRequest, RightAnswer,
        RightQuestion, SelfTest, SessionView, UserTest, UserTestRequest,
    },
};
use std::sync::Arc;
use uuid::Uuid;

/// Maximum number of questions in one request.
const MAX_QUESTIONS: usize = 200;

/// The panel of one signed-in user, for one request.
pub struct PanelService {
    services: Arc<Services>,
    caller: Caller,
}

impl PanelService {
    pub fn new(services: Arc<Services>, caller: Caller) -> Self {
        Self { services, caller }
    }

    async fn api(&self, cluster: Uuid) -> Result<(Api, &ClusterRecord), ServiceError> {
        self.services.api(&self.caller, cluster).await
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
        let outcome = match &answer {
            Ok(_) => Outcome::Done,
            Err(error) if error.kind == UiErrorKind::NotPermitted => Outcome::Refused,
            Err(_) => Outcome::Failed,
        };
        audit::record(&self.caller, action, cluster, target, outcome);
        self.ui(answer)
    }
}

#[async_trait]
impl Panel for PanelService {
    fn session(&self) -> SessionView {
        let mut session = self.caller.session();
        if let Some(project) = self.caller.project() {
            let clusters = self.services.clusters.of_project(project);
            session.clusters = clusters
                .into_iter()
                .map(|record| Named {
                    id: record.id.to_string(),
                    name: record.name.clone(),
                })
                .collect();
        }
        session
    }

    async fn launchpad(&self) -> Result<Launchpad, UiError> {
        Ok(launchpad::view(&self.services, &self.caller).await)
    }

    async fn cluster(&self, cluster: Uuid) -> Result<ClusterOverview, UiError> {
        let (api, record) = self.ui(self.api(cluster).await)?;
        let url = crate::caller::origin(&self.services.public_url);
        Ok(overview::overview(api, record, &url, &self.services.asks_for()).await)
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

    async fn list(&self, cluster: Uuid, query: ListQuery) -> Result<ResourceTable, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        self.ui(lists::list(&self.services, &api, &query).await)
    }

    async fn object(&self, cluster: Uuid, object: ObjectRef) -> Result<ObjectView, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        self.ui(object::view(&api, &object).await)
    }

    async fn yaml(&self, cluster: Uuid, object: ObjectRef) -> Result<String, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let answer = object::yaml(&api, &object).await;
        self.audited("yaml", cluster, &audit::target(&object), answer)
    }

    async fn events(&self, cluster: Uuid, object: ObjectRef) -> Result<Vec<EventRow>, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        self.ui(object::events(&api, &object).await)
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

    async fn delete(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        uid: String,
    ) -> Result<ChangeDone, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let answer = if uid.is_empty() {
            Err(ServiceError::invalid("The object's UID is missing."))
        } else {
            changes::delete(&api, &object, &uid)
                .await
                .map_err(|error| match error {
                    crate::kube::KubeError::Conflict(_) => ServiceError::conflict(format!(
                        "Another {} has been made under this name meanwhile; it was not deleted.",
                        object.name
                    )),
                    other => other.into(),
                })
        };
        let answer = answer.map(|()| ChangeDone {
            message: format!("{} is being deleted.", object.name),
            undo: None,
        });
        self.audited("delete", cluster, &audit::target(&object), answer)
    }

    async fn scale(
        &self,
        cluster: Uuid,
        object: ObjectRef,
        replicas: i64,
    ) -> Result<ChangeDone, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let answer = match object::confirm_replicas(replicas) {
            Ok(()) if object::scalable(&object.resource) => changes::scale(&api, &object, replicas)
                .await
                .map_err(ServiceError::from),
            Ok(()) => Err(ServiceError::invalid("This kind cannot be scaled.")),
            Err(error) => Err(error),
        };
        let answer = answer.map(|()| ChangeDone {
            message: format!("{} is being scaled to {replicas}.", object.name),
            undo: None,
        });
        let target = format!("{} to {replicas}", audit::target(&object));
        self.audited("scale", cluster, &target, answer)
    }

    async fn restart(&self, cluster: Uuid, object: ObjectRef) -> Result<ChangeDone, UiError> {
        let (api, _) = self.ui(self.api(cluster).await)?;
        let answer = if object::restartable(&object.resource) {
            changes::restart(&api, &object)
                .await
                .map_err(ServiceError::from)
        } else {
            Err(ServiceError::invalid("This kind cannot be restarted."))
        };
        let answer = answer.map(|()| ChangeDone {
            message: format!("{} replaces its pods one after the other.", object.name),
            undo: None,
        });
        self.audited("restart", cluster, &audit::target(&object), answer)
    }

    async fn access(&self, cluster: Uuid) -> Result<AccessView, UiError> {
        let (api, record) = self.ui(self.api(cluster).await)?;
        let names = self.services.names(&self.caller);
        self.ui(access::view(&api, record, &names).await)
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
        self.audited("grant", cluster, &target, answer)
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
        let record = self.ui(self.services.record(&self.caller, cluster))?;
        self.ui(authentication::view(&self.services, &self.caller, record).await)
    }

    async fn kube_auth_figures(&self, cluster: Uuid) -> Result<FiguresView, UiError> {
        self.ui(self.services.record(&self.caller, cluster))?;
        Ok(self.services.kube_auth_metrics.of(cluster).await)
    }

    async fn self_test(&self, cluster: Uuid) -> Result<SelfTest, UiError> {
        let (services, caller) = (&self.services, &self.caller);
        let record = self.ui(services.record(caller, cluster))?;
        let test = authentication::self_test(services, caller, record).await;
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
        let record = self.ui(services.record(caller, cluster))?;
        let target = request.user_id.chars().take(64).collect::<String>();
        let answer = authentication::user_test(services, caller, record, request).await;
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
