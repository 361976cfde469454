use super::*;
use crate::rest::{Microversion, NotAvailable};

#[tokio::test]
async fn what_the_cloud_lacks_is_not_sent_and_has_a_reason() {
    let server = magnum("1.8", |_| Reply::Close).await;
    let (client, token) = (client(), server.token());
    let error = client.node_groups(&token, uuid()).await.unwrap_err();
    assert_eq!(
        error.kind,
        ErrorKind::NotAvailable(NotAvailable {
            feature: "node groups",
            needs: Microversion::new(1, 9),
            offers: Microversion::new(1, 8),
        })
    );
    let text = "Magnum: not available: needs 1.9, this cloud has 1.8 (node groups)";
    assert_eq!(error.to_string(), text);
    let resize = Resize {
        node_count: 0,
        nodes_to_remove: Vec::new(),
        node_group: None,
    };
    let error = client.resize_cluster(&token, uuid(), &resize).await;
    assert!(matches!(
        error.unwrap_err().kind,
        ErrorKind::NotAvailable(_)
    ));
    let error = client.rotate_credential(&token, uuid()).await.unwrap_err();
    assert!(error.to_string().contains("needs 1.12, this cloud has 1.8"));
    assert!(calls(&server).is_empty());
    let features = client.features(&token).await.unwrap();
    assert_eq!(features.missing().len(), 4);
}

#[tokio::test]
async fn labels_of_nodes_need_the_last_version() {
    let server = magnum("1.13", |_| Reply::Close).await;
    let mut group = NewNodeGroup {
        name: "gpu".to_owned(),
        ..NewNodeGroup::default()
    };
    group
        .node_labels
        .insert("tier".to_owned(), "gpu".to_owned());
    let error = client()
        .create_node_group(&server.token(), uuid(), &group)
        .await;
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("needs 1.14, this cloud has 1.13")
    );
    assert!(calls(&server).is_empty());
}

#[tokio::test]
async fn a_credential_rotation_needs_a_newer_magnum() {
    let server = magnum("1.11", |_| Reply::Close).await;
    let error = client().rotate_credential(&server.token(), uuid()).await;
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("needs 1.12, this cloud has 1.11")
    );
    assert!(calls(&server).is_empty());
}
