//! New manifests: server-side apply
//! (<https://kubernetes.io/docs/reference/using-api/server-side-apply/>), first as a dry run.
use super::{
    FIELD_MANAGER,
    answer::{self, Refusal},
    compare,
    document::{self, Document, Unusable},
    failure, problem,
};
use crate::{
    caller::{
        Caller,
        audit::{self, Outcome},
    },
    kube::{Api, KubeError, api::Call, objects, path},
    service::error::ServiceError,
};
use futures::{StreamExt, stream};
use portico_domain::panel::{
    AppliedDocument, Effect, ObjectRef, PlannedDocument, ProblemSeverity, ResourceRef, TextDiff,
};
use serde_json::Value;
use std::collections::BTreeSet;

const MAX_CONCURRENT_CHECKS: usize = 6;

/// Returns what applying a text would do, document by document. Nothing is changed.
pub async fn plan(
    api: &Api,
    text: &str,
    namespace: Option<&str>,
) -> Result<Vec<PlannedDocument>, ServiceError> {
    let documents = document::read(api, text, namespace).await?;
    let new_namespaces: BTreeSet<String> = documents
        .iter()
        .flatten()
        .filter(|document| document.object.resource == ResourceRef::core("namespaces"))
        .map(|document| document.object.name.clone())
        .collect();
    let checks: Vec<_> = documents
        .into_iter()
        .map(|document| {
            let new_namespaces = &new_namespaces;
            async move {
                match document {
                    Ok(document) => check(api, &document, new_namespaces).await,
                    Err(unusable) => Ok(unusable_plan(unusable)),
                }
            }
        })
        .collect();
    stream::iter(checks)
        .buffered(MAX_CONCURRENT_CHECKS)
        .collect::<Vec<_>>()
        .await
        .into_iter()
        .collect()
}

fn unusable_plan(unusable: Unusable) -> PlannedDocument {
    PlannedDocument {
        index: unusable.index,
        title: unusable.title,
        object: None,
        effect: Effect::Refused,
        diff: TextDiff::default(),
        problems: vec![unusable.problem],
        conflicts: Vec::new(),
    }
}

async fn check(
    api: &Api,
    document: &Document,
    new_namespaces: &BTreeSet<String>,
) -> Result<PlannedDocument, ServiceError> {
    let mut plan = PlannedDocument {
        index: document.index,
        title: document.title.clone(),
        object: Some(document.object.clone()).filter(|object| !object.name.is_empty()),
        effect: Effect::Create,
        diff: TextDiff::default(),
        problems: Vec::new(),
        conflicts: Vec::new(),
    };
    let live = read_live(api, &document.object).await?;
    if live.is_some() {
        plan.effect = Effect::Change;
    }
    let forced = |force| {
        send(
            api,
            document,
            Send {
                dry_run: true,
                force,
            },
        )
    };
    let result = match forced(false).await {
        Ok(result) => result,
        Err(refusal) if !refusal.conflicts.is_empty() => {
            plan.conflicts = refusal.conflicts;
            // what it would look like if the user takes the fields over
            match forced(true).await {
                Ok(result) => result,
                Err(refusal) => return Ok(refused(plan, refusal)),
            }
        }
        Err(refusal) => {
            let namespace = document.object.namespace.as_deref();
            let follows = namespace.is_some_and(|name| new_namespaces.contains(name));
            if follows && matches!(refusal.error, KubeError::NotFound(_)) {
                plan.diff = compare(None, &document.value)?;
                plan.problems.push(portico_domain::panel::ManifestProblem {
                    severity: ProblemSeverity::Warning,
                    ..problem(
                        document.index,
                        "",
                        "It can be checked only when its namespace, which is created with it, exists.",
                    )
                });
                return Ok(plan);
            }
            return Ok(refused(plan, refusal));
        }
    };
    plan.diff = compare(live.as_ref(), &result)?;
    if live.is_some() && plan.diff.is_empty() && plan.conflicts.is_empty() {
        plan.effect = Effect::Nothing;
    }
    Ok(plan)
}

fn refused(plan: PlannedDocument, refusal: Refusal) -> PlannedDocument {
    PlannedDocument {
        effect: Effect::Refused,
        problems: refusal.problems,
        ..plan
    }
}

async fn read_live(api: &Api, object: &ObjectRef) -> Result<Option<Value>, ServiceError> {
    if object.name.is_empty() {
        return Ok(None);
    }
    match objects::get(api, object).await {
        Ok(value) => Ok(Some(value)),
        // without the right to read it, its changes cannot be shown; the dry run decides
        Err(KubeError::NotFound(_) | KubeError::Refused(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Applies the documents in their order; each has an outcome and an audit line of its own. The fields
/// of other managers are taken over in the documents `take_over` only.
pub async fn apply(
    caller: &Caller,
    api: &Api,
    text: &str,
    namespace: Option<&str>,
    take_over: &[usize],
) -> Result<Vec<AppliedDocument>, ServiceError> {
    let documents = document::read(api, text, namespace).await?;
    let mut outcomes = Vec::with_capacity(documents.len());
    for document in documents {
        outcomes.push(match document {
            Ok(document) => {
                let force = take_over.contains(&document.index);
                apply_one(caller, api, &document, force).await
            }
            Err(unusable) => AppliedDocument {
                index: unusable.index,
                title: unusable.title,
                object: None,
                effect: Effect::Refused,
                error: Some(unusable.problem.message),
                missing: unusable.problem.missing,
            },
        });
    }
    Ok(outcomes)
}

async fn apply_one(
    caller: &Caller,
    api: &Api,
    document: &Document,
    force: bool,
) -> AppliedDocument {
    let before = version(
        read_live(api, &document.object)
            .await
            .ok()
            .flatten()
            .as_ref(),
    );
    let answer = send(
        api,
        document,
        Send {
            dry_run: false,
            force,
        },
    )
    .await;
    let outcome = match &answer {
        Ok(_) => Outcome::Done,
        Err(refusal) if matches!(refusal.error, KubeError::Refused(_)) => Outcome::Refused,
        Err(_) => Outcome::Failed,
    };
    let target = audit::target(&document.object);
    audit::record(caller, "apply", api.cluster(), &target, outcome);
    if answer.is_ok() && document.object.resource.is_of_rbac() {
        api.rights_changed();
    }
    let (effect, error) = match &answer {
        Ok(result) if before.is_some() && version(Some(result)) == before => {
            (Effect::Nothing, None)
        }
        Ok(_) if before.is_some() => (Effect::Change, None),
        Ok(_) => (Effect::Create, None),
        Err(refusal) => (Effect::Refused, Some(sentence(refusal))),
    };
    let missing = answer.as_ref().err().and_then(|refusal| {
        let mut problems = refusal.problems.iter();
        problems.find_map(|problem| problem.missing.clone())
    });
    let object = answer.ok().map(|result| ObjectRef {
        name: result["metadata"]["name"]
            .as_str()
            .unwrap_or(&document.object.name)
            .to_owned(),
        ..document.object.clone()
    });
    AppliedDocument {
        index: document.index,
        title: document.title.clone(),
        object,
        effect,
        error,
        missing,
    }
}

fn version(value: Option<&Value>) -> Option<String> {
    Some(
        value?
            .pointer("/metadata/resourceVersion")?
            .as_str()?
            .to_owned(),
    )
}

fn sentence(refusal: &Refusal) -> String {
    if !refusal.conflicts.is_empty() {
        let fields: Vec<_> = refusal
            .conflicts
            .iter()
            .map(|conflict| format!("{} ({})", conflict.field, conflict.manager))
            .collect();
        return format!("Fields are managed by others: {}.", fields.join(", "));
    }
    let problems: Vec<_> = refusal
        .problems
        .iter()
        .map(|problem| match problem.path.as_str() {
            "" => problem.message.clone(),
            path => format!("{path}: {}", problem.message),
        })
        .collect();
    problems.join("; ")
}

#[derive(Clone, Copy)]
struct Send {
    dry_run: bool,
    force: bool,
}

async fn send(api: &Api, document: &Document, how: Send) -> Result<Value, Refusal> {
    let object = &document.object;
    let is_generated = object.name.is_empty();
    let base = if is_generated {
        path::collection(&object.resource, object.namespace.as_deref())
    } else {
        path::object(object)
    };
    let base = base.map_err(|error| Refusal {
        problems: vec![failure(document.index, "metadata.name", &error)],
        conflicts: Vec::new(),
        error,
    })?;
    let query = [
        ("fieldManager", FIELD_MANAGER),
        ("fieldValidation", "Strict"),
        ("dryRun", if how.dry_run { "All" } else { "" }),
        (
            "force",
            if how.force && !is_generated {
                "true"
            } else {
                ""
            },
        ),
    ];
    let path = path::with_query(&base, &query);
    let call = if is_generated {
        Call::send(http::Method::POST, &path, &document.value)
    } else {
        Call::apply(&path, &document.value)
    };
    answer::send(api, call, document.index).await
}
