//! Answers of the API server to a manifest: the object, or what is wrong with it and where
//! (<https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/>).
use super::{failure, problem};
use crate::kube::{Api, KubeError, api::Call};
use portico_domain::panel::{FieldConflict, ManifestProblem};
use serde_json::Value;

/// A manifest that the API server did not take.
#[derive(Debug)]
pub struct Refusal {
    pub error: KubeError,
    /// At least one, unless there are conflicts.
    pub problems: Vec<ManifestProblem>,
    pub conflicts: Vec<FieldConflict>,
}

/// Sends a manifest.
pub async fn send(api: &Api, call: Call<'_>, document: usize) -> Result<Value, Refusal> {
    let (status, body) = api
        .answer(call)
        .await
        .map_err(|error| whole(error, document))?;
    if status.is_success() {
        return serde_json::from_slice(&body)
            .map_err(|error| whole(KubeError::Protocol(error.to_string()), document));
    }
    let error = KubeError::from_response(status, &body);
    let details: Value = serde_json::from_slice(&body).unwrap_or_default();
    Err(refusal(error, &details, document))
}

fn whole(error: KubeError, document: usize) -> Refusal {
    Refusal {
        problems: vec![failure(document, "", &error)],
        conflicts: Vec::new(),
        error,
    }
}

fn refusal(error: KubeError, status: &Value, document: usize) -> Refusal {
    let causes = || {
        status
            .pointer("/details/causes")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let text = |cause: &Value, name: &str| cause[name].as_str().unwrap_or_default().to_owned();
    let (of_managers, others): (Vec<_>, Vec<_>) =
        causes().partition(|cause| cause["reason"] == "FieldManagerConflict");
    let conflicts: Vec<_> = of_managers
        .into_iter()
        .map(|cause| FieldConflict {
            field: text(cause, "field"),
            manager: manager(&text(cause, "message")),
        })
        .collect();
    let mut problems: Vec<_> = others
        .into_iter()
        .map(|cause| problem(document, &text(cause, "field"), text(cause, "message")))
        .collect();
    if problems.is_empty() && conflicts.is_empty() {
        problems.push(match missing_key(&error) {
            Some((path, key)) => problem(
                document,
                &path,
                format!("The field {key} is missing. Server-side apply of this API server needs it, even where it has a default."),
            ),
            None => failure(document, "", &error),
        });
    }
    Refusal {
        error,
        problems,
        conflicts,
    }
}

/// Returns the place and the field that an API server before Kubernetes 1.21 misses in a list, such as the
/// protocol of a port: `.spec.ports: element 0: associative list with keys has an element that omits key
/// field "protocol"`.
fn missing_key(error: &KubeError) -> Option<(String, String)> {
    let KubeError::Server { message, .. } = error else {
        return None;
    };
    let (before, after) = message.split_once("omits key field \"")?;
    let key = after.split('"').next()?;
    let place = before.split(": .").nth(1)?;
    let (list, rest) = place.split_once(": element ")?;
    let index: usize = rest.split(':').next()?.trim().parse().ok()?;
    Some((format!("{list}[{index}]"), key.to_owned()))
}

/// Returns the manager in `conflict with "kubectl" using apps/v1`.
fn manager(message: &str) -> String {
    let quoted = message.split('"').nth(1);
    quoted.unwrap_or(message).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn conflicts_name_the_field_and_its_manager() {
        let status = json!({"details": {"causes": [{"reason": "FieldManagerConflict",
            "message": "conflict with \"kubectl-client-side-apply\" using apps/v1", "field": ".spec.replicas"}]}});
        let refusal = refusal(KubeError::Conflict("x".to_owned()), &status, 2);
        assert!(refusal.problems.is_empty());
        assert_eq!(refusal.conflicts[0].manager, "kubectl-client-side-apply");
        assert_eq!(refusal.conflicts[0].field, ".spec.replicas");
    }

    #[test]
    fn a_port_without_a_protocol_is_a_problem_at_its_place() {
        let message = "failed to create typed patch object: .spec.ports: element 0: associative list \
            with keys has an element that omits key field \"protocol\" (and doesn't have default value)";
        let error = KubeError::Server {
            status: 500,
            message: message.to_owned(),
        };
        let found = refusal(error, &json!({}), 0);
        assert_eq!(found.problems[0].path, "spec.ports[0]");
        assert!(
            found.problems[0]
                .message
                .starts_with("The field protocol is missing.")
        );
    }

    #[test]
    fn every_invalid_field_is_a_problem_at_its_path() {
        let status = json!({"details": {"causes": [
            {"reason": "FieldValueRequired", "message": "Required value", "field": "spec.selector"}]}});
        let error = KubeError::Invalid("bad".to_owned());
        let found = refusal(error.clone(), &status, 1);
        assert_eq!(
            (found.problems[0].document, found.problems[0].path.as_str()),
            (1, "spec.selector")
        );
        let without = refusal(error, &json!({}), 0);
        assert_eq!(without.problems.len(), 1);
        assert_eq!(without.problems[0].path, "");
    }
}
