use super::*;

const ID: Uuid = Uuid::from_u128(0x8c6a_4c1b_7a3e_4a76_9f0e_2d1c_5b3a_9e10);

fn pod() -> ObjectRef {
    ObjectRef {
        resource: ResourceRef::core("pods"),
        namespace: Some("shop".to_owned()),
        name: "web-0".to_owned(),
    }
}

#[test]
fn addresses_follow_the_table() {
    let base = "/projects/p1/clusters/8c6a4c1b-7a3e-4a76-9f0e-2d1c5b3a9e10";
    assert_eq!(cluster("p1", ID), base);
    assert_eq!(
        list("p1", ID, &ResourceRef::new("apps", "v1", "deployments")),
        format!("{base}/resources/apps/v1/deployments")
    );
    assert_eq!(
        object("p1", ID, &pod()),
        format!("{base}/namespaces/shop/core/v1/pods/web-0")
    );
    assert_eq!(
        object_tab("p1", ID, &pod(), Tab::Logs),
        format!("{base}/namespaces/shop/core/v1/pods/web-0/logs")
    );
    assert_eq!(
        exec("p1", ID, "shop", "web-0", "main"),
        format!("{base}/namespaces/shop/pods/web-0/exec?container=main")
    );
}

#[test]
fn names_cannot_leave_their_segment() {
    let role = ObjectRef {
        resource: ResourceRef::new("rbac.authorization.k8s.io", "v1", "clusterroles"),
        namespace: None,
        name: "system:a/../b?c#d".to_owned(),
    };
    assert!(object("p1", ID, &role).ends_with("/clusterroles/system:a%2F..%2Fb%3Fc%23d"));
}

#[test]
fn project_and_cluster_are_read_from_a_path() {
    let path = object("p/1", ID, &pod());
    assert_eq!(project_of(&path).as_deref(), Some("p/1"));
    assert_eq!(cluster_of(&path), Some(ID));
    assert_eq!(project_of("/oauth2/sign_in"), None);
    assert_eq!(cluster_of("/projects/p1/apps/x"), None);
}

#[test]
fn the_address_of_a_page_keeps_its_query() {
    assert_eq!(with_search("/a", ""), "/a");
    assert_eq!(with_search("/a", "?"), "/a");
    for search in ["as=yaml", "?as=yaml"] {
        assert_eq!(with_search("/a", search), "/a?as=yaml");
    }
    let address = sign_in(&with_search("/a", "as=yaml"));
    assert!(!address["/oauth2/sign_in?rd=".len()..].contains(['?', '=', '&']));
}

#[test]
fn tabs_round_trip_and_unknown_ones_are_none() {
    for tab in [
        Tab::Overview,
        Tab::Yaml,
        Tab::Edit,
        Tab::Events,
        Tab::Logs,
        Tab::Terminal,
    ] {
        assert_eq!(Tab::parse(tab.segment().unwrap_or_default()), Some(tab));
    }
    assert_eq!(Tab::parse("nope"), None);
}
