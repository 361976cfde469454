//! What a subject can do, and the permission that a refusal names.
use crate::stack::Stack;
use app::{
    error::UiErrorKind,
    ports::{Objects as _, Panel as _},
};
use portico_domain::panel::{
    BoundKind, BoundName, BoundRules, ObjectRef, PermissionScope, PlaceRights, ResourceRef,
};

#[tokio::test]
async fn need_31_what_can_lists_the_rules_of_a_subject_with_their_bindings() {
    let stack = Stack::open();
    let own = stack.namespace("what").await;
    let ada = stack.panel("ada").await;
    let (verb, resource) = ("delete".to_owned(), "pods".to_owned());
    let who = ada
        .who_can(stack.acme(), verb, resource, Some(own.name.clone()))
        .await
        .unwrap();
    let mut holders = who.found.holders.iter();
    let developer = holders.find(|holder| holder.role.name == "portico-developer");
    let developer = BoundName::from(&developer.expect("developers may delete pods").subject);
    let view = ada.what_can(stack.acme(), developer).await.unwrap();
    let here = PermissionScope::Namespace {
        name: own.name.clone(),
    };
    let place = view.places.iter().find(|place| place.scope == here);
    let grants = &place.expect("rights in the namespace").grants;
    let grant = grants
        .iter()
        .find(|grant| grant.role.name == "portico-developer")
        .unwrap();
    assert_eq!(grant.binding.namespace.as_ref(), Some(&own.name));
    assert!(grant.rules.iter().any(|rule| {
        rule.resources.contains(&"pods".to_owned()) && rule.verbs.contains(&"delete".to_owned())
    }));
    assert!(view.gaps.is_empty(), "{:?}", view.gaps);

    // the viewer is recognised, and their groups count
    let herself = BoundName {
        kind: BoundKind::User,
        name: "ada@Default".to_owned(),
    };
    let view = ada.what_can(stack.acme(), herself.clone()).await.unwrap();
    assert_eq!(view.places[0].scope, PermissionScope::Cluster);
    let through = |grant: &BoundRules| grant.through.is_some();
    assert!(view.places[0].grants.iter().any(through));

    let nothing = BoundName {
        kind: BoundKind::ServiceAccount,
        name: format!("{}/no-such-account", own.name),
    };
    let view = ada.what_can(stack.acme(), nothing).await.unwrap();
    let of_itself = |place: &PlaceRights| place.grants.iter().any(|grant| !through(grant));
    assert!(!view.places.iter().any(of_itself), "{:?}", view.places);

    let vera = stack.panel("vera").await;
    let refused = vera.what_can(stack.acme(), herself).await.unwrap_err();
    assert_eq!(refused.kind, UiErrorKind::NotPermitted);
    let missing = refused.missing.expect("the permission is named");
    assert_eq!(
        missing.in_words(),
        "list on rolebindings in the whole cluster"
    );
    own.done().await;
}

#[tokio::test]
async fn need_31_a_refusal_of_the_api_server_names_the_missing_permission() {
    let stack = Stack::open();
    let own = stack.namespace("lacks").await;
    let secret = ObjectRef {
        resource: ResourceRef::core("secrets"),
        namespace: Some(own.name.clone()),
        name: "none".to_owned(),
    };
    let vera = stack.panel("vera").await;
    let refused = vera.object(stack.acme(), secret.clone()).await.unwrap_err();
    assert_eq!(refused.kind, UiErrorKind::NotPermitted);
    let missing = refused.missing.expect("the permission is named");
    assert_eq!(
        missing.in_words(),
        format!("get on secrets in {}", own.name)
    );
    // the control case: an object that does not exist is not a missing permission
    let ada = stack.panel("ada").await;
    let absent = ada.object(stack.acme(), secret).await.unwrap_err();
    assert_eq!((absent.kind, absent.missing), (UiErrorKind::NotFound, None));
    own.done().await;
}
