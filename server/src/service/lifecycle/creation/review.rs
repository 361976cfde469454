//! What a creation would do, before anything is sent.
use super::{form, mapping};
use crate::{
    caller::Caller,
    service::{
        Services,
        error::ServiceError,
        lifecycle::{conductor::has_conductor, error, viewer::Viewer},
    },
};
use portico_cluster_operations::{
    Clients, mapping as objects,
    usages::{flavors, usages},
};
use portico_domain::{
    identity::Named,
    panel::lifecycle::{
        Check, CheckLevel, CreationForm, CreationReview, FieldProblem, FormPage, UnfinishedCreation,
    },
};
use portico_lifecycle::{
    review::{self, Review, ReviewContext},
    rights::Call,
    spec::{ClusterDocument, validate},
};
use portico_openstack::rest::ErrorKind;
use serde_json::Value;

/// A form, looked at with the services of the cloud.
pub enum Reviewed {
    /// The template does not exist or is not chosen; nothing else can be said.
    WithoutTemplate(Vec<FieldProblem>),
    Ready(Box<ReadyReview>),
}

/// A review, with what is wrong with single fields.
pub struct ReadyReview {
    pub review: Review,
    pub problems: Vec<FieldProblem>,
    /// All checks, also those that pass.
    pub checks: Vec<Check>,
    /// The specification as the user gave it.
    pub document: ClusterDocument,
}

impl ReadyReview {
    /// Returns whether the creation may be sent.
    pub fn can_be_sent(&self) -> bool {
        let is_blocked = |check: &Check| check.level == CheckLevel::Blocks;
        self.problems.is_empty()
            && !self.checks.iter().any(is_blocked)
            && self.review.plan.can_be_applied()
    }
}

/// Returns what a creation would do; changes nothing.
///
/// # Errors
/// Those of [`crate::service::lifecycle::list()`]. What is wrong with the form is in the answer.
pub async fn review(
    services: &Services,
    caller: &Caller,
    form: &CreationForm,
) -> Result<CreationReview, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    match look(&access.clients, &viewer, form).await? {
        Reviewed::Ready(mut ready) => {
            let attempts = &access.attempts;
            let unfinished = attempts.unfinished(viewer.project_id(), &viewer.user_id);
            block_unfinished(&mut ready, &unfinished.await?);
            let usual_seconds = access.usual_seconds(&ready.review.template.uuid);
            view(&ready, usual_seconds)
        }
        Reviewed::WithoutTemplate(problems) => Ok(without_template(form, problems)),
    }
}

/// Blocks a name that a creation has whose outcome is not known: a second request would make a second
/// cluster.
pub fn block_unfinished(ready: &mut ReadyReview, creations: &[UnfinishedCreation]) {
    let name = &ready.document.metadata.name;
    if creations.iter().any(|creation| creation.name == *name) {
        let check = unfinished(name);
        ready.checks.push(check);
    }
}

/// Returns the check that blocks the name of an unfinished creation.
pub fn unfinished(name: &str) -> Check {
    Check {
        subject: "Unfinished creation".to_owned(),
        level: CheckLevel::Blocks,
        text: format!(
            "You have requested a cluster with the name {name} before, and the outcome is not known."
        ),
        next_step: Some(
            "Continue that creation or wait until its outcome is known. Under another name the cluster \
             can be created now."
                .to_owned(),
        ),
        page: Some(FormPage::Template),
    }
}

/// Reads what a review needs, and reviews.
///
/// # Errors
/// If Magnum cannot be asked. A service beside it that cannot is in the checks.
pub async fn look(
    clients: &Clients,
    viewer: &Viewer,
    form: &CreationForm,
) -> Result<Reviewed, ServiceError> {
    let (document, mut problems) = form::document_of(form);
    problems.extend(validate(&document).into_iter().map(|problem| FieldProblem {
        field: problem.field,
        message: problem.message,
    }));
    if document.spec.template.is_empty() {
        return Ok(Reviewed::WithoutTemplate(problems));
    }
    let token = &viewer.token;
    let (found, cloud, clusters, flavors, has_conductor) = tokio::join!(
        clients
            .magnum
            .template_named(token, &document.spec.template),
        clients.offer(token),
        clients.magnum.clusters(token),
        flavors(clients, token),
        has_conductor(clients, viewer),
    );
    let found = match found {
        Ok(found) => found,
        Err(error) => {
            let message = match &error.kind {
                ErrorKind::NotFound(_) => format!(
                    "There is no template {} that this project may use. Choose another one.",
                    document.spec.template
                ),
                ErrorKind::Ambiguous(_) => format!(
                    "Several templates have the name {}. Choose one from the list, or enter its UUID.",
                    document.spec.template
                ),
                _ => return Err(error::of_service(&error)),
            };
            problems.push(FieldProblem {
                field: "spec.template".to_owned(),
                message,
            });
            return Ok(Reviewed::WithoutTemplate(problems));
        }
    };
    let cloud = cloud.map_err(|error| error::of_service(&error))?;
    let clusters = clusters.map_err(|error| error::of_service(&error))?;
    let count = clusters.cut.is_none().then_some(clusters.items.len());
    let usages = usages(clients, token, count).await;
    let name = &document.metadata.name;
    let same_name = clusters.items.iter().filter(|one| one.name == *name);
    let same_name: Vec<_> = same_name.map(|one| one.uuid.to_string()).collect();
    let review = review::review(&ReviewContext {
        document: &document,
        template: &objects::template(&found, &clients.drivers),
        cloud,
        usages: &usages,
        flavors: &flavors,
        same_name: &same_name,
        is_permitted: Some(viewer.refusal(Call::CreateCluster, None).is_none()),
        has_conductor,
        free_addresses: None,
        client: None,
    });
    Ok(Reviewed::Ready(Box::new(ReadyReview {
        checks: checks(&review, &problems, &document),
        review,
        problems,
        document,
    })))
}

/// Returns all checks. What is wrong with single fields is one line: the engine's lines count the node
/// groups with the default one, which a form may not have.
fn checks(review: &Review, problems: &[FieldProblem], document: &ClusterDocument) -> Vec<Check> {
    let mut checks: Vec<Check> = review.checks.0.iter().map(mapping::check).collect();
    if let Some(first) = problems.first() {
        checks.retain(|check| check.subject != "Specification");
        let text = match problems.len() {
            1 => "One field needs a change.".to_owned(),
            count => format!("{count} fields need a change."),
        };
        checks.insert(
            0,
            Check {
                subject: "Specification".to_owned(),
                level: CheckLevel::Blocks,
                text,
                next_step: Some("Correct the fields that are marked.".to_owned()),
                page: Some(first.page()),
            },
        );
    }
    checks.extend(beyond_magnum(document));
    checks
}

/// Returns what a file may have and Magnum does not: what Portico itself does about it.
fn beyond_magnum(document: &ClusterDocument) -> Vec<Check> {
    let spec = &document.spec;
    let check = |level, subject: &str, text: &str| Check {
        subject: subject.to_owned(),
        level,
        text: text.to_owned(),
        next_step: None,
        page: Some(FormPage::Access),
    };
    let protection = spec.is_protected().then(|| {
        check(
            CheckLevel::Ok,
            "Protection",
            "Neither pages of this panel nor sessions of the command line delete the cluster until the \
             protection is removed. Other clients of Magnum ignore it.",
        )
    });
    let services = (!spec.services.is_empty()).then(|| {
        check(
            CheckLevel::Warning,
            "Services",
            "Portico does not install services yet: install them into the cluster once it is ready.",
        )
    });
    protection.into_iter().chain(services).collect()
}

fn view(ready: &ReadyReview, usual_seconds: Option<u64>) -> Result<CreationReview, ServiceError> {
    let review = &ready.review;
    let template = &review.template;
    let request = serde_json::to_string_pretty(&Value::Object(review.request.clone()));
    let file = serde_norway::to_string(&ready.document);
    let unwritable = |cause: String| ServiceError {
        cause: Some(cause),
        ..ServiceError::invalid("The form cannot be written as a file.")
            .next("Remove unusual characters from it, and try again.")
    };
    Ok(CreationReview {
        effective: form::form_of(&review.document),
        adjustments: review.adjustments.clone(),
        template: Some(Named {
            id: template.uuid.clone(),
            name: template.name.clone(),
        }),
        plan: review.plan.steps.iter().map(mapping::step).collect(),
        notes: review.plan.notes.clone(),
        labels: review.labels.iter().map(mapping::label).collect(),
        quotas: review.projections.iter().map(mapping::projection).collect(),
        checks: ready.checks.clone(),
        problems: ready.problems.clone(),
        request: request.map_err(|error| unwritable(error.to_string()))?,
        command: review.command.clone(),
        file: file.map_err(|error| unwritable(error.to_string()))?,
        usual_seconds,
    })
}

fn without_template(form: &CreationForm, problems: Vec<FieldProblem>) -> CreationReview {
    CreationReview {
        effective: form.clone(),
        adjustments: Vec::new(),
        template: None,
        plan: Vec::new(),
        notes: Vec::new(),
        labels: Vec::new(),
        quotas: Vec::new(),
        checks: Vec::new(),
        problems,
        request: String::new(),
        command: String::new(),
        file: String::new(),
        usual_seconds: None,
    }
}
