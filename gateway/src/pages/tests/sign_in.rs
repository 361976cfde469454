use http::StatusCode;
use portico_domain::identity::{Named, Project};

use crate::{
    config::{DemoUser, KeystoneMethod, KeystoneSignIn, WebSso},
    pages::{
        reauthenticate::Again,
        sign_in::{Button, Notice, Projects, SignInPage, Stay, totp},
        sign_in_methods::{Attempted, SignInMethods},
        websso::arriving,
    },
};

fn page<'a>(keystone: &'a KeystoneSignIn, providers: &'a [Button]) -> SignInPage<'a> {
    SignInPage {
        destination: None,
        return_path: "/",
        notice: None,
        name: "",
        domain: "Default",
        domain_changed: false,
        csrf: "token",
        host: "portico.example.org",
        demo: &[],
        status: StatusCode::OK,
        cookie_lost: false,
        stay: None,
        methods: SignInMethods {
            keystone,
            attempted: Attempted::Nothing,
            domain: "Default",
            status: StatusCode::OK,
        },
        keystone: true,
        providers,
    }
}

fn provider(id: &str, name: &str) -> Button {
    Button {
        name: name.to_owned(),
        href: format!("/oauth2/start/{id}?rd=%2F"),
        down: false,
        last_used: false,
    }
}

fn every_method() -> KeystoneSignIn {
    KeystoneSignIn {
        methods: vec![
            KeystoneMethod::Password,
            KeystoneMethod::Totp,
            KeystoneMethod::ApplicationCredential,
            KeystoneMethod::Token,
        ],
        websso: vec![WebSso {
            id: "company".to_owned(),
            label: "the company account".to_owned(),
            url: "https://keystone.example.org:5000/v3".parse().expect("url"),
            identity_provider: None,
            protocol: "openid".to_owned(),
        }],
        ..KeystoneSignIn::default()
    }
}

#[test]
fn sign_in_with_a_password_only() {
    assert_page!(
        "password_only",
        page(&KeystoneSignIn::default(), &[]).page()
    );
}

#[test]
fn sign_in_with_one_provider_only() {
    let (keystone, providers) = (KeystoneSignIn::default(), [provider("google", "Google")]);
    let page = SignInPage {
        keystone: false,
        ..page(&keystone, &providers)
    };
    assert_page!("one_provider", page.page());
}

#[test]
fn sign_in_with_several_providers_and_every_method_of_keystone() {
    let (keystone, demo) = (
        every_method(),
        [DemoUser {
            name: "ada".to_owned(),
            note: "administers acme".to_owned(),
        }],
    );
    let providers = [
        Button {
            last_used: true,
            ..provider("google", "Google")
        },
        Button {
            down: true,
            ..provider("university", "the university")
        },
    ];
    let page = SignInPage {
        destination: Some("Prometheus"),
        return_path: "/oauth2/launch?app=prometheus",
        demo: &demo,
        ..page(&keystone, &providers)
    };
    assert_page!("every_method", page.page());
}

#[test]
fn a_refused_sign_in_keeps_what_was_entered_but_the_password() {
    let keystone = KeystoneSignIn::default();
    let before = page(&keystone, &[]);
    let page = SignInPage {
        notice: Some(Notice::Failure("Wrong name or password.".to_owned())),
        name: "ada\"><script>",
        domain: "acme",
        domain_changed: true,
        cookie_lost: true,
        status: StatusCode::UNAUTHORIZED,
        stay: Some(Stay {
            hours: 72,
            ticked: true,
        }),
        methods: SignInMethods {
            domain: "acme",
            status: StatusCode::UNAUTHORIZED,
            ..before.methods
        },
        ..before
    };
    let page = page.page();
    assert!(!page.snapshot().contains("<script"), "{}", page.snapshot());
    assert_page!("refused", page);
}

#[test]
fn without_a_method_the_page_names_the_setting() {
    let keystone = KeystoneSignIn::default();
    let page = SignInPage {
        keystone: false,
        ..page(&keystone, &[])
    };
    assert_page!("no_method", page.page());
}

#[test]
fn the_second_step_asks_for_a_one_time_code() {
    assert_page!("one_time_code", totp("ada", "token", None, StatusCode::OK));
    let notice = Notice::Failure("This code is wrong or was used before.".to_owned());
    let page = totp("ada", "token", Some(&notice), StatusCode::UNAUTHORIZED);
    assert_page!("one_time_code_refused", page);
}

#[test]
fn the_choice_of_a_project_shows_the_last_one() {
    let project = |id: &str, name: &str| Project {
        id: id.to_owned(),
        name: name.to_owned(),
        domain: Named {
            id: "default".to_owned(),
            name: "Default".to_owned(),
        },
    };
    let projects = [project("p1", "acme"), project("p2", "acme <lab>")];
    let choice = Projects {
        user: "ada",
        projects: &projects,
        last: Some("p1"),
        return_path: "/",
        csrf: "token",
        stay: false,
        stays_in: None,
    };
    assert_page!("projects", choice.page());
    let none = Projects {
        projects: &[],
        last: None,
        stay: true,
        ..choice
    };
    assert_page!("no_project_to_stay_signed_in_to", none.page());
}

#[test]
fn reauthentication_offers_the_methods_of_the_session() {
    let keystone = every_method();
    let again = Again {
        user: "ada",
        bound_to: None,
        keystone: &keystone,
        return_path: "/projects/p1",
        csrf: "token",
    };
    assert_page!("reauthentication", again.page());
    let bound = Again {
        bound_to: Some("acme"),
        ..again
    };
    assert_page!(
        "reauthentication_of_an_application_credential",
        bound.page()
    );
}

#[test]
fn single_sign_on_ends_with_a_reference_instead_of_the_token() {
    assert_page!("single_sign_on", arriving("reference"));
}
