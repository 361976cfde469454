//! Granting, revoking, undoing, and conflicts.
use crate::stack::Stack;
use app::{error::UiErrorKind, ports::Panel};
use portico_domain::panel::{
    BindingRow, GrantRequest, RevokeRequest, RoleRef, Subject, SubjectKind, WhoCan,
};
use portico_testkit::{KeystoneAdmin, TestEnv};

fn request(namespace: &str, user: &str) -> GrantRequest {
    GrantRequest {
        role: RoleRef {
            cluster: true,
            name: "portico-viewer".to_owned(),
        },
        namespace: Some(namespace.to_owned()),
        subject_kind: SubjectKind::User,
        subject_id: user.to_owned(),
    }
}

fn revoke(row: &BindingRow) -> RevokeRequest {
    RevokeRequest {
        binding: row.binding.clone(),
        uid: row.uid.clone(),
        resource_version: row.resource_version.clone(),
        subject: row.subject.clone(),
        typed: String::new(),
    }
}

async fn rows(panel: &impl Panel, stack: &Stack, namespace: &str, user: &str) -> Vec<BindingRow> {
    let view = panel.access(stack.acme()).await.unwrap();
    view.bindings
        .into_iter()
        .filter(|row| row.binding.namespace.as_deref() == Some(namespace))
        .filter(|row| matches!(&row.subject, Subject::KeystoneUser { id, .. } if id == user))
        .collect()
}

#[tokio::test]
async fn a_grant_is_previewed_made_once_and_taken_back() {
    let stack = Stack::open();
    let own = stack.namespace("grant").await;
    let nora = stack.var("USER_ID_NORA").to_owned();
    let ada = stack.panel("ada").await;
    let grant = request(&own.name, &nora);
    let preview = ada
        .preview_grant(stack.acme(), grant.clone())
        .await
        .unwrap();
    assert!(!preview.exists && preview.dangers.is_empty());
    assert_eq!(preview.group, format!("portico:user:{nora}"));
    assert!(
        preview
            .gained
            .iter()
            .any(|rule| rule.resources.contains(&"pods".to_owned()))
    );
    let done = ada
        .grant(stack.acme(), grant.clone(), String::new())
        .await
        .unwrap();
    assert_eq!(rows(&ada, &stack, &own.name, &nora).await.len(), 1);
    let again = ada
        .grant(stack.acme(), grant, String::new())
        .await
        .unwrap_err();
    assert_eq!(again.kind, UiErrorKind::Conflict);
    // another user's undo is not theirs to use
    let devi = stack.panel("devi").await;
    assert!(
        devi.undo(stack.acme(), done.undo.clone().unwrap())
            .await
            .is_err()
    );
    ada.undo(stack.acme(), done.undo.unwrap()).await.unwrap();
    assert!(rows(&ada, &stack, &own.name, &nora).await.is_empty());
    own.done().await;
}

#[tokio::test]
async fn a_revocation_can_be_undone_and_a_concurrent_edit_is_a_conflict() {
    let stack = Stack::open();
    let own = stack.namespace("revoke").await;
    let nora = stack.var("USER_ID_NORA").to_owned();
    let ada = stack.panel("ada").await;
    let grant = request(&own.name, &nora);
    ada.grant(stack.acme(), grant, String::new()).await.unwrap();
    let row = rows(&ada, &stack, &own.name, &nora).await.remove(0);
    assert!(row.may_revoke);
    let done = ada.revoke(stack.acme(), revoke(&row)).await.unwrap();
    assert!(rows(&ada, &stack, &own.name, &nora).await.is_empty());
    ada.undo(stack.acme(), done.undo.unwrap()).await.unwrap();
    let restored = rows(&ada, &stack, &own.name, &nora).await.remove(0);
    assert_eq!(restored.binding, row.binding);
    assert_eq!(restored.role, row.role);
    // the page of before shows an object that is gone
    let stale = ada.revoke(stack.acme(), revoke(&row)).await.unwrap_err();
    assert_eq!(stale.kind, UiErrorKind::Conflict);
    own.done().await;
}

#[tokio::test]
async fn one_subject_of_several_is_taken_out_and_put_back() {
    use k8s_openapi::api::rbac::v1::RoleBinding;
    let stack = Stack::open();
    let own = stack.namespace("several").await;
    let (nora, mia) = (stack.var("USER_ID_NORA"), stack.var("USER_ID_MIA"));
    let subject = |id: &str| {
        serde_json::json!({ "apiGroup": "rbac.authorization.k8s.io", "kind": "Group",
            "name": format!("portico:user:{id}") })
    };
    let binding: RoleBinding = serde_json::from_value(serde_json::json!({
        "metadata": { "name": "two", "annotations": { "why": "kept" } },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view" },
        "subjects": [subject(nora), subject(mia)],
    }))
    .unwrap();
    let api = kube::Api::<RoleBinding>::namespaced(own.client.clone(), &own.name);
    api.create(&Default::default(), &binding).await.unwrap();
    let ada = stack.panel("ada").await;
    let row = rows(&ada, &stack, &own.name, nora).await.remove(0);
    let done = ada.revoke(stack.acme(), revoke(&row)).await.unwrap();
    assert_eq!(api.get("two").await.unwrap().subjects.unwrap().len(), 1);
    ada.undo(stack.acme(), done.undo.unwrap()).await.unwrap();
    let back = api.get("two").await.unwrap();
    assert_eq!(back.subjects, binding.subjects);
    assert_eq!(back.metadata.annotations, binding.metadata.annotations);
    own.done().await;
}

#[tokio::test]
async fn dangers_are_typed_and_the_last_admin_is_protected() {
    let stack = Stack::open();
    let own = stack.namespace("danger").await;
    let ada = stack.panel("ada").await;
    let mut grant = request(&own.name, stack.var("USER_ID_NORA"));
    grant.role.name = "admin".to_owned();
    let preview = ada
        .preview_grant(stack.acme(), grant.clone())
        .await
        .unwrap();
    for danger in ["secrets", "exec", "impersonate", "bind"] {
        assert!(preview.dangers.contains(&danger.to_owned()), "{danger}");
    }
    let refused = ada
        .grant(stack.acme(), grant, String::new())
        .await
        .unwrap_err();
    assert_eq!(refused.kind, UiErrorKind::Invalid);
    let view = ada.access(stack.acme()).await.unwrap();
    let admin = view
        .bindings
        .iter()
        .find(|row| row.role.name == "cluster-admin" && !row.system)
        .unwrap();
    assert!(admin.typed_because.is_some());
    let refused = ada.revoke(stack.acme(), revoke(admin)).await.unwrap_err();
    assert_eq!(refused.kind, UiErrorKind::Invalid);
    own.done().await;
}

#[tokio::test]
async fn a_viewer_sees_that_they_may_not_see() {
    let stack = Stack::open();
    let view = stack
        .panel("vera")
        .await
        .access(stack.acme())
        .await
        .unwrap();
    assert!(view.bindings.is_empty());
    assert!(view.not_permitted.contains(&"shop".to_owned()));
    assert!(view.grant_refused.is_some());
}

#[tokio::test]
async fn finding_p4_a_viewer_without_bindings_to_read_learns_what_to_do() {
    let stack = Stack::open();
    let of = async |user: &str| stack.panel(user).await.access(stack.acme()).await.unwrap();
    let vera = of("vera").await;
    assert!(vera.bindings.is_empty());
    let why = vera.bindings_refused.expect("vera may read none").reason;
    assert!(why.contains("list on rolebindings"), "{why}");
    assert!(why.contains("Ask a project administrator"), "{why}");
    // the control case: a user who may read them is not refused
    let ada = of("ada").await;
    assert!(!ada.bindings.is_empty());
    assert_eq!(ada.bindings_refused, None);
}

#[tokio::test]
async fn finding_p17_an_id_that_keystone_does_not_show_is_not_called_wrong() {
    let stack = Stack::open();
    let own = stack.namespace("verify").await;
    let ada = stack.panel("ada").await;
    let preview = async |user: &str| {
        let grant = request(&own.name, user);
        ada.preview_grant(stack.acme(), grant).await.unwrap()
    };
    let nora = preview(stack.var("USER_ID_NORA")).await;
    let why = nora.unverified.expect("ada may not look nora up");
    assert!(why.contains("does not let you look up this user"), "{why}");
    let herself = preview(stack.var("USER_ID_ADA")).await;
    assert_eq!(herself.unverified, None);
    own.done().await;
}

#[tokio::test]
async fn finding_p18_revoking_ones_own_administration_warns_of_what_is_lost() {
    let stack = Stack::open();
    let ada = stack.panel("ada").await;
    let view = ada.access(stack.acme()).await.unwrap();
    let admin = view
        .bindings
        .iter()
        .find(|row| row.role.name == "cluster-admin" && row.own)
        .expect("ada holds cluster-admin");
    let loss = admin.typed_because.as_ref().unwrap();
    assert!(
        loss.contains("you lose cluster-admin in the whole cluster"),
        "{loss}"
    );
    let others = view.bindings.iter().filter(|row| row.system);
    assert!(others.clone().count() > 0 && others.clone().all(|row| !row.own));
}

#[tokio::test]
async fn need_31_who_can_names_the_subjects_their_bindings_and_who_could_grant_it() {
    let stack = Stack::open();
    let own = stack.namespace("who").await;
    let panel = stack.panel("ada").await;
    let ask = async |verb: &str, resource: &str| {
        let namespace = Some(own.name.clone());
        panel
            .who_can(
                stack.acme(),
                verb.to_owned(),
                resource.to_owned(),
                namespace,
            )
            .await
    };
    let view = ask("delete", "pods").await.unwrap();
    let through = |found: &WhoCan| -> Vec<String> {
        found
            .holders
            .iter()
            .map(|holder| holder.binding.name.clone())
            .collect()
    };
    assert!(
        through(&view.found).contains(&"portico-developer".to_owned()),
        "{view:?}"
    );
    assert!(!through(&view.found).contains(&"portico-viewer".to_owned()));
    let developer = view
        .found
        .holders
        .iter()
        .find(|holder| holder.role.name == "portico-developer");
    let Subject::KeystoneRole { id, .. } = &developer.unwrap().subject else {
        panic!("a role of Keystone's: {developer:?}");
    };
    assert_eq!(id, stack.var("ROLE_ID_K8S_DEVELOPER"));
    assert!(!view.granters.holders.is_empty());
    let view = ask("get", "pods").await.unwrap();
    assert!(through(&view.found).contains(&"portico-viewer".to_owned()));
    let unknown = ask("get", "unicorns").await.unwrap_err();
    assert_eq!(unknown.kind, UiErrorKind::Invalid);
    let vera = stack.panel("vera").await;
    let namespace = Some(own.name.clone());
    let answer = vera
        .who_can(
            stack.acme(),
            "delete".to_owned(),
            "pods".to_owned(),
            namespace,
        )
        .await;
    // what vera may read of bindings decides whether there is an answer; never a wrong one
    match answer {
        Ok(view) => {
            assert!(!view.gaps.is_empty(), "{view:?}");
            let is_named = view.gaps.iter().all(|gap| gap.missing.is_some());
            assert!(is_named, "{:?}", view.gaps);
        }
        Err(error) => assert_eq!(error.kind, UiErrorKind::NotPermitted),
    }
    own.done().await;
}

#[tokio::test]
async fn need_32_a_grant_finds_a_user_by_name_for_those_who_may_look_users_up() {
    let stack = Stack::open();
    let own = stack.namespace("by-name").await;
    let keystone = KeystoneAdmin::sign_in(&TestEnv::load().unwrap())
        .await
        .unwrap();
    let reader = keystone.create_user("users-reader").await.unwrap();
    let acme = stack.var("PROJECT_ID_ACME");
    for role in [
        keystone.role_id("admin").await.unwrap(),
        stack.var("ROLE_ID_K8S_ADMIN").to_owned(),
    ] {
        keystone.grant(&reader.id, acme, &role).await.unwrap();
    }
    let panel = stack.panel_of(&reader).await;
    let preview = async |name: &str| {
        let grant = request(&own.name, name);
        panel.preview_grant(stack.acme(), grant).await
    };
    let (found, unknown) = (preview("nora").await, preview("no-such-user").await);
    keystone.delete_user(&reader.id).await.unwrap();
    let found = found.unwrap();
    let nora = stack.var("USER_ID_NORA");
    assert_eq!(found.subject_id, nora);
    assert_eq!(found.group, format!("portico:user:{nora}"));
    let Subject::KeystoneUser { name, .. } = &found.subject else {
        panic!("{:?}", found.subject);
    };
    assert_eq!(name.as_deref(), Some("nora"));
    let unknown = unknown.unwrap_err();
    assert_eq!(unknown.kind, UiErrorKind::Invalid);
    assert!(
        unknown
            .message
            .contains("no user with the name no-such-user")
    );

    // the control case: ada may not look users up, and an ID is not looked up by name
    let ada = stack.panel("ada").await;
    let refused = ada
        .preview_grant(stack.acme(), request(&own.name, "nora"))
        .await;
    assert!(refused.unwrap_err().message.contains("does not let you"));
    let by_id = ada
        .preview_grant(stack.acme(), request(&own.name, nora))
        .await;
    assert_eq!(by_id.unwrap().subject_id, nora);
    own.done().await;
}
