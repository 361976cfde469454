//! Rights: what the engine predicts for each call and each of five users is what Magnum answers.
use crate::creation::new_template;
use crate::local::certificate_request;
use crate::tenant::{FULL, Tenant};
use portico_lifecycle::rights::{CALLS, Call, Caller, Owner, Permission, permission};
use portico_openstack::magnum::{
    Authority, ClusterChange, HealthStatus, NewCluster, NewClusterTemplate, NewNodeGroup,
    NodeGroupChange, PatchOperation, Resize, Upgrade,
};
use portico_openstack::rest::{Error, ErrorKind, ScopedToken};
use portico_testkit::TestUser;
use std::sync::Arc;
use tokio::task::JoinSet;
use uuid::Uuid;

/// What the calls are about. The creation of the clusters never gets further than its first step, so
/// Magnum refuses, or accepts and ignores, whatever its policy permits.
struct Objects {
    template: Uuid,
    cluster: Uuid,
    group: Uuid,
    new_cluster: NewCluster,
    certificate_request: String,
}

/// One of the five.
struct User {
    name: &'static str,
    id: String,
    token: ScopedToken,
    roles: Vec<String>,
    /// The cluster that this user tries to delete.
    doomed: Uuid,
}

#[tokio::test]
async fn the_prediction_for_five_users_and_every_call_is_what_magnum_answers() {
    Tenant::run(|tenant| async move {
        let objects = Arc::new(make_objects(&tenant).await);
        let other = tenant.admin.create_project("stranger").await.unwrap();
        let stranger = tenant.user_in(&other, "member").await;
        let own = tenant.project.clone();
        let users: [(&str, TestUser, &String, bool); 5] = [
            ("reader", tenant.user("reader").await, &own, false),
            ("member", tenant.user("member").await, &own, true),
            ("creator", tenant.member.clone(), &own, true),
            ("admin", tenant.user("admin").await, &own, true),
            ("stranger", stranger, &other, false),
        ];
        let mut tasks = JoinSet::new();
        for (name, user, project, may_delete) in users {
            let doomed = match may_delete {
                true => stalled(&tenant, &format!("doomed-{name}")).await,
                false => objects.cluster,
            };
            let (token, roles) = tenant.sign_in(&user, project).await;
            let user = User {
                name,
                id: user.id,
                token,
                roles,
                doomed,
            };
            let (tenant, objects) = (Arc::clone(&tenant), Arc::clone(&objects));
            tasks.spawn_local(async move { compare(&tenant, &objects, &user).await });
        }
        let mut compared = tasks.join_all().await;
        compared.sort_by_key(|(name, _, _)| *name);
        let permitted = compared.iter().map(|(name, count, _)| (*name, *count));
        let permitted: Vec<_> = permitted.collect();
        let differences: Vec<_> = compared.iter().flat_map(|(_, _, found)| found).collect();
        assert!(differences.is_empty(), "{differences:#?}");
        let expected = [
            ("admin", 25),
            ("creator", 22),
            ("member", 20),
            ("reader", 7),
            ("stranger", 4),
        ];
        assert_eq!(permitted, expected);
        tenant.admin.delete_project(&other).await.unwrap();
    })
    .await;
}

async fn make_objects(tenant: &Tenant) -> Objects {
    let new = NewClusterTemplate {
        name: Some(tenant.name("rights")),
        ..new_template()
    };
    let template = tenant.magnum.create_template(&tenant.token, &new).await;
    let cluster = stalled(tenant, "rights").await;
    let groups = tenant.magnum.node_groups(&tenant.token, cluster).await;
    let groups = groups.unwrap().items;
    let workers = groups.iter().find(|group| group.role == "worker");
    let mut new_cluster = tenant.new_cluster("refused", FULL, &[]).await;
    // unknown to Nova: refused after the policy was asked
    new_cluster.flavor_id = Some("nosuch".to_owned());
    Objects {
        template: template.unwrap().uuid,
        cluster,
        group: workers.unwrap().uuid,
        new_cluster,
        certificate_request: certificate_request(tenant).await,
    }
}

/// Creates a cluster from the template `rights` that stays in its creation, and can be deleted.
async fn stalled(tenant: &Tenant, prefix: &str) -> Uuid {
    let labels = [("sim_stall", "credential")];
    let (name, template) = (tenant.name(prefix), tenant.name("rights"));
    tenant.make(&name, &template, &labels).await.uuid
}

/// Makes every call as a user. Returns the user's name, the number of calls that are permitted, and
/// those about which engine and Magnum differ.
async fn compare(
    tenant: &Tenant,
    objects: &Objects,
    user: &User,
) -> (&'static str, usize, Vec<String>) {
    let caller = Caller {
        user_id: &user.id,
        project_id: &user.token.project_id,
        roles: &user.roles,
    };
    let owner = Owner {
        project_id: &tenant.project,
        user_id: &tenant.member.id,
    };
    // the deletion is the last one
    let (last, calls): (Vec<_>, Vec<_>) = CALLS
        .into_iter()
        .partition(|call| *call == Call::DeleteCluster);
    let (mut permitted, mut differences) = (0, Vec::new());
    for call in calls.into_iter().chain(last) {
        let predicted = permission(caller, call, owner);
        let result = send(tenant, objects, user, call).await;
        let answer = answer(&result);
        if answer == Some(Permission::Permitted) {
            permitted += 1;
        }
        if answer != Some(predicted) {
            differences.push(format!(
                "{} {call:?}: predicted {predicted:?}, Magnum {result:?}",
                user.name
            ));
        }
    }
    (user.name, permitted, differences)
}

/// Returns what an answer says about the policy; `None`: nothing.
fn answer(result: &Result<(), Error>) -> Option<Permission> {
    let error = match result {
        Ok(()) => return Some(Permission::Permitted),
        Err(error) => error,
    };
    match &error.kind {
        ErrorKind::Forbidden(_) => Some(Permission::Forbidden),
        ErrorKind::NotFound(_) => Some(Permission::Hidden),
        // to certificate requests Magnum answers 400 where others get 404
        ErrorKind::Invalid(text) if text.contains("could not be found") => Some(Permission::Hidden),
        // it reads the project of a quota with the caller's token before its policy, and fails at Keystone's
        ErrorKind::Fault { message, .. } if message.contains("identity:get_project") => {
            Some(Permission::Forbidden)
        }
        // refused for another reason, after the policy was asked
        ErrorKind::Invalid(_) | ErrorKind::Conflict(_) => Some(Permission::Permitted),
        _ => None,
    }
}

async fn send(tenant: &Tenant, objects: &Objects, user: &User, call: Call) -> Result<(), Error> {
    let (magnum, token) = (&tenant.magnum, &user.token);
    let (cluster, group, template) = (objects.cluster, objects.group, objects.template);
    match call {
        Call::ListClusters => magnum.clusters(token).await.map(drop),
        Call::ShowCluster => magnum.cluster(token, cluster).await.map(drop),
        Call::CreateCluster => {
            let created = magnum.create_cluster(token, &objects.new_cluster).await;
            created.map(drop)
        }
        Call::ChangeCluster => {
            let change = ClusterChange {
                health_status: Some(HealthStatus::Unhealthy),
                ..ClusterChange::default()
            };
            magnum.change_cluster(token, cluster, &change).await
        }
        Call::ResizeCluster => {
            let resize = Resize {
                node_count: 2,
                nodes_to_remove: Vec::new(),
                node_group: None,
            };
            magnum.resize_cluster(token, cluster, &resize).await
        }
        Call::UpgradeCluster => {
            let upgrade = Upgrade {
                cluster_template: template,
                node_group: group,
                max_batch_size: 1,
            };
            magnum.upgrade_cluster(token, cluster, &upgrade).await
        }
        Call::DeleteCluster => magnum.delete_cluster(token, user.doomed).await,
        Call::ListNodeGroups => magnum.node_groups(token, cluster).await.map(drop),
        Call::ShowNodeGroup => magnum.node_group(token, cluster, group).await.map(drop),
        Call::CreateNodeGroup => {
            let new = NewNodeGroup {
                name: "extra".to_owned(),
                node_count: Some(1),
                ..NewNodeGroup::default()
            };
            let created = magnum.create_node_group(token, cluster, &new).await;
            created.map(drop)
        }
        Call::ChangeNodeGroup => {
            let change = NodeGroupChange {
                min_node_count: Some(1),
                ..NodeGroupChange::default()
            };
            magnum
                .change_node_group(token, cluster, group, &change)
                .await
        }
        Call::DeleteNodeGroup => magnum.delete_node_group(token, cluster, group).await,
        _ => send_further(tenant, objects, user, call).await,
    }
}

/// Sends what is not about clusters and node groups.
async fn send_further(
    tenant: &Tenant,
    objects: &Objects,
    user: &User,
    call: Call,
) -> Result<(), Error> {
    let (magnum, token) = (&tenant.magnum, &user.token);
    let (cluster, template) = (objects.cluster, objects.template);
    match call {
        Call::ReadAuthority => {
            let read = magnum.authority(token, cluster, Authority::Kubernetes);
            read.await.map(drop)
        }
        Call::SignCertificate => {
            let request = &objects.certificate_request;
            let signed = magnum.sign_certificate(token, cluster, request, Authority::Kubernetes);
            signed.await.map(drop)
        }
        Call::RotateCa => magnum.rotate_authorities(token, cluster).await,
        Call::RotateCredential => magnum.rotate_credential(token, cluster).await,
        Call::ListTemplates => magnum.templates(token).await.map(drop),
        Call::ShowTemplate => magnum.template(token, template).await.map(drop),
        Call::CreateTemplate => {
            let new = NewClusterTemplate {
                name: Some("refused".to_owned()),
                flavor_id: Some("nosuch".to_owned()),
                ..new_template()
            };
            magnum.create_template(token, &new).await.map(drop)
        }
        Call::ChangeTemplate => {
            let change = [PatchOperation::set("tags", "rights")];
            let changed = magnum.change_template(token, template, &change).await;
            changed.map(drop)
        }
        Call::DeleteTemplate => magnum.delete_template(token, template).await,
        Call::PublishTemplate => {
            let new = NewClusterTemplate {
                name: Some(tenant.name("published")),
                public: Some(true),
                ..new_template()
            };
            let published = magnum.create_template(token, &new).await?;
            magnum.delete_template(token, published.uuid).await
        }
        Call::ReadQuota => magnum.quota(token, &tenant.project).await.map(drop),
        Call::SetQuota => {
            let project = &tenant.project;
            magnum.create_quota(token, project, 9).await?;
            magnum.delete_quota(token, project).await
        }
        Call::ListConductors => magnum.conductors(token).await.map(drop),
        other => panic!("{other:?} is sent elsewhere"),
    }
}
