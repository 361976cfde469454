use super::check::{CloudRequest, NotPermitted, Subject, check};
use super::pass_on::{of_service, outcome};
use super::protected;
use super::rules::RULES;
use crate::service::{
    error::ServiceError,
    lifecycle::{
        changing_magnum::{ChangingMagnum, cluster, error},
        error::tests::failed,
        journal::RequestOutcome,
    },
};
use app::error::UiErrorKind;
use axum::http::{Method, StatusCode};
use portico_openstack::{
    keystone::error::Unavailable,
    rest::{Effect, ErrorKind, PassedAnswer, PassedPath, Service},
};
use serde_json::{Value, json};
use uuid::Uuid;

const PROJECT: &str = "915d66fac5204c35aa2ac52c13254e05";
const CLUSTER: &str = "900e3758-8071-430e-a8cf-5c48f428dc0e";

fn request(method: Method, path: &str, body: &Value) -> CloudRequest {
    let (path, query) = match path.split_once('?') {
        Some((path, query)) => (path, Some(query.to_owned())),
        None => (path, None),
    };
    CloudRequest {
        method,
        path: path.to_owned(),
        query,
        version: Some("container-infra 1.14".to_owned()),
        body: match body {
            Value::Null => Vec::new(),
            body => body.to_string().into_bytes(),
        },
        reason: None,
    }
}

fn refused(method: Method, path: &str) -> Option<NotPermitted> {
    check(&request(method, path, &Value::Null), PROJECT).err()
}

/// Returns the action, the cluster and the target of a change.
fn change(method: Method, path: &str, body: &Value) -> (&'static str, Subject, String) {
    let checked = check(&request(method, path, body), PROJECT).unwrap();
    let change = checked.change.unwrap();
    (change.action, change.subject, change.target)
}

#[test]
fn calls_of_the_command_line_are_passed_on() {
    let path = format!("container-infra/v1/clusters/{CLUSTER}/nodegroups?limit=500&marker=a%26b");
    let checked = check(&request(Method::GET, &path, &Value::Null), PROJECT).unwrap();
    assert_eq!(checked.change, None);
    assert_eq!(checked.call.service, Service::Magnum);
    assert_eq!(
        checked.call.path,
        PassedPath::Api(format!("clusters/{CLUSTER}/nodegroups"))
    );
    assert_eq!(
        checked.call.query,
        [("limit", "500".to_owned()), ("marker", "a&b".to_owned())]
    );
    for path in [
        "container-infra/",
        "container-infra/v1/",
        "container-infra/v1/clusters/detail",
        "compute/v2.1/limits",
        "block-storage/v3/volumes/detail?limit=500",
        "image/v2/images",
    ] {
        assert_eq!(refused(Method::GET, path), None, "{path}");
    }
    for path in [
        format!("network/v2.0/quotas/{PROJECT}/details.json"),
        format!("load-balancer/v2/lbaas/loadbalancers?project_id={PROJECT}"),
    ] {
        assert_eq!(refused(Method::GET, &path), None, "{path}");
    }
}

#[test]
fn attack_116_a_path_that_leads_elsewhere_is_refused() {
    for path in [
        "container-infra/v1/../v3/auth/tokens",
        "container-infra/v1/clusters/../quotas",
        "container-infra/v1/clusters/..",
        "container-infra/v1/clusters/%2e%2e",
        "container-infra/v1/clusters/a%2fb",
        "container-infra/v1/clusters//detail",
        "container-infra/v1/clusters/detail/",
        "container-infra/v1//clusters/detail",
        "container-infra/v1/clusters\\detail",
        "container-infra/v1@evil.example/clusters/detail",
        "container-infra/../compute/v2.1/limits",
        "container-infra//",
        "/container-infra/v1/clusters/detail",
        "http://evil.example/container-infra/v1/clusters/detail",
        "container-infra/v1/clusters/detail;x",
        "container-infra/v1/clusters/detail#x",
        "container-infra/v1/Clusters/detail",
    ] {
        assert_eq!(
            refused(Method::GET, path),
            Some(NotPermitted::Call),
            "{path}"
        );
    }
}

#[test]
fn attack_117_an_unknown_service_or_call_is_refused() {
    for path in [
        "",
        "identity/v3/users",
        "key-manager/v1/secrets",
        "object-store/v1/AUTH_p",
        "container-infra",
        "container-infra/v1",
        "container-infra/v2/clusters/detail",
        "container-infra/v1/federations",
        "container-infra/v1/clusters",
        "compute/v2.1/servers",
        "compute/v2.1/os-hypervisors",
        "compute/v2/limits",
        "network/v2.0/quotas/another/details.json",
        "load-balancer/v2/lbaas/quotas/another",
        "image/v2/images/detail",
    ] {
        let expected = match path {
            // it is known, with another method
            "container-infra/v1/clusters" => NotPermitted::Method,
            _ => NotPermitted::Call,
        };
        assert_eq!(refused(Method::GET, path), Some(expected), "{path}");
    }
}

#[test]
fn attack_117_the_other_services_are_only_read() {
    for rule in RULES.iter().filter(|rule| rule.service != Service::Magnum) {
        assert_eq!(rule.method, "GET", "{}", rule.path);
        let path = format!("{}/{}", rule.service.gateway_path(), rule.path);
        let path = path.replace("{project}", PROJECT);
        assert_eq!(
            refused(Method::GET, &path),
            None,
            "the control case: {path}"
        );
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            assert_eq!(refused(method, &path), Some(NotPermitted::Method), "{path}");
        }
    }
    for method in [Method::HEAD, Method::OPTIONS, Method::PUT, Method::TRACE] {
        let path = "container-infra/v1/clusters/detail";
        assert_eq!(refused(method, path), Some(NotPermitted::Method));
    }
}

#[test]
fn attack_117_arguments_headers_and_bodies_that_no_call_has_are_refused() {
    let path = "container-infra/v1/clusters/detail";
    for query in ["all_tenants=1", "limit=1&x=2", "Limit=1"] {
        let path = format!("{path}?{query}");
        assert_eq!(refused(Method::GET, &path), Some(NotPermitted::Query));
    }
    let with_body = request(Method::GET, path, &json!({}));
    assert_eq!(check(&with_body, PROJECT), Err(NotPermitted::Body));
    let mut not_json = request(Method::POST, "container-infra/v1/clusters", &json!({}));
    not_json.body = b"name=shop".to_vec();
    assert_eq!(check(&not_json, PROJECT), Err(NotPermitted::Body));
    for version in ["1.14\r\nx: y", "latest;", &"1".repeat(65)] {
        let mut request = request(Method::GET, path, &Value::Null);
        request.version = Some(version.to_owned());
        assert_eq!(check(&request, PROJECT), Err(NotPermitted::Version));
    }
}

#[test]
fn a_refusal_is_never_taken_for_a_missing_cluster() {
    for refused in [
        NotPermitted::Call,
        NotPermitted::Method,
        NotPermitted::Query,
        NotPermitted::Cluster,
    ] {
        assert_ne!(refused.status(), StatusCode::NOT_FOUND);
        assert!(refused.status().is_client_error());
    }
}

#[test]
fn a_change_has_the_action_of_the_journal() {
    let magnum = |path: &str| format!("container-infra/v1/{path}");
    let of_cluster = Subject::Cluster(CLUSTER.parse().unwrap());
    let at = |below: &str| magnum(&format!("clusters/{CLUSTER}{below}"));
    for (method, path, body, expected) in [
        (
            Method::POST,
            magnum("clusters"),
            json!({"name": "shop"}),
            ("create_cluster", Subject::NewCluster, "shop"),
        ),
        (
            Method::DELETE,
            at(""),
            Value::Null,
            ("delete_cluster", of_cluster, ""),
        ),
        (
            Method::POST,
            at("/actions/resize"),
            json!({"node_count": 3, "nodegroup": "gpu"}),
            ("resize_node_group", of_cluster, "gpu"),
        ),
        (
            Method::POST,
            at("/actions/upgrade"),
            json!({"cluster_template": "t2"}),
            ("upgrade_cluster", of_cluster, "t2"),
        ),
        (
            Method::POST,
            at("/nodegroups"),
            json!({"name": "gpu"}),
            ("create_node_group", of_cluster, "gpu"),
        ),
        (
            Method::DELETE,
            at("/nodegroups/g-1"),
            Value::Null,
            ("delete_node_group", of_cluster, "g-1"),
        ),
        (
            Method::POST,
            magnum("certificates"),
            json!({"cluster_uuid": CLUSTER, "csr": "x"}),
            ("sign_certificate", of_cluster, ""),
        ),
        (
            Method::PATCH,
            magnum(&format!("certificates/{CLUSTER}")),
            Value::Null,
            ("rotate_ca", of_cluster, ""),
        ),
        (
            Method::DELETE,
            magnum("clustertemplates/t1"),
            Value::Null,
            ("delete_template", Subject::Other, "t1"),
        ),
    ] {
        let (action, subject, target) = change(method, &path, &body);
        assert_eq!((action, subject, target.as_str()), expected, "{path}");
    }
}

#[test]
fn what_a_user_accepts_with_a_deletion_is_recorded_and_not_sent_to_magnum() {
    let at = |query: &str| format!("container-infra/v1/clusters/{CLUSTER}{query}");
    let checked = |path: &str| check(&request(Method::DELETE, path, &Value::Null), PROJECT);
    let deletion = checked(&at("?accepted=services%2Cclaims")).unwrap();
    assert!(deletion.call.query.is_empty());
    let target = deletion.change.unwrap().target;
    let words = "Services and PersistentVolumeClaims of other namespaces may be left";
    assert!(target.ends_with(words), "{target}");
    for query in [
        "?accepted=",
        "?accepted=everything",
        "?accepted=services&accepted=claims",
        "?force=1",
    ] {
        assert_eq!(checked(&at(query)), Err(NotPermitted::Query), "{query}");
    }
    // it is an argument of the deletion of a cluster alone
    let group = at("/nodegroups/g-1?accepted=services");
    assert_eq!(checked(&group), Err(NotPermitted::Query));
}

#[test]
fn attack_117_a_change_names_its_cluster_by_the_uuid() {
    for cluster in ["shop", "900e37588071430ea8cf5c48f428dc0e", "detail"] {
        let path = format!("container-infra/v1/clusters/{cluster}");
        assert!(refused(Method::DELETE, &path).is_some(), "{cluster}");
    }
    for body in [
        json!({"csr": "x"}),
        json!({"cluster_uuid": "shop"}),
        json!({"cluster_uuid": ["x"]}),
        json!([]),
    ] {
        let sign = request(Method::POST, "container-infra/v1/certificates", &body);
        assert_eq!(check(&sign, PROJECT), Err(NotPermitted::Cluster), "{body}");
    }
}

#[test]
fn case_53_a_protected_cluster_is_not_deleted_by_the_command_line() {
    let at = |below: &str| format!("container-infra/v1/clusters/{CLUSTER}{below}");
    let changing = |method: Method, path: String| {
        let checked = check(&request(method, &path, &Value::Null), PROJECT).unwrap();
        checked.change.unwrap()
    };
    let deletion = changing(Method::DELETE, at(""));
    let cluster: Uuid = CLUSTER.parse().unwrap();
    assert_eq!(protected::deleted(&deletion), Some(cluster));
    // the protection is of the cluster, and not of its node groups
    let group = changing(Method::DELETE, at("/nodegroups/g-1"));
    assert_eq!(protected::deleted(&group), None);
    let template = changing(
        Method::DELETE,
        "container-infra/v1/clustertemplates/t1".to_owned(),
    );
    assert_eq!(protected::deleted(&template), None);

    assert_eq!(protected::refusal(Ok(false)), None);
    let refused = protected::refusal(Ok(true)).unwrap();
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(refused.detail.contains("Remove the protection"));
}

#[test]
fn a_cluster_of_which_the_protection_is_not_known_is_not_deleted() {
    let unknown = ServiceError::new(UiErrorKind::Unavailable, "The store does not answer.")
        .next("Try again in a minute.");
    let refused = protected::refusal(Err(unknown)).unwrap();
    // the command line concludes that nothing was sent
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    let text = "The deletion was not sent. The store does not answer. Try again in a minute.";
    assert_eq!(refused.detail, text);
}

fn answered(status: u16, fault: Option<&str>) -> PassedAnswer {
    PassedAnswer {
        status: StatusCode::from_u16(status).unwrap(),
        request_id: None,
        versions: None,
        body: Vec::new(),
        fault: fault.map(str::to_owned),
    }
}

#[test]
fn the_journal_has_what_became_of_a_change() {
    for (status, expected) in [
        (202, RequestOutcome::Accepted),
        (204, RequestOutcome::Accepted),
        (409, RequestOutcome::Refused),
        (404, RequestOutcome::Refused),
        (503, RequestOutcome::Failed),
        (500, RequestOutcome::Unknown),
        (504, RequestOutcome::Unknown),
    ] {
        assert_eq!(outcome(&Ok(answered(status, None))).0, expected, "{status}");
    }
    let (_, text) = outcome(&Ok(answered(409, Some("it is busy"))));
    assert_eq!(text.as_deref(), Some("It is busy."));
    let mut lost = failed(ErrorKind::Unavailable(Unavailable::Timeout));
    assert_eq!(outcome(&Err(lost.clone())).0, RequestOutcome::Failed);
    assert_eq!(of_service(&lost).status, StatusCode::SERVICE_UNAVAILABLE);
    lost.effect = Effect::Unknown;
    assert_eq!(of_service(&lost).status, StatusCode::GATEWAY_TIMEOUT);
    assert_eq!(outcome(&Err(lost)).0, RequestOutcome::Unknown);
}

#[tokio::test]
async fn a_checked_call_reaches_magnum_with_the_token_of_the_viewer() {
    let magnum = ChangingMagnum::start(vec![cluster("shop", "CREATE_COMPLETE")], |request, _| {
        (request.method == "PATCH").then(|| (409, error("It is busy.")))
    })
    .await;
    let viewer = magnum.viewer("ada", &["member"]);
    let send = async |method: Method, path: String| {
        let checked = check(&request(method, &path, &Value::Null), viewer.project_id()).unwrap();
        let rest = &magnum.clients.rest;
        rest.pass_on(&viewer.token, checked.call).await.unwrap()
    };
    let found = send(
        Method::GET,
        format!("container-infra/v1/clusters/{CLUSTER}"),
    )
    .await;
    let found: Value = serde_json::from_slice(&found.body).unwrap();
    assert_eq!(found["name"], "shop");
    let refused = send(
        Method::PATCH,
        format!("container-infra/v1/certificates/{CLUSTER}"),
    )
    .await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert_eq!(refused.fault.as_deref(), Some("It is busy."));
    assert_eq!(magnum.calls(), [format!("PATCH certificates/{CLUSTER}")]);
    assert_eq!(found["uuid"], json!(CLUSTER.parse::<Uuid>().unwrap()));
}

#[test]
fn attack_119_a_body_cannot_name_another_cluster_than_the_path() {
    for (method, path) in [
        (
            Method::DELETE,
            format!("container-infra/v1/clusters/{CLUSTER}"),
        ),
        (
            Method::DELETE,
            format!("container-infra/v1/clusters/{CLUSTER}/nodegroups/gpu"),
        ),
        (
            Method::PATCH,
            format!("container-infra/v1/certificates/{CLUSTER}"),
        ),
        (
            Method::PATCH,
            format!("container-infra/v1/credentials/{CLUSTER}"),
        ),
        (
            Method::DELETE,
            format!("container-infra/v1/clustertemplates/{CLUSTER}"),
        ),
    ] {
        let body = json!({"cluster_ident": "protected", "cluster_id": "protected"});
        let refused = check(&request(method.clone(), &path, &body), PROJECT);
        assert_eq!(refused.err(), Some(NotPermitted::Body), "{method} {path}");
        // control case
        assert!(check(&request(method, &path, &Value::Null), PROJECT).is_ok());
    }
}

#[test]
fn attack_120_an_administrators_token_reads_no_other_project_of_the_network() {
    let of = |project: &str| format!("network/v2.0/ports?project_id={project}");
    assert_eq!(
        refused(Method::GET, &of("other")),
        Some(NotPermitted::Query)
    );
    assert_eq!(refused(Method::GET, &of(PROJECT)), None);
}

#[test]
fn attack_121_versions_of_other_services_are_not_passed_on() {
    let mut of_nova = request(Method::GET, "compute/v2.1/servers/detail", &Value::Null);
    of_nova.version = Some("compute 2.3".to_owned());
    assert_eq!(check(&of_nova, PROJECT).err(), Some(NotPermitted::Version));
}
