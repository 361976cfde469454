use super::report::Report;
use crate::cli::migrate::open_store;
use crate::config::Config;
use portico_store::StoreError;

/// The keys, the database, its migrations.
pub(super) async fn check(config: &Config, report: &mut Report) {
    let Some(section) = &config.store else { return };
    let store = match open_store(section).await {
        Ok(store) => store,
        Err(error) => {
            return report.fail(
                "store",
                format!("{error:#}"),
                "check store.url and store.key_files, and that the database runs",
            );
        }
    };
    match store.ensure_migrated().await {
        Ok(()) if section.is_for_one_process() => report.ok(
            "store",
            "answers and is up to date; SQLite is for one replica: several need PostgreSQL or \
             Redis",
        ),
        Ok(()) => report.ok("store", "answers and is up to date"),
        Err(error @ StoreError::TooNew { .. }) => report.fail(
            "store",
            error.to_string(),
            "use the version of portico that migrated it",
        ),
        Err(error) => report.warn(
            "store",
            error.to_string(),
            "`portico all` does so by itself; before single roles run `portico migrate`",
        ),
    }
    match store.advice().await {
        Ok(advice) => {
            for sentence in advice {
                report.warn("store", sentence, "see the guide to the store");
            }
        }
        Err(error) => report.warn("store", error.to_string(), "ask again"),
    }
    store.close().await;
}
