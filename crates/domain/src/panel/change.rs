//! Changes of single objects by one click, and the kubectl commands that do the same.
use super::{Action, DrainOptions, ObjectRef, ResourceKind};
use serde::{Deserialize, Serialize};

/// A change without arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateChange {
    /// Pauses the rollout of a Deployment.
    Pause,
    Resume,
    /// Stops a CronJob from starting jobs.
    Suspend,
    Unsuspend,
    /// Creates a Job from a CronJob now.
    RunNow,
    /// Keeps new pods from a node.
    Cordon,
    Uncordon,
}

impl StateChange {
    /// Returns the action that offers the change.
    pub fn action(self) -> Action {
        match self {
            Self::Pause => Action::Pause,
            Self::Resume => Action::Resume,
            Self::Suspend => Action::Suspend,
            Self::Unsuspend => Action::Unsuspend,
            Self::RunNow => Action::RunNow,
            Self::Cordon => Action::Cordon,
            Self::Uncordon => Action::Uncordon,
        }
    }

    /// Returns the change that an action requests.
    pub fn of_action(action: Action) -> Option<Self> {
        [
            Self::Pause,
            Self::Resume,
            Self::Suspend,
            Self::Unsuspend,
            Self::RunNow,
            Self::Cordon,
            Self::Uncordon,
        ]
        .into_iter()
        .find(|change| change.action() == action)
    }

    /// Returns the name in audit lines and addresses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Suspend => "suspend",
            Self::Unsuspend => "unsuspend",
            Self::RunNow => "run_now",
            Self::Cordon => "cordon",
            Self::Uncordon => "uncordon",
        }
    }
}

/// A command of kubectl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kubectl {
    Change(StateChange),
    Scale(i64),
    Restart,
    Delete,
    RollBack(i64),
    Edit,
    Drain(DrainOptions),
    /// Forwards a local port to a port of a pod or Service.
    PortForward(u16),
}

impl Kubectl {
    /// Returns the command line for an object.
    pub fn line(&self, object: &ObjectRef, kind: &ResourceKind) -> String {
        let name = quoted(&object.name);
        let target = format!("{}/{name}", resource(kind));
        let namespace = match &object.namespace {
            Some(namespace) => format!(" -n {}", quoted(namespace)),
            None => String::new(),
        };
        let patch = |body: &str| format!("patch {target} --type merge -p '{body}'");
        let command = match self {
            Self::Change(StateChange::Pause) => format!("rollout pause {target}"),
            Self::Change(StateChange::Resume) => format!("rollout resume {target}"),
            Self::Change(StateChange::Suspend) => patch(r#"{"spec":{"suspend":true}}"#),
            Self::Change(StateChange::Unsuspend) => patch(r#"{"spec":{"suspend":false}}"#),
            Self::Change(StateChange::RunNow) => {
                format!("create job {name}-manual --from={target}")
            }
            Self::Change(StateChange::Cordon) => format!("cordon {name}"),
            Self::Change(StateChange::Uncordon) => format!("uncordon {name}"),
            Self::Scale(replicas) => format!("scale {target} --replicas={replicas}"),
            Self::Restart => format!("rollout restart {target}"),
            Self::Delete => format!("delete {target}"),
            Self::RollBack(revision) => format!("rollout undo {target} --to-revision={revision}"),
            Self::Edit => format!("edit {target}"),
            Self::Drain(options) => {
                let force = if options.unmanaged { " --force" } else { "" };
                let local_data = if options.local_data {
                    " --delete-emptydir-data"
                } else {
                    ""
                };
                format!("drain {name} --ignore-daemonsets{local_data}{force}")
            }
            Self::PortForward(port) => {
                format!("port-forward {target} {}:{port}", local_port(*port))
            }
        };
        format!("kubectl {command}{namespace}")
    }
}

/// Returns the command that edits an object whose kind is known by its plural only.
pub fn edit_command(object: &ObjectRef) -> String {
    let kind = match object.resource.group.as_str() {
        "" => object.resource.plural.clone(),
        group => format!("{}.{group}", object.resource.plural),
    };
    let namespace = match &object.namespace {
        Some(namespace) => format!(" -n {}", quoted(namespace)),
        None => String::new(),
    };
    format!("kubectl edit {kind}/{}{namespace}", quoted(&object.name))
}

/// Returns the local port for a forwarded one: the same, or 8000 more if only root may listen on it.
pub fn local_port(port: u16) -> u16 {
    if port < 1024 { port + 8000 } else { port }
}

/// Returns the kind as kubectl finds it without ambiguity: `deployment`, `widgets.example.org`.
pub(super) fn resource(kind: &ResourceKind) -> String {
    match kind.group.as_str() {
        "" | "apps" | "batch" => kind.kind.to_lowercase(),
        group => format!("{}.{group}", kind.plural),
    }
}

/// Returns a word for a POSIX shell.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:/@".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::ResourceRef;

    fn line(command: &Kubectl, group: &str, kind: &str, plural: &str, name: &str) -> String {
        let object = ObjectRef {
            resource: ResourceRef::new(group, "v1", plural),
            namespace: (kind != "Node").then(|| "shop".to_owned()),
            name: name.to_owned(),
        };
        let kind = ResourceKind {
            group: group.to_owned(),
            version: "v1".to_owned(),
            plural: plural.to_owned(),
            kind: kind.to_owned(),
            namespaced: true,
            verbs: Vec::new(),
            short_names: Vec::new(),
        };
        command.line(&object, &kind)
    }

    #[test]
    fn need_30_every_change_has_its_kubectl_command() {
        let deployment =
            |command: Kubectl| line(&command, "apps", "Deployment", "deployments", "web");
        assert_eq!(
            deployment(Kubectl::Change(StateChange::Pause)),
            "kubectl rollout pause deployment/web -n shop"
        );
        assert_eq!(
            deployment(Kubectl::Scale(3)),
            "kubectl scale deployment/web --replicas=3 -n shop"
        );
        assert_eq!(
            deployment(Kubectl::RollBack(2)),
            "kubectl rollout undo deployment/web --to-revision=2 -n shop"
        );
        let cordon = Kubectl::Change(StateChange::Cordon);
        assert_eq!(
            line(&cordon, "", "Node", "nodes", "node-1"),
            "kubectl cordon node-1"
        );
        let drain = Kubectl::Drain(DrainOptions {
            unmanaged: false,
            local_data: true,
        });
        assert_eq!(
            line(&drain, "", "Node", "nodes", "node-1"),
            "kubectl drain node-1 --ignore-daemonsets --delete-emptydir-data"
        );
        let widget = line(&Kubectl::Delete, "example.org", "Widget", "widgets", "a");
        assert_eq!(widget, "kubectl delete widgets.example.org/a -n shop");
    }

    #[test]
    fn need_14_a_port_is_forwarded_to_one_that_users_may_listen_on() {
        let forward = Kubectl::PortForward;
        assert_eq!(
            line(&forward(80), "", "Service", "services", "web"),
            "kubectl port-forward service/web 8080:80 -n shop"
        );
        assert_eq!(
            line(&forward(8443), "", "Pod", "pods", "web-1"),
            "kubectl port-forward pod/web-1 8443:8443 -n shop"
        );
        assert_eq!(local_port(1023), 9023);
        assert_eq!(local_port(1024), 1024);
        assert_eq!(local_port(u16::MAX), u16::MAX);
    }

    #[test]
    fn a_name_that_a_shell_would_interpret_is_quoted() {
        let role = "a b;'c'$(d)";
        let group = "rbac.authorization.k8s.io";
        let command = line(&Kubectl::Delete, group, "Role", "roles", role);
        assert_eq!(
            command,
            r"kubectl delete roles.rbac.authorization.k8s.io/'a b;'\''c'\''$(d)' -n shop"
        );
    }

    #[test]
    fn each_change_is_offered_by_one_action() {
        for change in [
            StateChange::Pause,
            StateChange::RunNow,
            StateChange::Uncordon,
        ] {
            assert_eq!(StateChange::of_action(change.action()), Some(change));
        }
        assert_eq!(StateChange::of_action(Action::Delete), None);
    }
}
