//! What became of created objects: claims, Services of type LoadBalancer, Ingresses.
use crate::stack::Stack;
use app::ports::{Creation as _, Panel};
use portico_domain::panel::{
    CreationKind, CreationProgress, CreationState, NewClaim, NewIngress, NewObject, NewPort,
    NewRoute, NewService, ObjectRef, Refusal,
};

/// Writes the manifest of a form, applies it and returns how far the object is.
async fn create(panel: &impl Panel, stack: &Stack, new: NewObject) -> CreationProgress {
    assert!(new.problems().is_empty(), "{:?}", new.problems());
    let text = panel.form_manifest(&new).unwrap();
    let applied = panel.apply_manifests(stack.acme(), text, None, Vec::new());
    let applied = applied.await.unwrap().remove(0);
    assert_eq!(applied.error, None);
    let object = ObjectRef {
        resource: new.kind().resource(),
        namespace: Some(new.namespace().to_owned()),
        name: new.name().to_owned(),
    };
    let progress = panel.creation_progress(stack.acme(), object);
    progress.await.unwrap()
}

#[tokio::test]
async fn a_created_claim_names_what_it_waits_for() {
    let stack = Stack::open();
    let own = stack.namespace("claims").await;
    let panel = stack.panel("devi").await;
    let claim = |name: &str, class: &str| {
        NewObject::Claim(NewClaim {
            name: name.to_owned(),
            storage_class: class.to_owned(),
            ..NewClaim::in_namespace(own.name.clone())
        })
    };
    let local = create(&panel, &stack, claim("local", "local-disk")).await;
    assert_eq!(local.state, CreationState::Waiting);
    assert!(local.summary.contains("first pod"), "{local:?}");
    let fast = create(&panel, &stack, claim("fast", "fast-ssd")).await;
    assert!(fast.summary.contains("disks.example.org/fast"), "{fast:?}");
    let missing = create(&panel, &stack, claim("missing", "no-such-class")).await;
    assert_eq!(missing.state, CreationState::Blocked);
    assert!(missing.summary.contains("does not exist"), "{missing:?}");
    own.done().await;
}

#[tokio::test]
async fn a_created_service_and_ingress_name_what_is_missing() {
    let stack = Stack::open();
    let own = stack.namespace("exposed").await;
    let panel = stack.panel("devi").await;
    let service = NewObject::Service(NewService {
        name: "web".to_owned(),
        selector: "app=web".to_owned(),
        ports: vec![NewPort {
            port: "80".to_owned(),
            ..NewPort::default()
        }],
        ..NewService::in_namespace(own.name.clone())
    });
    let service = create(&panel, &stack, service).await;
    assert_eq!(service.state, CreationState::Waiting);
    assert!(service.summary.contains("external address"), "{service:?}");
    let route = |path: &str, service: &str| NewRoute {
        path: path.to_owned(),
        service: service.to_owned(),
        port: "80".to_owned(),
        ..NewRoute::default()
    };
    let ingress = NewObject::Ingress(NewIngress {
        name: "shop".to_owned(),
        routes: vec![route("/", "web"), route("/cart", "absent")],
        ..NewIngress::in_namespace(own.name.clone())
    });
    let ingress = create(&panel, &stack, ingress).await;
    assert_eq!(ingress.state, CreationState::Blocked);
    let details = ingress.details.join(" ");
    assert!(details.contains("absent does not exist"), "{details}");
    let of_rights = |gap: &&Refusal| gap.reason.starts_with("Your roles");
    let mut gaps = ingress.gaps.iter().filter(of_rights);
    let is_named = gaps.all(|gap| gap.missing.is_some());
    assert!(is_named, "{:?}", ingress.gaps);
    let namespace = Some(own.name.clone());
    let choices = panel.creation_choices(stack.acme(), CreationKind::Ingress, namespace);
    let choices = choices.await.unwrap();
    let names: Vec<_> = choices
        .services
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(names, ["web"]);
    own.done().await;
}

#[tokio::test]
async fn the_missing_permission_to_create_is_named() {
    let stack = Stack::open();
    let panel = stack.panel("vera").await;
    let namespace = Some("shop".to_owned());
    let choices = panel.creation_choices(stack.acme(), CreationKind::Service, namespace);
    let refusal = choices.await.unwrap().refusal.unwrap();
    let missing = refusal.missing.unwrap();
    assert_eq!(missing.resource, "services");
    assert_eq!(missing.verb, "create");
}
