use crate::pages::{
    app::{AccessRequirement, Refused, RequiredSubject, handover, onward},
    providers::{OpenApp, oidc_only_user},
};

#[test]
fn opening_an_app_posts_the_code_to_its_host() {
    let page = handover("Prometheus", "https://prometheus.example.org", "one-time");
    assert_page!("handover", page);
    let target = "https://portico.example.org/oauth2/launch?app=prometheus";
    assert_page!("sign_in_to_open", onward("Prometheus", target));
}

#[test]
fn a_refusal_names_the_rule_and_what_gives_access() {
    let requirements = [
        AccessRequirement {
            who: RequiredSubject::Role {
                role: "k8s_admin".to_owned(),
                project: "acme".to_owned(),
                project_known: true,
            },
            with: "from 10.0.0.0/8".to_owned(),
        },
        AccessRequirement {
            who: RequiredSubject::Group {
                group: "operators".to_owned(),
                provider: "Google".to_owned(),
            },
            with: String::new(),
        },
    ];
    let refused = Refused {
        app: "Prometheus",
        user: Some("ada <ada>"),
        rule: None,
        requirements: &requirements,
        home: "https://portico.example.org/",
        request_id: "0b2f6c4e-6f0a-4a51-8c53-3f8a3a3a0f0e",
    };
    assert_page!("refused_by_the_list", refused.page());
    let by_rule = Refused {
        rule: Some("admin API"),
        requirements: &requirements[..1],
        ..refused
    };
    assert_page!("refused_by_a_rule", by_rule.page());
    let without_exception = Refused {
        user: None,
        rule: Some("closed"),
        requirements: &[],
        ..by_rule
    };
    assert_page!("refused_without_exception", without_exception.page());
}

#[test]
fn a_user_without_a_keystone_account_gets_apps_and_the_reason() {
    let apps = [OpenApp {
        name: "Prometheus",
        description: "Metrics & alerts",
        home: "https://prometheus.example.org",
    }];
    assert_page!("apps", oidc_only_user("ada", "Google", &apps, true));
    assert_page!("no_apps", oidc_only_user("ada", "Google", &[], false));
}
