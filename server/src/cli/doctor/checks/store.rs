//! Checks the database: connection, migrations, ownership, and settings that could lose data.
use super::machine::{directory_of, sqlite_file, try_writing};
use crate::cli::doctor::fault::Fault;
use crate::cli::doctor::finding::Finding;
use crate::cli::migrate::read_keys;
use portico_store::{Advice, Store, StoreCause, StoreConfig, StoreError};
use secrecy::ExposeSecret as _;
use std::io;
use std::path::Path;

const SUBJECT: &str = "store";

pub(super) async fn check(section: &StoreConfig) -> Vec<Finding> {
    let Ok(keys) = read_keys(section) else {
        // reported by the check of the keys
        return Vec::new();
    };
    let url = section.url.expose_secret();
    if let Some(file) = sqlite_file(url)
        && !file.exists()
    {
        return vec![before_the_first_start(&file)];
    }
    let store = match Store::connect(url, 1, keys).await {
        Ok(store) => store,
        Err(error) => {
            let of_url = section.advice();
            return std::iter::once(finding(&error))
                .chain(of_url.iter().map(advised))
                .collect();
        }
    };
    let findings = look(section, &store).await;
    store.close().await;
    findings
}

async fn look(section: &StoreConfig, store: &Store) -> Vec<Finding> {
    let mut findings = Vec::new();
    match store.ensure_migrated().await {
        Ok(()) => {
            if let Err(error) = store.ensure_own_keys().await {
                findings.push(finding(&error));
            } else if section.is_for_one_process() {
                findings.push(Finding::ok(
                    SUBJECT,
                    "answers and is up to date; SQLite is for one replica: several need \
                     PostgreSQL or Redis",
                ));
            } else {
                findings.push(Finding::ok(SUBJECT, "answers and is up to date"));
            }
        }
        Err(error) => findings.push(finding(&error)),
    }
    match store.advice().await {
        Ok(advice) => findings.extend(advice.iter().map(advised)),
        Err(error) => findings.push(finding(&error)),
    }
    findings
}

/// Returns the finding for a missing file. Connecting would create it, with doctor's user as its
/// owner.
fn before_the_first_start(file: &Path) -> Finding {
    let name = file.display();
    match try_writing(directory_of(file)) {
        Ok(()) => Finding::fault(
            Fault::StoreNotMigrated,
            SUBJECT,
            format!("{name} does not exist yet"),
        ),
        Err(error) => {
            let fault = match error.kind() {
                io::ErrorKind::ReadOnlyFilesystem => Fault::StoreReadOnly,
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Fault::StoreFull,
                _ => Fault::StoreFileUnusable,
            };
            Finding::fault(fault, SUBJECT, format!("{name}: {error}"))
        }
    }
}

fn finding(error: &StoreError) -> Finding {
    let cause = error.cause();
    let fault = match cause {
        StoreCause::Transport(_) | StoreCause::StartingUp | StoreCause::TooManyConnections => {
            Fault::StoreUnreachable
        }
        StoreCause::Credentials | StoreCause::Permission => Fault::StoreCredentials,
        StoreCause::DatabaseMissing => Fault::StoreDatabaseMissing,
        StoreCause::Damaged => Fault::StoreDamaged,
        StoreCause::FileUnusable | StoreCause::FileDeleted | StoreCause::FileReplaced => {
            Fault::StoreFileUnusable
        }
        StoreCause::ReadOnly => Fault::StoreReadOnly,
        StoreCause::Full => Fault::StoreFull,
        StoreCause::NotMigrated | StoreCause::Uninitialised => Fault::StoreNotMigrated,
        StoreCause::TooNew => Fault::StoreTooNew,
        StoreCause::OtherKeys => Fault::StoreOtherKeys,
        StoreCause::Configuration | StoreCause::Entry | StoreCause::Busy | StoreCause::Other => {
            Fault::StoreUnusable
        }
    };
    let finding = Finding::fault(fault, SUBJECT, error.to_string());
    match cause {
        // these give more detail than the fault
        StoreCause::Transport(_) | StoreCause::StartingUp | StoreCause::TooManyConnections => {
            finding.remedy(cause.next_step())
        }
        _ => finding,
    }
}

fn advised(advice: &Advice) -> Finding {
    let fault = match advice {
        Advice::PlainText { .. } => Fault::StorePlainText,
        Advice::Evicts { .. } => Fault::RedisEvicts,
        Advice::NotPersistent => Fault::RedisNotPersistent,
        Advice::CannotPersist => Fault::StoreFull,
        Advice::Replica => Fault::StoreReadOnly,
    };
    Finding::fault(fault, SUBJECT, advice.to_string())
}
