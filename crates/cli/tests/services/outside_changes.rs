//! What other clients of Magnum change is in the journal in words, as a change from outside of Portico.
use crate::panel::Panel;
use crate::tenant::{CLUSTER_API, FULL, Tenant, cluster};
use portico_domain::panel::lifecycle::JournalRow;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

/// Pause between two looks.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum time until the poller of a cluster has seen a change of its record or its node groups.
const PATIENCE: Duration = Duration::from_secs(90);

/// Looks until the journal has a row with this line, and returns the row.
async fn row(panel: &mut Panel, cluster: Uuid, line: &str) -> JournalRow {
    let deadline = Instant::now() + PATIENCE;
    loop {
        panel.look(cluster).await;
        let rows = panel.journal(cluster).await.rows;
        if let Some(row) = rows
            .iter()
            .find(|row| row.lines.iter().any(|one| one == line))
        {
            return row.clone();
        }
        assert!(Instant::now() < deadline, "no {line:?}: {rows:#?}");
        sleep(PAUSE).await;
    }
}

#[tokio::test]
async fn another_maximum_by_another_client_is_in_the_journal() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("outside-max");
        let uuid = tenant.make_complete(&name, FULL, &[]).await.uuid;
        let mut panel = Panel::sign_in(&tenant).await;
        panel.look(uuid).await;
        // direct access to Magnum, without Portico
        let words = [
            "nodegroup",
            "update",
            &name,
            "default-worker",
            "--max",
            "4",
            "--wait",
        ];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let line = "Maximum of default-worker: unlimited → 4";
        let found = row(&mut panel, uuid, line).await;
        assert!(found.is_outside, "{found:?}");
        assert_eq!(found.by, "Another client of Magnum, outside of Portico");
    })
    .await;
}

#[tokio::test]
async fn case_44_the_owner_after_a_rotation_by_a_colleague_is_in_the_journal() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("outside-owner");
        let uuid = tenant.make_complete(&name, CLUSTER_API, &[]).await.uuid;
        let mut panel = Panel::sign_in(&tenant).await;
        panel.look(uuid).await;
        let colleague = tenant.user("member").await;
        let person = tenant.person_of(&colleague);
        let words = ["credential", "rotate", &name, "--yes"];
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        // the colleague has never used Portico, so that only Keystone knows the name
        let line = format!("Owner: you → the user with the ID {}", colleague.id);
        let found = row(&mut panel, uuid, &line).await;
        assert!(found.is_outside, "{found:?}");
    })
    .await;
}
