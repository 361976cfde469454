//! Drains nodes before they are removed: cordons them, and evicts their pods as PodDisruptionBudgets permit.
use crate::cluster::arguments::DrainArgs;
use crate::cluster::connection::Connection;
use crate::cluster::console::Console;
use crate::cluster::error::ClusterError;
use crate::cluster::exit_code;
use crate::cluster::kubernetes::{ApiError, Kubernetes};
use crate::cluster::pods;
use portico_lifecycle::drain::{DrainOptions, Fate, budget, ensure_drained, fate, name_of};
use portico_lifecycle::placement::{names, node_of};
use portico_lifecycle::plan::ChosenNode;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::slice;
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

/// Pause between two looks at the pods of a node.
const PAUSE: Duration = Duration::from_secs(2);
const PODS: &str = "/api/v1/pods";
const NODES: &str = "/api/v1/nodes";

/// Whether and how nodes are drained.
pub enum Drain {
    /// The user does not want it.
    Unwanted,
    /// There is no access to the cluster; the reason as a clause.
    Impossible(String),
    Possible(Box<Kubernetes>),
}

impl Drain {
    /// Finds out whether nodes of a cluster can be drained.
    ///
    /// # Errors
    /// [`ClusterError::Blocked`] if they are to be drained, and there is no access to the cluster.
    pub async fn of(
        connection: &Connection,
        cluster: Uuid,
        args: &DrainArgs,
    ) -> Result<Self, ClusterError> {
        if args.no_drain {
            return Ok(Self::Unwanted);
        }
        match pods::open(connection, cluster).await {
            Ok(api) => Ok(Self::Possible(Box::new(api))),
            Err(reason) if args.drain => Err(ClusterError::Blocked {
                exit: exit_code::UNAVAILABLE,
                text: format!("the nodes cannot be drained: {reason}; nothing was sent"),
            }),
            Err(reason) => Ok(Self::Impossible(reason)),
        }
    }

    /// Returns what happens to the pods, for the plan.
    pub fn note(&self, args: &DrainArgs) -> String {
        match self {
            Self::Unwanted => {
                "The nodes are removed without being drained: their pods end with them.".to_owned()
            }
            Self::Impossible(reason) => format!("The nodes are not drained: {reason}."),
            Self::Possible(_) => format!(
                "Each node is cordoned and drained before it is removed, for {} s at most.",
                args.drain_timeout.as_secs()
            ),
        }
    }

    /// Drains nodes if that is possible and wanted. After it, each is checked as drained.
    ///
    /// # Errors
    /// [`ClusterError::Blocked`] with the pods and budgets that block it. Nodes that were cordoned stay so.
    pub async fn run(
        &self,
        console: &mut Console,
        nodes: &[ChosenNode],
        args: &DrainArgs,
    ) -> Result<(), ClusterError> {
        let Self::Possible(api) = self else {
            return Ok(());
        };
        let options = DrainOptions {
            unmanaged: args.force_unmanaged,
            local_data: args.delete_emptydir_data,
        };
        let all = api.list(NODES, &[]).await.map_err(|error| failed(&error))?;
        let names = names_of(&all, nodes)?;
        // what needs the user is found before anything is changed
        for name in &names {
            ensure_accepted(&on_node(api, name).await?, options)?;
        }
        let deadline = Instant::now() + args.drain_timeout;
        for name in names {
            console.say(format!("Draining {name}."));
            tokio::select! {
                result = drain(api, console, &name, options, deadline) => result?,
                _ = tokio::signal::ctrl_c() => return Err(ClusterError::Blocked {
                    exit: exit_code::INTERRUPTED,
                    text: format!("interrupted; the node was not removed\n  {}", stays_cordoned(&name)),
                }),
            }
        }
        Ok(())
    }
}

impl Drain {
    /// Returns the names of the nodes that are ready; none where there is no access to the cluster.
    ///
    /// # Errors
    /// [`ClusterError::Blocked`] if the nodes cannot be read.
    pub async fn ready_nodes(&self) -> Result<BTreeSet<String>, ClusterError> {
        let Self::Possible(api) = self else {
            return Ok(BTreeSet::new());
        };
        let all = api.list(NODES, &[]).await.map_err(|error| failed(&error))?;
        let ready = all.iter().filter(|node| is_ready(node));
        let names = ready.filter_map(|node| node["metadata"]["name"].as_str());
        Ok(names.map(str::to_owned).collect())
    }

    /// Returns all nodes as Kubernetes has them, and the name there of one of them.
    ///
    /// # Errors
    /// [`ClusterError::Blocked`] if the nodes cannot be read, or the node is not among them.
    pub async fn nodes_with(
        &self,
        node: &ChosenNode,
    ) -> Result<(Vec<Value>, String), ClusterError> {
        let Self::Possible(api) = self else {
            return Ok((Vec::new(), node.name.clone()));
        };
        let all = api.list(NODES, &[]).await.map_err(|error| failed(&error))?;
        let names = names_of(&all, slice::from_ref(node))?;
        Ok((all, names.into_iter().collect()))
    }

    /// Waits until a node is ready that was not before; at once where there is no access to the cluster.
    ///
    /// # Errors
    /// [`ClusterError::Blocked`] if none becomes ready in time.
    pub async fn await_new_node(
        &self,
        console: &mut Console,
        before: &BTreeSet<String>,
        args: &DrainArgs,
    ) -> Result<(), ClusterError> {
        if !matches!(self, Self::Possible(_)) {
            return Ok(());
        }
        console.say("Waiting until the new node is ready in Kubernetes.");
        let deadline = Instant::now() + args.drain_timeout;
        loop {
            let now = self.ready_nodes().await?;
            if now.difference(before).next().is_some() {
                return Ok(());
            }
            if Instant::now() >= deadline {
                return Err(ClusterError::Blocked {
                    exit: exit_code::TIMED_OUT,
                    text: "the new node is not ready in Kubernetes; the old one was not drained, and not \
                           removed"
                        .to_owned(),
                });
            }
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                _ = tokio::signal::ctrl_c() => return Err(ClusterError::Blocked {
                    exit: exit_code::INTERRUPTED,
                    text: "interrupted; the old node was not drained, and not removed".to_owned(),
                }),
            }
        }
    }
}

fn is_ready(node: &Value) -> bool {
    let mut conditions = node["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten();
    conditions.any(|one| one["type"] == "Ready" && one["status"] == "True")
}

/// Returns the names of nodes in Kubernetes, by the IDs or the names of their servers.
fn names_of(all: &[Value], nodes: &[ChosenNode]) -> Result<Vec<String>, ClusterError> {
    let name = |node: &Value| node["metadata"]["name"].as_str().map(str::to_owned);
    let find = |chosen: &ChosenNode| node_of(all, chosen).and_then(name);
    nodes
        .iter()
        .map(|chosen| {
            find(chosen).ok_or_else(|| ClusterError::Blocked {
                exit: exit_code::NOT_FOUND,
                text: format!(
                    "Kubernetes has no node for {}, so it cannot be drained; nothing was sent. Where no pods \
                     run on it, add --no-drain",
                    chosen.name
                ),
            })
        })
        .collect()
}

/// Refuses pods that are evicted only if the user accepts a loss.
fn ensure_accepted(pods: &[Value], options: DrainOptions) -> Result<(), ClusterError> {
    let refused = pods.iter().filter_map(|pod| match fate(pod, options) {
        Fate::NeedsUser(reason) => Some(format!("{}: {reason}", name_of(pod))),
        _ => None,
    });
    let refused: Vec<_> = refused.collect();
    if refused.is_empty() {
        return Ok(());
    }
    Err(ClusterError::Blocked {
        exit: exit_code::CONFLICT,
        text: format!(
            "the node cannot be drained; nothing was sent\n  {}\n  Add --force-unmanaged or \
             --delete-emptydir-data to accept the loss",
            refused.join("\n  ")
        ),
    })
}

async fn drain(
    api: &Kubernetes,
    console: &mut Console,
    name: &str,
    options: DrainOptions,
    deadline: Instant,
) -> Result<(), ClusterError> {
    cordon(api, name).await.map_err(|error| failed(&error))?;
    let version = eviction_version(api).await;
    let version = version.map_err(|error| failed(&error))?;
    let mut named: Vec<String> = Vec::new();
    loop {
        let pods = on_node(api, name).await?;
        ensure_accepted(&pods, options)?;
        let mut blocked = Vec::new();
        let mut remaining = Vec::new();
        for pod in &pods {
            match fate(pod, options) {
                Fate::Stays(_) | Fate::NeedsUser(_) => continue,
                Fate::Terminating => {}
                Fate::Evicted => {
                    if let Some(reason) = evict(api, pod, &version).await? {
                        blocked.push(format!("{}: {reason}", name_of(pod)));
                    }
                }
            }
            remaining.push(name_of(pod));
        }
        for text in &blocked {
            if !named.contains(text) {
                console.say(format!("Waiting for {text}"));
                named.push(text.clone());
            }
        }
        if remaining.is_empty() {
            let path = format!("{NODES}/{name}");
            let node = api.get(&path).await.map_err(|error| failed(&error))?;
            let now = on_node(api, name).await?;
            return ensure_drained(&node, &now).map_err(|text| ClusterError::Blocked {
                exit: exit_code::CONFLICT,
                text: format!("{text} It was not removed"),
            });
        }
        if Instant::now() >= deadline {
            return Err(timed_out(name, &blocked, &remaining));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn timed_out(name: &str, blocked: &[String], remaining: &[String]) -> ClusterError {
    let why = if blocked.is_empty() {
        format!("these pods have not ended: {}", names(remaining))
    } else {
        blocked.join("\n  ")
    };
    ClusterError::Blocked {
        exit: exit_code::TIMED_OUT,
        text: format!(
            "{name} was not drained in time, and was not removed\n  {why}\n  {}",
            stays_cordoned(name)
        ),
    }
}

fn stays_cordoned(name: &str) -> String {
    format!("{name} stays cordoned: run the command again, or `kubectl uncordon {name}`")
}

async fn on_node(api: &Kubernetes, name: &str) -> Result<Vec<Value>, ClusterError> {
    let selector = format!("spec.nodeName={name}");
    let listed = api.list(PODS, &[("fieldSelector", &selector)]).await;
    listed.map_err(|error| failed(&error))
}

async fn cordon(api: &Kubernetes, name: &str) -> Result<(), ApiError> {
    let change = json!({"spec": {"unschedulable": true}});
    api.patch(&format!("{NODES}/{name}"), &change).await?;
    Ok(())
}

/// Returns the version in which the cluster takes evictions: `policy/v1` from Kubernetes 1.22 on.
async fn eviction_version(api: &Kubernetes) -> Result<String, ApiError> {
    let resources = api.get("/api/v1").await?;
    let mut listed = resources["resources"].as_array().into_iter().flatten();
    let eviction = listed.find(|resource| resource["name"] == "pods/eviction");
    let version = eviction.and_then(|eviction| eviction["version"].as_str());
    Ok(format!("policy/{}", version.unwrap_or("v1beta1")))
}

/// Requests the eviction of a pod; returns why a budget does not permit it now.
async fn evict(
    api: &Kubernetes,
    pod: &Value,
    version: &str,
) -> Result<Option<String>, ClusterError> {
    let metadata = &pod["metadata"];
    let text = |key: &str| metadata[key].as_str().unwrap_or_default();
    let (namespace, name) = (text("namespace"), text("name"));
    let eviction = json!({"apiVersion": version, "kind": "Eviction",
                          "metadata": {"namespace": namespace, "name": name},
                          "deleteOptions": {"preconditions": {"uid": text("uid")}}});
    let path = format!("/api/v1/namespaces/{namespace}/pods/{name}/eviction");
    let answer = api.submit(&path, &eviction).await;
    let answer = answer.map_err(|error| failed(&error))?;
    match answer.status {
        // it left by itself, or another pod has its name
        200..=299 | 404 | 409 => Ok(None),
        429 => Ok(Some(budget(&answer.body))),
        status => Err(failed(&ApiError::of_answer(status, &answer.body))),
    }
}

fn failed(error: &ApiError) -> ClusterError {
    let exit = match error {
        ApiError::Forbidden(_) => exit_code::FORBIDDEN,
        ApiError::Token(_) | ApiError::Unauthorized => exit_code::SIGN_IN,
        _ => exit_code::UNAVAILABLE,
    };
    let remedy = match error {
        ApiError::Forbidden(_) => "\n  Add --no-drain to remove the node without draining it",
        _ => "",
    };
    ClusterError::Blocked {
        exit,
        text: format!("the node was not drained, and not removed: {error}{remedy}"),
    }
}
