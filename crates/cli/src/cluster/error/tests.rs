use super::*;
use portico_openstack::rest::{AmbiguousName, Candidate, Effect, Service};

const CLUSTER: &str = "900e3758-8071-430e-a8cf-5c48f428dc0e";

fn service(operation: &'static str, kind: ErrorKind) -> rest::Error {
    rest::Error {
        service: Service::Magnum,
        operation,
        request_id: Some("req-1".to_owned()),
        status: None,
        effect: Effect::None,
        kind,
    }
}

fn refused() -> ClusterError {
    service("cluster-resize", ErrorKind::Forbidden("policy".to_owned())).into()
}

/// Returns what users get of errors, each with its exit code and class.
fn in_words(errors: &[ClusterError]) -> String {
    let texts: Vec<_> = errors
        .iter()
        .map(|error| {
            let exit = error.exit_code();
            format!("{exit} {}\n{}\n", class(exit), error.sentence())
        })
        .collect();
    texts.join("\n")
}

#[test]
fn an_error_of_a_service_names_the_next_step() {
    let ids = [CLUSTER, "900e3758-8071-430e-a8cf-5c48f428dc0f"];
    let candidates = ids.map(|id| Candidate {
        id: id.to_owned(),
        name: "shop".to_owned(),
        status: None,
        created_at: None,
    });
    let ambiguous = AmbiguousName {
        name: "shop".to_owned(),
        candidates: candidates.into(),
    };
    let lost = rest::Error {
        effect: Effect::Unknown,
        ..service("cluster-create", ErrorKind::Malformed("not JSON"))
    };
    let kinds = [
        ErrorKind::InvalidToken,
        ErrorKind::Forbidden("Policy doesn't allow cluster:get.".to_owned()),
        ErrorKind::QuotaExceeded("3 of 3 clusters".to_owned()),
        ErrorKind::NotFound(String::new()),
        ErrorKind::Ambiguous(ambiguous),
        ErrorKind::Conflict("It is being updated.".to_owned()),
        ErrorKind::Invalid("node_count: -1".to_owned()),
        ErrorKind::Fault {
            status: 500,
            message: "Internal".to_owned(),
        },
    ];
    let kinds = kinds.map(|kind| service("cluster-show", kind));
    let template = service("template-show", ErrorKind::NotFound(String::new()));
    let errors: Vec<_> = kinds
        .into_iter()
        .chain([template, lost])
        .map(ClusterError::from)
        .collect();
    insta::assert_snapshot!("errors_of_services", in_words(&errors));
}

#[test]
fn an_operation_that_stops_names_the_command_that_continues() {
    let (uuid, cluster) = (CLUSTER.to_owned(), "shop".to_owned());
    let errors = [
        ClusterError::Blocked {
            exit: exit_code::QUOTA,
            text: "18 of 20 cores used; 4 more needed, 2 too many.".to_owned(),
        },
        ClusterError::Lost(LostResponse::NothingFound),
        ClusterError::Lost(LostResponse::SameName(vec![uuid.clone()])),
        ClusterError::NotRecorded {
            uuid: uuid.clone(),
            reason: "a conductor may be down",
        },
        ClusterError::NotConfirmed {
            typed: "shop2".to_owned(),
        },
        ClusterError::TimedOut {
            uuid: uuid.clone(),
            seconds: 3600,
            stalled: String::new(),
        },
        ClusterError::TokenEnded {
            uuid: uuid.clone(),
            source: Box::new(refused()),
        },
        ClusterError::Interrupted { uuid },
        ClusterError::Partly {
            done: 1,
            all: 3,
            stage: "Resize default-worker".to_owned(),
            source: Box::new(refused()),
        },
        ClusterError::NotReplaced {
            cluster: cluster.clone(),
            node: "shop-abc-node-0".to_owned(),
            source: Box::new(refused()),
        },
        ClusterError::NotAdded {
            cluster,
            group: "default-worker".to_owned(),
            source: Box::new(refused()),
        },
        ClusterError::Incomplete(rest::Cut::TooLong),
        ClusterError::NoJournal,
    ];
    insta::assert_snapshot!("errors_of_operations", in_words(&errors));
}
