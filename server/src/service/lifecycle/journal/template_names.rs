//! Reads the names of templates, for entries that have their UUIDs.
use crate::service::lifecycle::viewer::Viewer;
use portico_cache::Cache;
use portico_cluster_operations::Clients;
use portico_lifecycle::journal::{TEMPLATE_FIELD, TemplateNames, UPGRADE_ACTION};
use portico_store::JournalEntry;
use std::{sync::Arc, time::Duration};

/// How long the names are reused.
const TTL: Duration = Duration::from_secs(60);
/// Maximum number of viewers whose names are reused.
const MAX_VIEWERS: u64 = 1_000;

/// The names that a viewer may read, by project, user and roles.
pub type NamesByViewer = Cache<(String, String), Arc<TemplateNames>>;

/// Returns an empty cache.
pub fn names_by_viewer() -> NamesByViewer {
    Cache::builder()
        .max_capacity(MAX_VIEWERS)
        .time_to_live(TTL)
        .build()
}

/// Returns the names of the templates that the viewer may list, if an entry needs one; none if Magnum does
/// not list them. All entries of a page cost one list.
pub async fn template_names(
    clients: &Clients,
    cache: &NamesByViewer,
    viewer: &Viewer,
    entries: &[JournalEntry],
) -> Arc<TemplateNames> {
    if !entries.iter().any(has_template) {
        return Arc::default();
    }
    let key = (viewer.project_id().to_owned(), viewer.key());
    if let Some(known) = cache.get(&key).await {
        return known;
    }
    match clients.magnum.templates(&viewer.token).await {
        Ok(found) => {
            let pairs = found.items.into_iter();
            let pairs = pairs.map(|template| (template.uuid.to_string(), template.name));
            let names = Arc::new(TemplateNames::of(pairs));
            cache.insert(key, Arc::clone(&names)).await;
            names
        }
        // the client has logged it, and the UUIDs remain
        Err(_) => Arc::default(),
    }
}

/// Returns whether an entry may have the UUID of a template. Its content is JSON with these words in it.
fn has_template(entry: &JournalEntry) -> bool {
    [TEMPLATE_FIELD, UPGRADE_ACTION]
        .iter()
        .any(|word| entry.content.contains(&format!("\"{word}\"")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::lifecycle::changing_magnum::{ChangingMagnum, TEMPLATE};
    use jiff::Timestamp;
    use portico_store::JournalSource;
    use serde_json::{Value, json};
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn entry(content: &Value) -> JournalEntry {
        JournalEntry {
            sequence: 1,
            at: Timestamp::UNIX_EPOCH,
            source: JournalSource::Request,
            content: content.to_string(),
            hash: String::new(),
        }
    }

    fn upgrade() -> JournalEntry {
        entry(&json!({"action": "upgrade_cluster", "target": TEMPLATE}))
    }

    #[tokio::test]
    async fn all_entries_and_pages_cost_one_list_for_each_viewer() {
        let lists = Arc::new(AtomicUsize::new(0));
        let of_reply = Arc::clone(&lists);
        let magnum = ChangingMagnum::start(Vec::new(), move |request, _| {
            if request.path == "clustertemplates/detail" {
                of_reply.fetch_add(1, Ordering::SeqCst);
            }
            None
        });
        let magnum = magnum.await;
        let cache = names_by_viewer();
        let ada = magnum.viewer("ada", &["member"]);
        let resize = entry(&json!({"action": "resize_node_group", "target": "gpu to 3"}));
        let none = template_names(&magnum.clients, &cache, &ada, &[resize]).await;
        assert_eq!(none.shown(TEMPLATE), TEMPLATE);
        assert_eq!(lists.load(Ordering::SeqCst), 0, "no entry needs one");
        for _ in 0..2 {
            let entries = [upgrade(), upgrade()];
            let names = template_names(&magnum.clients, &cache, &ada, &entries).await;
            assert_eq!(names.shown(TEMPLATE), "small");
        }
        assert_eq!(lists.load(Ordering::SeqCst), 1);
        let grace = magnum.viewer("grace", &["member"]);
        template_names(&magnum.clients, &cache, &grace, &[upgrade()]).await;
        assert_eq!(lists.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn without_a_list_the_uuids_remain() {
        let magnum = ChangingMagnum::start(Vec::new(), |request, _| {
            (request.path == "clustertemplates/detail").then(|| (503, json!("<html>busy</html>")))
        });
        let magnum = magnum.await;
        let ada = magnum.viewer("ada", &["member"]);
        let cache = names_by_viewer();
        let names = template_names(&magnum.clients, &cache, &ada, &[upgrade()]).await;
        assert_eq!(names.shown(TEMPLATE), TEMPLATE);
    }
}
