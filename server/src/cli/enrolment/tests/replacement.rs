//! The same cluster again: with --id, and at an address that is written in another way.
use super::*;

/// Imports a cluster with a restriction in each option that has one.
async fn restricted(place: &Place) -> EnrolledCluster {
    let mut arguments = place.arguments("shop", "192.0.2.7");
    arguments.accepted_projects = vec!["p2".to_owned()];
    arguments.accepted_roles = vec!["r1".to_owned()];
    arguments.api_audiences = vec!["https://shop.example.org".to_owned()];
    arguments.client_ca = Some(place.file("client-ca.crt", &authority()));
    place.import(&arguments).await.unwrap()
}

#[tokio::test]
async fn a_replacement_keeps_what_its_options_leave_out() {
    let place = Place::new().await;
    let first = restricted(&place).await;
    let mut again = place.arguments("shop", "192.0.2.7");
    again.id = Some(first.id);
    let second = place.import(&again).await.unwrap();
    assert_ne!(second.ca, first.ca, "the rotation");
    let expected = EnrolledCluster {
        ca: second.ca.clone(),
        ..first
    };
    assert_eq!(second, expected);
    assert_eq!(place.stored().await, std::slice::from_ref(&second));
    let text = api_server::after_import(&second, &place.section, None);
    let accepted = "Accepted: users of p1, p2, with one of the roles r1.\n";
    assert!(text.contains(accepted), "{text}");
}

#[tokio::test]
async fn a_replacement_has_what_its_options_give() {
    let place = Place::new().await;
    let first = restricted(&place).await;
    let mut given = place.arguments("shop", "192.0.2.7");
    given.id = Some(first.id);
    given.accepted_projects = vec!["p3".to_owned()];
    given.accepted_roles = vec!["r2".to_owned()];
    given.api_audiences = vec!["kubernetes".to_owned()];
    given.client_ca = Some(place.file("next-client-ca.crt", &authority()));
    let second = place.import(&given).await.unwrap();
    assert_eq!(second.accepted_projects, ["p1", "p3"]);
    assert_eq!(second.accepted_roles, ["r2"]);
    assert_eq!(second.api_audiences, ["kubernetes"]);
    assert_ne!(second.client_ca, first.client_ca);

    let mut open = place.arguments("shop", "192.0.2.7");
    open.id = Some(first.id);
    (open.owner_only, open.any_role) = (true, true);
    let third = place.import(&open).await.unwrap();
    assert_eq!(third.accepted_projects, ["p1"]);
    assert!(third.accepted_roles.is_empty());
    let text = api_server::after_import(&third, &place.section, None);
    assert!(
        text.contains("Accepted: users of p1, with any role.\n"),
        "{text}"
    );
}

#[tokio::test]
async fn the_authority_of_clients_follows_that_of_the_server_if_they_are_one() {
    let place = Place::new().await;
    let arguments = place.arguments("shop", "192.0.2.7");
    let first = place.import(&arguments).await.unwrap();
    let mut again = place.arguments("shop", "192.0.2.7");
    again.id = Some(first.id);
    let second = place.import(&again).await.unwrap();
    assert_ne!(second.ca, first.ca);
    assert_eq!(second.client_ca, second.ca);
}

#[tokio::test]
async fn a_record_keeps_its_owner() {
    let place = Place::new().await;
    let first = restricted(&place).await;
    let mut moved = place.arguments("shop", "192.0.2.7");
    moved.id = Some(first.id);
    moved.owner_project = "p9".to_owned();
    let refusal = place.refusal(&moved).await;
    let text = refusal.to_string();
    assert!(text.contains("belongs to project p1, not p9"), "{text}");
    assert!(text.contains("remove the record"), "{text}");
    assert_eq!(place.stored().await, [first]);
}

#[tokio::test]
async fn an_address_is_stored_in_its_normal_form() {
    let mut place = Place::new().await;
    let network = "2001:db8::/32".parse().unwrap();
    place.section.api_networks.push(network);
    for (name, server, stored) in [
        ("one", "HTTPS://192.0.2.7:6443//", "https://192.0.2.7:6443"),
        ("two", "https://192.0.2.8./", "https://192.0.2.8:443"),
        (
            "three",
            "https://[::FFFF:192.0.2.9]:6443",
            "https://192.0.2.9:6443",
        ),
        (
            "four",
            "https://[2001:DB8:0::7]",
            "https://[2001:db8::7]:443",
        ),
    ] {
        let mut arguments = place.arguments(name, "unused");
        server.clone_into(&mut arguments.server);
        let imported = place.import(&arguments).await.unwrap();
        assert_eq!(imported.api_url, stored);
    }
}

#[tokio::test]
async fn another_form_of_an_address_is_the_same_cluster() {
    let mut place = Place::new().await;
    let network = "2001:db8::/32".parse().unwrap();
    place.section.api_networks.push(network);
    let records = [
        (1, "default-port", "https://192.0.2.20"),
        (2, "mapped", "https://[::ffff:192.0.2.21]:6443/"),
        (3, "long", "https://[2001:0DB8:0:0:0:0:0:7]:6443"),
        (4, "nat64", "https://[64:ff9b::192.0.2.22]:6443"),
    ];
    let record = |(id, name, api_url): (u128, &str, &str)| {
        let record = serde_json::json!({
            "id": Uuid::from_u128(id), "name": name, "owner_project": "p1",
            "api_url": api_url, "sealing_key_file": "unused",
        });
        serde_json::from_value(record).unwrap()
    };
    place.config.clusters = Vec::from(records.map(record));
    let magnum = EnrolledCluster {
        api_url: "https://192.0.2.23".to_owned(),
        ..of_magnum(5)
    };
    let enrolled = place.store.enrolled_clusters();
    enrolled.put(&magnum, NOW).await.unwrap();
    for (server, known) in [
        ("https://192.0.2.20:443", "default-port"),
        ("https://192.0.2.21:6443", "mapped"),
        ("https://[2001:db8::7]:6443", "long"),
        ("https://192.0.2.22:6443", "nat64"),
        ("HTTPS://192.0.2.23.:443/", "magnum"),
    ] {
        let mut arguments = place.arguments("other", "unused");
        server.clone_into(&mut arguments.server);
        let refusal = place.refusal(&arguments).await;
        let is_known = matches!(
            &refusal,
            ImportError::Taken { member: Member::Address, name, .. } if name == known
        );
        assert!(is_known, "{server}: {refusal}");
    }
    // control case: another port is another API server
    let mut arguments = place.arguments("other", "unused");
    "https://192.0.2.20:6443".clone_into(&mut arguments.server);
    assert!(place.import(&arguments).await.is_ok());
}
