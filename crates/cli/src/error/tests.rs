use super::*;

#[test]
fn every_error_names_the_command_or_setting_that_helps() {
    let gateway = || "https://portico.example.org".to_owned();
    let cloud = || "acme".to_owned();
    let errors = [
        CommandError::NoSession { gateway: gateway() },
        CommandError::NoProfile,
        CommandError::SeveralProfiles("https://a.example, https://b.example".to_owned()),
        CommandError::SessionEnded {
            gateway: gateway(),
            reason: "signed out".to_owned(),
        },
        CommandError::GatewayUrl("portico.example.org".to_owned()),
        CommandError::Refused {
            gateway: gateway(),
            message: "You have no role in this project.".to_owned(),
        },
        CommandError::Unavailable {
            gateway: gateway(),
            status: 503,
        },
        CommandError::Answer {
            gateway: gateway(),
            detail: "not JSON".to_owned(),
        },
        CommandError::UnknownCluster {
            name: "shop".to_owned(),
            known: "lab, test".to_owned(),
        },
        CommandError::WhichCluster {
            known: "lab, test".to_owned(),
        },
        CommandError::NoContext("shop".to_owned()),
        CommandError::TimedOut,
        CommandError::ContextTaken {
            context: "shop".to_owned(),
            path: "/home/ada/.kube/config".into(),
        },
        CommandError::Locked {
            path: "/home/ada/.kube/config.lock".into(),
        },
        CommandError::NoHome,
        CommandError::Interrupted,
        DirectError::NotPinned(cloud()).into(),
        DirectError::NoSettings.into(),
        DirectError::AuthUrlChanged {
            source_name: "clouds.yaml".to_owned(),
            cloud: cloud(),
            found: "https://other.example/v3".to_owned(),
            pinned: "https://keystone.example.org/v3".to_owned(),
        }
        .into(),
        DirectError::Insecure("clouds.yaml".to_owned()).into(),
        DirectError::Refused {
            keystone: "https://keystone.example.org/v3".to_owned(),
            what: "the password",
            source_name: "clouds.yaml".to_owned(),
        }
        .into(),
        DirectError::RefusedBefore {
            cloud: cloud(),
            seconds: 30,
        }
        .into(),
        DirectError::AccessRules.into(),
    ];
    let lines: String = errors
        .iter()
        .map(|error| format!("{}: {error}\n", error.exit_code()))
        .collect();
    insta::assert_snapshot!("errors", lines);
}
