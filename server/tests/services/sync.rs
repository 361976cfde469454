//! The synchronisation of Keystone's projects with a real cluster, by accounts with no more rights
//! than the guide names.
use crate::account;
use crate::{
    own_namespace::{OwnNamespace, Removal},
    stack::Stack,
};
use k8s_openapi::api::{
    authorization::v1::SubjectAccessReview,
    core::v1::Namespace,
    rbac::v1::{ClusterRole, ClusterRoleBinding, RoleBinding},
};
use kube::{Api, ResourceExt as _, api::Patch};
use portico_clock::Clock;
use portico_cluster_sync::reconcile::Pruning;
use portico_cluster_sync::sync::{Options, Outcome, Sync, SyncConfig, SyncError};
use portico_domain::cluster::ClusterRecord;
use portico_openstack::KeystoneConfig;
use portico_openstack::keystone::service_account::ServiceAccountConfig;
use portico_openstack::keystone::{Client, ServiceAccount};
use portico_testkit::{KeystoneAdmin, TestEnv, TestUser};
use serde_json::{Value, json};
use std::path::PathBuf;
use uuid::Uuid;

const EVERYTHING: &str =
    "data-types-to-sync: [projects, role_assignments]\nnamespace-format: 't-sync-%i'";

const RESTRICTED: (&str, &str) = ("pod-security.kubernetes.io/enforce", "restricted");

/// A project and a role of the test's own, with a ClusterRole of the same name.
struct Own {
    stack: Stack,
    namespace: OwnNamespace,
    keystone: KeystoneAdmin,
    reader: TestUser,
    member: TestUser,
    project: String,
    role: String,
    role_name: String,
    kubeconfig: PathBuf,
    _directory: tempfile::TempDir,
    _removal: Removal,
}

impl Own {
    async fn new() -> Self {
        let stack = Stack::open();
        let namespace = stack.namespace("sync").await;
        let keystone = KeystoneAdmin::sign_in(&TestEnv::load().unwrap())
            .await
            .unwrap();
        let reader = keystone.create_user("sync-reader").await.unwrap();
        keystone.grant_system(&reader.id, "reader").await.unwrap();
        let member = keystone.create_user("sync-member").await.unwrap();
        let project = keystone.create_project("sync").await.unwrap();
        let role_name = namespace.name.clone();
        let role = keystone.create_role(&role_name).await.unwrap();
        let directory = tempfile::tempdir().unwrap();
        let kubeconfig = directory.path().join("sync.kubeconfig");
        let account = account::kubeconfig(&stack, &namespace, "sync").await;
        std::fs::write(&kubeconfig, account).unwrap();
        // the second try would synchronise what the first has left
        let removal = Removal::new(
            &stack,
            "KUBE_ADMIN_KUBECONFIG",
            &[
                &format!("namespace/t-sync-{project}"),
                &format!("namespace/{role_name}"),
                &format!("clusterrole/{role_name}"),
                &format!("clusterrole/{role_name}-account"),
                &format!("clusterrolebinding/{role_name}-account"),
                "--timeout=60s",
            ],
        );
        let own = Self {
            stack,
            namespace,
            keystone,
            reader,
            member,
            project,
            role,
            role_name,
            kubeconfig,
            _directory: directory,
            _removal: removal,
        };
        own.cluster_role(
            &own.role_name,
            json!([
                { "apiGroups": [""], "resources": ["pods"], "verbs": ["get"] },
            ]),
        )
        .await;
        own.cluster_role(
            &own.account(),
            json!([
                { "apiGroups": [""], "resources": ["namespaces"],
                  "verbs": ["create", "delete", "get", "list"] },
                { "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["rolebindings"],
                  "verbs": ["create", "delete", "get", "list", "update"] },
                { "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterrolebindings"],
              "verbs": ["list"] },
            { "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"],
                  "resourceNames": [own.role_name], "verbs": ["bind", "get"] },
            ]),
        )
        .await;
        let binding = json!({ "metadata": { "name": own.account() },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                "name": own.account() },
            "subjects": [account::subject(&own.namespace, "sync")] });
        Api::<ClusterRoleBinding>::all(own.namespace.client.clone())
            .create(
                &Default::default(),
                &serde_json::from_value(binding).unwrap(),
            )
            .await
            .unwrap();
        own
    }

    fn account(&self) -> String {
        format!("{}-account", self.role_name)
    }

    async fn cluster_role(&self, name: &str, rules: Value) {
        let role = json!({ "metadata": { "name": name }, "rules": rules });
        Api::<ClusterRole>::all(self.namespace.client.clone())
            .create(&Default::default(), &serde_json::from_value(role).unwrap())
            .await
            .unwrap();
    }

    async fn run(&self, options: Options) -> Outcome {
        self.run_as(&self.reader, EVERYTHING, options)
            .await
            .unwrap()
    }

    async fn run_as(
        &self,
        user: &TestUser,
        config: &str,
        options: Options,
    ) -> Result<Outcome, SyncError> {
        let sync_config = SyncConfig::parse(config).unwrap();
        let mut config = KeystoneConfig::new(self.stack.var("KEYSTONE_URL").parse().unwrap());
        config.service_account = Some(ServiceAccountConfig {
            user: Some(user.name.clone()),
            password_file: Some("unused".into()),
            system: true,
            ..ServiceAccountConfig::default()
        });
        let password = user.password.clone();
        let client = Client::new(&config, Clock::system()).unwrap();
        let account = ServiceAccount::new(&config, client, move |_| Ok(password.clone()));
        let record: ClusterRecord = serde_json::from_value(json!({
            "id": Uuid::new_v4(), "name": "sync", "owner_project": self.project,
            "api_url": self.stack.var("KUBE_API_URL"), "sealing_key_file": "unused",
        }))
        .unwrap();
        let options = Options {
            kubeconfig: self.kubeconfig.clone(),
            namespace_labels: [(RESTRICTED.0.to_owned(), RESTRICTED.1.to_owned())].into(),
            ..options
        };
        Sync::new(record, account.unwrap().unwrap(), sync_config, options)
            .await
            .unwrap()
            .once()
            .await
    }

    /// Does it, and wants no failure.
    async fn sync(&self, pruning: Pruning) -> Outcome {
        let outcome = self
            .run(Options {
                pruning,
                ..Options::default()
            })
            .await;
        assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
        outcome
    }

    fn target(&self) -> String {
        format!("t-sync-{}", self.project)
    }

    async fn target_namespace(&self) -> Option<Namespace> {
        Api::<Namespace>::all(self.namespace.client.clone())
            .get_opt(&self.target())
            .await
            .unwrap()
    }

    fn bindings(&self) -> Api<RoleBinding> {
        Api::namespaced(self.namespace.client.clone(), &self.target())
    }

    fn binding_name(&self) -> String {
        format!("portico-sync-{}", self.role)
    }

    async fn binding(&self) -> Option<RoleBinding> {
        self.bindings().get_opt(&self.binding_name()).await.unwrap()
    }

    async fn grant(&self) {
        self.keystone
            .grant(&self.member.id, &self.project, &self.role)
            .await
            .unwrap();
    }

    async fn revoke(&self) {
        self.keystone
            .revoke(&self.member.id, &self.project, &self.role)
            .await
            .unwrap();
    }

    /// Whether a user with this group may read pods in the project's namespace.
    /// Waits until the API server says so: its authorizer hears of a change a moment later.
    async fn soon_may(&self, namespace: &str, group: &str, allowed: bool) {
        for _ in 0..50 {
            if self.may_in(namespace, group).await == allowed {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        panic!("{group} in {namespace}: still not {allowed}");
    }

    async fn may(&self, group: &str) -> bool {
        self.may_in(&self.target(), group).await
    }

    async fn may_in(&self, namespace: &str, group: &str) -> bool {
        let review: SubjectAccessReview = serde_json::from_value(json!({ "spec": {
            "user": "somebody", "groups": [group],
            "resourceAttributes": { "namespace": namespace, "verb": "get", "resource": "pods" },
        }}))
        .unwrap();
        Api::<SubjectAccessReview>::all(self.namespace.client.clone())
            .create(&Default::default(), &review)
            .await
            .unwrap()
            .status
            .unwrap()
            .allowed
    }

    async fn label(&self, value: Value) {
        let patch = json!({ "metadata": { "labels": { "portico.dev/bind": value } } });
        Api::<Namespace>::all(self.namespace.client.clone())
            .patch(&self.target(), &Default::default(), &Patch::Merge(patch))
            .await
            .unwrap();
    }

    async fn done(self) {
        let delete = Default::default();
        let client = self.namespace.client.clone();
        let _ = Api::<Namespace>::all(client.clone())
            .delete(&self.target(), &delete)
            .await;
        for name in [self.account(), self.role_name.clone()] {
            let _ = Api::<ClusterRole>::all(client.clone())
                .delete(&name, &delete)
                .await;
            let _ = Api::<ClusterRoleBinding>::all(client.clone())
                .delete(&name, &delete)
                .await;
        }
        let _ = self.keystone.delete_project(&self.project).await;
        self.keystone.delete_role(&self.role).await.unwrap();
        for user in [&self.reader, &self.member] {
            self.keystone.delete_user(&user.id).await.unwrap();
        }
        self.namespace.done().await;
    }
}

const NOTHING: Pruning = Pruning {
    bindings: false,
    namespaces: false,
};
const BINDINGS: Pruning = Pruning {
    bindings: true,
    namespaces: false,
};
const ALL: Pruning = Pruning {
    bindings: true,
    namespaces: true,
};

// one test: what it prunes is the whole cluster's
#[tokio::test]
async fn the_cluster_follows_keystone_and_leaves_what_it_did_not_make() {
    let own = Own::new().await;
    own.grant().await;

    // a dry run says it and does nothing
    let outcome = own
        .run(Options {
            dry_run: true,
            pruning: ALL,
            ..Options::default()
        })
        .await;
    let text = outcome.plan.to_string();
    let (namespace, group) = (
        own.target(),
        format!("portico:project:{}:role:{}", own.project, own.role),
    );
    for line in [
        format!("+ Namespace {namespace}\n"),
        format!("+ RoleBinding {namespace}/{}\n", own.binding_name()),
        format!("+   ClusterRole {} for {group}\n", own.role_name),
    ] {
        assert!(text.contains(&line), "{line} in {text}");
    }
    assert!(outcome.done.is_empty());
    assert!(own.target_namespace().await.is_none());

    // the real one does it, and once is enough
    let outcome = own.sync(NOTHING).await;
    assert_eq!(outcome.done.len(), 2, "{:?}", outcome.done);
    let made = own.target_namespace().await.unwrap();
    assert_eq!(made.labels()["portico.dev/project-id"], own.project);
    assert_eq!(made.labels()[RESTRICTED.0], RESTRICTED.1);
    own.soon_may(&own.target(), &group, true).await;
    assert!(
        !own.may(&format!("portico:project:{}:role:other", own.project))
            .await
    );
    assert!(!own.may(&format!("portico:project:{}", own.project)).await);
    let outcome = own.sync(ALL).await;
    assert!(outcome.done.is_empty(), "{:?}", outcome.done);

    // what people make beside it is theirs, a grant of the panel included
    for (name, labels) in [
        ("by-hand", json!({})),
        (
            "by-panel",
            json!({ "app.kubernetes.io/managed-by": "portico" }),
        ),
    ] {
        let binding = json!({ "metadata": { "name": name, "labels": labels },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view" },
            "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "g" }] });
        own.bindings()
            .create(
                &Default::default(),
                &serde_json::from_value(binding).unwrap(),
            )
            .await
            .unwrap();
    }

    // where a mapped group is bound, the role's holders are, for as long as the group is
    let (elsewhere, mapped) = (&own.namespace.name, format!("operators-of-{}", own.project));
    let original = json!({ "metadata": { "name": "operators" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
            "name": own.role_name },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": mapped }] });
    let originals = Api::<RoleBinding>::namespaced(own.namespace.client.clone(), elsewhere);
    originals
        .create(
            &Default::default(),
            &serde_json::from_value(original).unwrap(),
        )
        .await
        .unwrap();
    let mapping = format!(
        "{EVERYTHING}\nrole-mappings: [{{keystone-role: {}, groups: [{mapped}]}}]",
        own.role_name
    );
    for allowed in [true, false] {
        let options = Options {
            pruning: BINDINGS,
            ..Options::default()
        };
        let outcome = own.run_as(&own.reader, &mapping, options).await.unwrap();
        assert_eq!(outcome.done.len(), 1, "{outcome:?}");
        own.soon_may(elsewhere, &group, allowed).await;
        let _ = originals.delete("operators", &Default::default()).await;
    }

    // a binding of ours that another client changed is put right
    let foreign = json!({ "subjects": [{ "apiGroup": "rbac.authorization.k8s.io",
        "kind": "Group", "name": "intruders" }] });
    own.bindings()
        .patch(
            &own.binding_name(),
            &Default::default(),
            &Patch::Merge(foreign),
        )
        .await
        .unwrap();
    own.soon_may(&own.target(), "intruders", true).await;
    let outcome = own.sync(NOTHING).await;
    assert_eq!(outcome.done.len(), 1, "{:?}", outcome.done);
    own.soon_may(&own.target(), "intruders", false).await;
    own.soon_may(&own.target(), &group, true).await;

    // a role that no user has any more is reported, and revoked with --prune
    own.revoke().await;
    let outcome = own.sync(NOTHING).await;
    assert!(outcome.done.is_empty());
    let stale = format!("RoleBinding {namespace}/{}", own.binding_name());
    assert!(
        outcome.plan.stale.contains(&stale),
        "{:?}",
        outcome.plan.stale
    );
    assert!(own.binding().await.is_some());
    own.sync(BINDINGS).await;
    assert!(own.binding().await.is_none());
    for name in ["by-hand", "by-panel"] {
        assert!(
            own.bindings().get_opt(name).await.unwrap().is_some(),
            "{name}"
        );
    }

    // a sync that cannot read all of Keystone does not take that for roles that were taken away
    own.grant().await;
    own.sync(NOTHING).await;
    let options = Options {
        pruning: ALL,
        ..Options::default()
    };
    let error = own
        .run_as(&own.member, EVERYTHING, options)
        .await
        .unwrap_err();
    assert!(matches!(error, SyncError::Keystone(_)), "{error}");
    assert!(own.binding().await.is_some());
    own.revoke().await;
    own.sync(BINDINGS).await;

    // a namespace that was opted out gets nothing
    own.label(json!("false")).await;
    own.grant().await;
    let outcome = own.sync(ALL).await;
    assert!(outcome.done.is_empty(), "{:?}", outcome.done);
    assert!(own.binding().await.is_none());
    own.label(Value::Null).await;
    own.sync(ALL).await;
    assert!(own.binding().await.is_some());

    // a disabled project keeps its namespace; that of a deleted one goes only when that is asked for
    let enabled = |enabled: bool| {
        own.keystone
            .change_project(&own.project, json!({ "enabled": enabled }))
    };
    enabled(false).await.unwrap();
    own.sync(ALL).await;
    assert!(own.binding().await.is_none());
    let stays = own.target_namespace().await.unwrap();
    assert!(stays.metadata.deletion_timestamp.is_none());
    enabled(true).await.unwrap();
    own.keystone.delete_project(&own.project).await.unwrap();
    own.sync(BINDINGS).await;
    let stays = own.target_namespace().await.unwrap();
    assert!(stays.metadata.deletion_timestamp.is_none());
    own.sync(ALL).await;
    let going = own.target_namespace().await;
    assert!(going.is_none_or(|namespace| namespace.metadata.deletion_timestamp.is_some()));
    own.done().await;
}
