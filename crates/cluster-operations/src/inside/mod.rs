//! What runs in a cluster, as its own API server reports it to one user: before an upgrade, and while the
//! nodes change. The panel and the command line have a client of their own each; what is read and what it
//! means is here.
mod deprecated;
mod drain;
mod namespaces;
mod survey;
#[cfg(test)]
mod tests;
mod workloads;

pub use deprecated::{DeprecatedApi, removed_by};
pub use survey::{Inspection, inspect};

use portico_lifecycle::preflight::Reading;
use serde_json::Value;
use std::future::Future;

/// Maximum number of objects of a list; a longer one is not complete.
const MAX_OBJECTS: &str = "500";
const NODES: &str = "/api/v1/nodes";
const PODS: &str = "/api/v1/pods";
const BUDGETS: &str = "/apis/policy/v1/poddisruptionbudgets";
/// Before Kubernetes 1.21.
const BETA_BUDGETS: &str = "/apis/policy/v1beta1/poddisruptionbudgets";

/// Why an API server did not return something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// It does not have it.
    NotFound(String),
    /// It answers, and refuses; a sentence.
    Refused(String),
    /// It does not answer, or not as an API server; a sentence.
    Failed(String),
}

impl ReadError {
    /// Returns the reason as a sentence.
    pub fn into_sentence(self) -> String {
        match self {
            Self::NotFound(text) | Self::Refused(text) | Self::Failed(text) => text,
        }
    }
}

/// Reads from the API server of one cluster, with the rights of one user.
pub trait ApiServer: Sync {
    /// Reads a JSON document; `query` are the parameters, not encoded.
    fn json(
        &self,
        path: &str,
        query: &[(&str, &str)],
    ) -> impl Future<Output = Result<Value, ReadError>> + Send;

    /// Reads a text, such as metrics.
    fn text(&self, path: &str) -> impl Future<Output = Result<String, ReadError>> + Send;
}

/// What an upgrade depends on inside of a cluster. What could not be read has its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inside {
    /// Nodes that are not Ready.
    pub unready_nodes: Reading<Vec<String>>,
    /// PodDisruptionBudgets that permit no disruption, as `namespace/name`.
    pub blocking_budgets: Reading<Vec<String>>,
    /// Pods without a controller, as `namespace/name`.
    pub bare_pods: Reading<Vec<String>>,
    /// Pods with data on the disk of their node, as `namespace/name (emptyDir)`.
    pub local_data_pods: Reading<Vec<String>>,
    /// Deprecated APIs that were requested since the API server was started.
    pub deprecated_apis: Reading<Vec<DeprecatedApi>>,
}

impl Inside {
    /// Returns that nothing was checked, for a reason (a sentence).
    pub fn not_checked(reason: &str) -> Self {
        Self {
            unready_nodes: Reading::NotChecked(reason.to_owned()),
            blocking_budgets: Reading::NotChecked(reason.to_owned()),
            bare_pods: Reading::NotChecked(reason.to_owned()),
            local_data_pods: Reading::NotChecked(reason.to_owned()),
            deprecated_apis: Reading::NotChecked(reason.to_owned()),
        }
    }
}

/// Reads what an upgrade depends on. What the user may not read is not checked.
pub async fn read(api: &impl ApiServer) -> Inside {
    let (nodes, budgets, pods, metrics) = tokio::join!(
        list(api, NODES, &[]),
        budgets(api),
        namespaces::list(api, PODS),
        api.text("/metrics"),
    );
    Inside {
        unready_nodes: names(&nodes, |node| {
            workloads::is_unready(node).then(|| workloads::name(node))
        }),
        blocking_budgets: blocking(&budgets),
        bare_pods: names(&pods, |pod| {
            workloads::is_bare(pod).then(|| workloads::name(pod))
        }),
        local_data_pods: names(&pods, workloads::with_local_data),
        deprecated_apis: match metrics {
            Ok(text) => deprecated::requested(&text),
            Err(error) => Reading::NotChecked(error.into_sentence()),
        },
    }
}

/// Reads the names of the PodDisruptionBudgets that permit no disruption now, as `namespace/name`.
pub async fn blocking_budgets(api: &impl ApiServer) -> Reading<Vec<String>> {
    blocking(&budgets(api).await)
}

fn blocking(budgets: &Result<List, ReadError>) -> Reading<Vec<String>> {
    names(budgets, |budget| {
        workloads::is_blocking(budget).then(|| workloads::name(budget))
    })
}

/// Returns the PodDisruptionBudgets of all namespaces.
async fn budgets(api: &impl ApiServer) -> Result<List, ReadError> {
    match namespaces::list(api, BUDGETS).await {
        Err(ReadError::NotFound(_)) => namespaces::list(api, BETA_BUDGETS).await,
        found => found,
    }
}

/// A list of objects.
#[derive(Clone, Debug)]
struct List {
    items: Vec<Value>,
    is_complete: bool,
    /// The namespaces that the user may not read.
    refused: Vec<String>,
}

async fn list(api: &impl ApiServer, path: &str, query: &[(&str, &str)]) -> Result<List, ReadError> {
    let mut query = query.to_vec();
    query.push(("limit", MAX_OBJECTS));
    let mut body = api.json(path, &query).await?;
    let rest = body.pointer("/metadata/continue").and_then(Value::as_str);
    let is_complete = rest.unwrap_or_default().is_empty();
    match body.get_mut("items").map(Value::take) {
        Some(Value::Array(items)) => Ok(List {
            items,
            is_complete,
            refused: Vec::new(),
        }),
        // an empty list of Go
        Some(Value::Null) => Ok(List {
            items: Vec::new(),
            is_complete,
            refused: Vec::new(),
        }),
        _ => Err(ReadError::Failed(
            "The API server returned a list without items.".to_owned(),
        )),
    }
}

/// Returns the names that `of` gives to the objects that are meant, with the namespaces that the user may not
/// read; not checked if the list could not be read or is not complete, or nothing was found in the others.
fn names(
    list: &Result<List, ReadError>,
    of: impl Fn(&Value) -> Option<String>,
) -> Reading<Vec<String>> {
    let list = match list {
        Ok(list) => list,
        Err(error) => return Reading::NotChecked(error.clone().into_sentence()),
    };
    if !list.is_complete {
        return Reading::NotChecked(format!(
            "The cluster has more than {MAX_OBJECTS} objects of this kind."
        ));
    }
    let mut names = workloads::shortened(list.items.iter().filter_map(of).collect());
    if list.refused.is_empty() {
        return Reading::Known(names);
    }
    let refused = format!("the namespaces {}", list.refused.join(", "));
    if names.is_empty() {
        return Reading::NotChecked(format!("Your roles do not permit to read {refused}."));
    }
    names.push(format!("not checked in {refused}"));
    Reading::Known(names)
}
