//! Whose a cluster or template is, and what Magnum's policy permits the caller. With the token of an
//! administrator, Magnum would read and change those of other projects.
use super::pass_on::{CloudRefusal, of_service};
use crate::service::lifecycle::viewer::Viewer;
use axum::http::StatusCode;
use portico_cache::Cache;
use portico_cluster_operations::Clients;
use portico_lifecycle::rights::Call;
use portico_openstack::{
    magnum::Cluster,
    rest::{Effect, Error, PassedAnswer},
};
use serde_json::Value;
use uuid::Uuid;

/// Clusters that are known to belong to a project, by cluster and the ID of the project: it never changes.
pub type Known = Cache<(Uuid, String), ()>;

/// Returns a cluster of the caller's project.
///
/// # Errors
/// 404, also for a cluster of another project; else that Magnum cannot be asked.
pub async fn own_cluster(
    clients: &Clients,
    viewer: &Viewer,
    cluster: Uuid,
) -> Result<Cluster, CloudRefusal> {
    match clients.magnum.cluster(&viewer.token, cluster).await {
        Ok(found) if viewer.is_of_project(&found) => Ok(found),
        Ok(_) => Err(no_such_cluster(cluster)),
        Err(error) if error.is_not_found() => Err(no_such_cluster(cluster)),
        Err(error) => Err(not_sent(error)),
    }
}

/// Checks that a cluster to read belongs to the caller's project. Magnum is asked about it once; whether the
/// caller may read it, its answer to the read decides.
///
/// # Errors
/// Those of [`own_cluster`].
pub async fn ensure_own(
    clients: &Clients,
    known: &Known,
    viewer: &Viewer,
    cluster: Uuid,
) -> Result<(), CloudRefusal> {
    let key = (cluster, viewer.project_id().to_owned());
    if known.contains_key(&key) {
        return Ok(());
    }
    own_cluster(clients, viewer, cluster).await?;
    known.insert(key, ()).await;
    Ok(())
}

/// Checks that Magnum's policy permits a change of a cluster to the caller, as the panel does.
///
/// # Errors
/// 403 with the rule of the policy.
pub fn ensure_permitted(
    viewer: &Viewer,
    action: &str,
    cluster: &Cluster,
) -> Result<(), CloudRefusal> {
    let creator = Some(cluster.user_id.as_str()).filter(|id| !id.is_empty());
    // a change without a rule of its own needs that of all changes
    let call = call(action).unwrap_or(Call::ChangeCluster);
    match viewer.refusal(call, creator) {
        None => Ok(()),
        Some(reason) => Err(CloudRefusal::new(StatusCode::FORBIDDEN, reason)),
    }
}

/// Returns the call of the policy for a change of a cluster.
pub(super) fn call(action: &str) -> Option<Call> {
    Some(match action {
        "change_cluster" => Call::ChangeCluster,
        "delete_cluster" => Call::DeleteCluster,
        "resize_node_group" => Call::ResizeCluster,
        "upgrade_cluster" => Call::UpgradeCluster,
        "create_node_group" => Call::CreateNodeGroup,
        "change_node_group" => Call::ChangeNodeGroup,
        "delete_node_group" => Call::DeleteNodeGroup,
        "sign_certificate" => Call::SignCertificate,
        "rotate_ca" => Call::RotateCa,
        "rotate_credential" => Call::RotateCredential,
        _ => return None,
    })
}

/// Checks that a template to change belongs to the caller's project, as [`own_cluster`].
///
/// # Errors
/// 403 for one of another project; else that Magnum cannot be asked.
pub async fn is_own_template(
    clients: &Clients,
    viewer: &Viewer,
    id: &str,
) -> Result<(), CloudRefusal> {
    let foreign = || {
        CloudRefusal::new(
            StatusCode::FORBIDDEN,
            "The template does not belong to this project, or is not named by its UUID.",
        )
    };
    let uuid = id.parse().map_err(|_| foreign())?;
    match clients.magnum.template(&viewer.token, uuid).await {
        Ok(found) if is_of_project(&found.project_id, viewer) => Ok(()),
        Ok(_) => Err(foreign()),
        // Magnum's answer to the change is the better one
        Err(error) if error.is_not_found() => Ok(()),
        Err(error) => Err(not_sent(error)),
    }
}

/// Checks that the project may use the template of an answer: a public one, or its own.
///
/// # Errors
/// 404 for a private one of another project.
pub fn ensure_visible(answer: &PassedAnswer, viewer: &Viewer) -> Result<(), CloudRefusal> {
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let is_public = body.get("public").and_then(Value::as_bool) == Some(true);
    let project = body.get("project_id").and_then(Value::as_str);
    let project = project.unwrap_or_default();
    match is_public || is_of_project(project, viewer) {
        true => Ok(()),
        false => Err(CloudRefusal::new(
            StatusCode::NOT_FOUND,
            "ClusterTemplate could not be found.",
        )),
    }
}

/// Returns whether this is the ID of the caller's project; old versions of Magnum name none.
fn is_of_project(project_id: &str, viewer: &Viewer) -> bool {
    project_id.is_empty() || project_id == viewer.project_id()
}

/// Returns Magnum's own answer for a cluster that does not exist.
fn no_such_cluster(cluster: Uuid) -> CloudRefusal {
    CloudRefusal::new(
        StatusCode::NOT_FOUND,
        format!("Cluster {cluster} could not be found."),
    )
}

/// Returns that Magnum did not answer a read, so that the request itself was not sent.
fn not_sent(error: Error) -> CloudRefusal {
    of_service(&Error {
        effect: Effect::None,
        ..error
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::lifecycle::{
        changing_magnum::{CLUSTER, ChangingMagnum, cluster},
        cloud_api::rules::RULES,
    };
    use serde_json::json;

    /// Magnum with a cluster of ada in this project.
    async fn magnum(project: &str) -> ChangingMagnum {
        let mut shop = cluster("shop", "CREATE_COMPLETE");
        shop["project_id"] = json!(project);
        ChangingMagnum::with(vec![shop]).await
    }

    #[tokio::test]
    async fn attack_123_an_administrators_token_reads_no_cluster_of_another_project() {
        for (project, expected) in [
            ("globex", Some(StatusCode::NOT_FOUND)),
            // control cases, the second of an old version
            ("acme", None),
            ("", None),
        ] {
            let magnum = magnum(project).await;
            let root = magnum.viewer("root", &["admin"]);
            let found = ensure_own(&magnum.clients, &Cache::new(9), &root, CLUSTER).await;
            let status = found.err().map(|refusal| refusal.status);
            assert_eq!(status, expected, "{project}");
        }
    }

    #[tokio::test]
    async fn magnum_is_asked_once_whose_a_cluster_is() {
        let magnum = magnum("acme").await;
        let ada = magnum.viewer("ada", &["member", "reader"]);
        let known = Cache::new(9);
        let own = async |known: &Known| ensure_own(&magnum.clients, known, &ada, CLUSTER).await;
        assert_eq!(own(&known).await, Ok(()));
        magnum.clear();
        assert_eq!(own(&known).await, Ok(()));
        let refusal = own(&Cache::new(9)).await.unwrap_err();
        assert_eq!(refusal.status, StatusCode::NOT_FOUND);
    }

    #[tokio::test]
    async fn attack_124_what_the_policy_forbids_is_refused_before_the_journal() {
        let magnum = magnum("acme").await;
        let ada = magnum.viewer("ada", &["member", "reader"]);
        let vera = magnum.viewer("vera", &["reader"]);
        let shop = own_cluster(&magnum.clients, &ada, CLUSTER).await.unwrap();
        let is_of_cluster = |path: &str| path.contains("{cluster}") || path == "certificates";
        let changes = RULES
            .iter()
            .filter(|rule| rule.method != "GET" && is_of_cluster(rule.path));
        for rule in changes {
            assert!(call(rule.name).is_some(), "{}", rule.name);
            let refusal = ensure_permitted(&vera, rule.name, &shop).unwrap_err();
            assert_eq!(refusal.status, StatusCode::FORBIDDEN, "{}", rule.name);
            assert!(refusal.detail.contains("role"), "{}", refusal.detail);
            // control case
            assert_eq!(ensure_permitted(&ada, rule.name, &shop), Ok(()));
        }
        let bob = magnum.viewer("bob", &["member", "reader"]);
        assert!(ensure_permitted(&bob, "sign_certificate", &shop).is_err());
        assert!(ensure_permitted(&vera, "a_later_action", &shop).is_err());
    }

    #[test]
    fn a_private_template_of_another_project_is_not_shown() {
        let root = crate::service::lifecycle::viewer::tests::viewer("root", &["admin"]);
        let shown = |template: Value| {
            let answer = PassedAnswer {
                status: StatusCode::OK,
                request_id: None,
                versions: None,
                body: template.to_string().into_bytes(),
                fault: None,
            };
            ensure_visible(&answer, &root)
        };
        let refusal = shown(json!({"public": false, "project_id": "globex"})).unwrap_err();
        assert_eq!(refusal.status, StatusCode::NOT_FOUND);
        for template in [
            json!({"public": true, "project_id": "globex"}),
            json!({"public": false, "project_id": "acme"}),
            json!({"errors": [{"detail": "ClusterTemplate x could not be found."}]}),
        ] {
            assert_eq!(shown(template.clone()), Ok(()), "{template}");
        }
    }
}
