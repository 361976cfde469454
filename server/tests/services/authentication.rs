//! The authentication page: who the viewer is, a real test, and tests of others.
use crate::stack::Stack;
use app::{error::UiErrorKind, ports::Panel};
use portico_domain::panel::{
    Figures, FiguresView, Health, Reading, UserTest, UserTestOutcome, UserTestRequest,
};
use portico_testkit::{KeystoneAdmin, TestEnv};

fn vera(stack: &Stack, namespace: &str) -> UserTestRequest {
    UserTestRequest {
        user_id: stack.var("USER_ID_VERA").to_owned(),
        project: stack.var("PROJECT_ID_ACME").to_owned(),
        roles: vec![stack.var("ROLE_ID_K8S_VIEWER").to_owned()],
        namespace: namespace.to_owned(),
        ..UserTestRequest::default()
    }
}

fn answers(test: UserTest) -> Vec<(String, bool)> {
    match test.outcome {
        UserTestOutcome::Asked { answers, .. } => answers
            .into_iter()
            .map(|answer| (answer.what, answer.allowed))
            .collect(),
        UserTestOutcome::Invalid(problem) => panic!("{problem}"),
    }
}

fn source_of_roles(test: &UserTest) -> &str {
    match &test.outcome {
        UserTestOutcome::Asked { roles, .. } => roles,
        UserTestOutcome::Invalid(problem) => panic!("{problem}"),
    }
}

#[tokio::test]
async fn the_page_shows_who_the_viewer_is_and_why_they_are_accepted() {
    let stack = Stack::open();
    let panel = stack.panel("nora").await;
    let view = panel.authentication(stack.acme()).await.unwrap();
    assert_eq!(view.own.username, "nora@Default");
    assert_eq!(view.own.uid, stack.var("USER_ID_NORA"));
    let groups: Vec<_> = view.own.groups.iter().map(|group| &group.name).collect();
    assert!(groups.contains(&&stack.var("ROLE_ID_MEMBER").to_owned()));
    assert!(view.own_token.accepted, "{view:?}");
    assert!(view.accepted.projects[0].own);
    assert_eq!(view.accepted.projects[0].name.as_deref(), Some("acme"));
}

#[tokio::test]
async fn testing_oneself_is_a_real_request_that_stays_with_the_session() {
    let stack = Stack::open();
    let panel = stack.panel("vera").await;
    let test = panel.self_test(stack.acme()).await.unwrap();
    assert!(test.passed, "{test:?}");
    assert!(test.milliseconds.is_some());
    assert!(test.stops.iter().all(|stop| stop.health == Health::Ok));
    let user = test.user.clone().unwrap().user;
    assert_eq!(user.username, "vera@Default");
    let view = panel.authentication(stack.acme()).await.unwrap();
    assert_eq!(view.last_self_test, Some(test));
    let other = stack.panel("vera").await;
    let view = other.authentication(stack.acme()).await.unwrap();
    assert_eq!(
        view.last_self_test, None,
        "another session of the same user"
    );
}

#[tokio::test]
async fn a_test_ends_at_the_api_server_that_does_not_answer_and_the_page_stays() {
    let stack = Stack::open_with(|clusters| {
        for cluster in clusters {
            "https://127.0.0.1:9".clone_into(&mut cluster.api_url);
        }
    });
    let panel = stack.panel("ada").await;
    let test = panel.self_test(stack.acme()).await.unwrap();
    assert!(!test.passed && test.next_step.is_some(), "{test:?}");
    let failed = test.stops.iter().find(|stop| stop.health == Health::Failed);
    assert_eq!(failed.unwrap().name, "API server");
    let view = panel.authentication(stack.acme()).await.unwrap();
    assert_eq!(view.own.username, "ada@Default");
    assert!(matches!(view.user_test, Reading::Unavailable(_)));
}

#[tokio::test]
async fn a_project_that_is_not_accepted_is_shown_on_the_page_too() {
    let stack = Stack::open_with(|clusters| {
        for cluster in clusters {
            cluster.accepted_projects = vec!["0".repeat(32)];
        }
    });
    let panel = stack.panel("ada").await;
    let view = panel.authentication(stack.acme()).await.unwrap();
    assert!(!view.own_token.accepted && view.own_token.next_step.is_some());
    assert!(matches!(view.user_test, Reading::NotPermitted(_)));
}

#[tokio::test]
async fn an_administrator_learns_what_another_user_may_do() {
    let stack = Stack::open();
    let own = stack.namespace("identify").await;
    let panel = stack.panel("ada").await;
    let request = vera(&stack, &own.name);
    let test = panel
        .user_test(stack.acme(), request.clone())
        .await
        .unwrap();
    let found = answers(test);
    for (what, expected) in [
        ("List pods", true),
        ("Read secrets", false),
        ("Create deployments", false),
        ("Do everything, everywhere", false),
    ] {
        assert!(
            found.contains(&(what.to_owned(), expected)),
            "{what}: {found:?}"
        );
    }
    // and the control case: an administrator's role may
    let admin = UserTestRequest {
        roles: vec![stack.var("ROLE_ID_K8S_ADMIN").to_owned()],
        ..request.clone()
    };
    let found = answers(panel.user_test(stack.acme(), admin).await.unwrap());
    assert!(found.iter().all(|(_, allowed)| *allowed), "{found:?}");
    // without a role there is no token, and nothing to ask; ada may not read role assignments
    let nothing = UserTestRequest {
        roles: Vec::new(),
        ..request.clone()
    };
    let test = panel.user_test(stack.acme(), nothing).await.unwrap();
    assert!(source_of_roles(&test).contains("does not let you read"));
    assert!(answers(test).is_empty());
    let masters = UserTestRequest {
        groups: "system:masters".to_owned(),
        ..request
    };
    let test = panel.user_test(stack.acme(), masters).await.unwrap();
    assert!(matches!(test.outcome, UserTestOutcome::Invalid(_)));
    own.done().await;
}

#[tokio::test]
async fn the_roles_of_a_tested_user_come_from_keystone_for_those_who_may_read_them() {
    let stack = Stack::open();
    let own = stack.namespace("identify").await;
    let keystone = KeystoneAdmin::sign_in(&TestEnv::load().unwrap())
        .await
        .unwrap();
    let reader = keystone.create_user("assignments-reader").await.unwrap();
    let acme = stack.var("PROJECT_ID_ACME");
    let roles = [
        keystone.role_id("admin").await.unwrap(),
        stack.var("ROLE_ID_K8S_ADMIN").to_owned(),
    ];
    for role in &roles {
        keystone.grant(&reader.id, acme, role).await.unwrap();
    }
    let panel = stack.panel_of(&reader).await;
    let unchosen = UserTestRequest {
        roles: Vec::new(),
        ..vera(&stack, &own.name)
    };
    let test = panel.user_test(stack.acme(), unchosen.clone()).await;
    // a user who has no role in the project: nothing is made up
    let stranger = UserTestRequest {
        user_id: "0".repeat(32),
        ..unchosen
    };
    let of_a_stranger = panel.user_test(stack.acme(), stranger).await;
    keystone.delete_user(&reader.id).await.unwrap();
    let test = test.unwrap();
    assert!(source_of_roles(&test).contains("role assignments give"));
    let UserTestOutcome::Asked { user, .. } = &test.outcome else {
        panic!("{test:?}")
    };
    let groups: Vec<_> = user.groups.iter().map(|group| &group.name).collect();
    assert!(groups.contains(&&stack.var("ROLE_ID_K8S_VIEWER").to_owned()));
    assert!(!groups.contains(&&roles[1]), "the reader's own role");
    let found = answers(test);
    for expected in [("List pods", true), ("Create deployments", false)] {
        let expected = (expected.0.to_owned(), expected.1);
        assert!(found.contains(&expected), "{found:?}");
    }
    assert!(answers(of_a_stranger.unwrap()).is_empty());
    own.done().await;
}

#[tokio::test]
async fn others_are_tested_by_those_only_who_may_ask_about_them() {
    let stack = Stack::open();
    let panel = stack.panel("vera").await;
    let view = panel.authentication(stack.acme()).await.unwrap();
    assert!(
        matches!(&view.user_test, Reading::NotPermitted(why) if why.reason.contains("subjectaccessreviews"))
    );
    let refused = panel
        .user_test(stack.acme(), vera(&stack, "default"))
        .await
        .unwrap_err();
    assert_eq!(refused.kind, UiErrorKind::NotPermitted);
}

#[tokio::test]
async fn kube_auths_figures_count_the_reviews_of_the_cluster() {
    let stack = Stack::open();
    let before = figures(&stack).await;
    assert!(before.started_at.is_some());
    let test = stack.panel("vera").await.self_test(stack.acme()).await;
    assert!(test.unwrap().passed);
    // what was read is kept for some seconds; another process of the panel reads anew
    let after = figures(&Stack::open()).await;
    let (before, after) = (before.since_start, after.since_start);
    assert!(
        after.authenticated > before.authenticated,
        "{before:?} {after:?}"
    );
    assert!(after.p50.is_some() && after.p99.is_some());
}

async fn figures(stack: &Stack) -> Figures {
    let panel = stack.panel("vera").await;
    let view = panel.kube_auth_figures(stack.acme()).await.unwrap();
    let FiguresView::Known(figures) = view else {
        panic!("{view:?}")
    };
    figures
}

#[tokio::test]
async fn figures_of_another_projects_cluster_are_not_shown() {
    let stack = Stack::open();
    let panel = stack.panel("vera").await;
    let elsewhere = stack.var("CLUSTER2_ID").parse().unwrap();
    let refused = panel.kube_auth_figures(elsewhere).await.unwrap_err();
    assert_eq!(refused.kind, UiErrorKind::NotFound);
    assert!(panel.kube_auth_figures(stack.acme()).await.is_ok());
}
