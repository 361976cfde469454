//! The audit log.
//!
//! Scripts cannot compute the hashes of the chain, so a writer reads the head, computes the hashes,
//! and writes with a script that succeeds only if the head is unchanged; otherwise the writer
//! starts again.
use super::RedisStore;
use super::entry::{Entry as Row, Fields, Found};
use super::scripts::AUDIT;
use crate::audit::chain::{Head, Link, Record};
use crate::audit::filter::{AuditFilter, Order};
use crate::audit::log::AuditLog;
use crate::audit::writer::Writer;
use crate::audit::{Entry, MAX_LISTED_ENTRIES, TABLE};
use crate::error::StoreError;
use crate::sealing::{KeyRing, Signature};
use ::redis::ScriptInvocation;
use async_trait::async_trait;
use jiff::Timestamp;
use std::time::Duration;

/// Maximum number of times that writers of other processes may be first; each time one of them
/// makes progress.
const MAX_TRIES: u32 = 200;
/// Number of entries that one read returns.
const PAGE_ENTRIES: i64 = 500;

#[async_trait]
impl AuditLog for RedisStore {
    fn keys(&self) -> &KeyRing {
        &self.shared.keys
    }

    fn writer(&self) -> &Writer {
        &self.shared.audit_writer
    }

    async fn append_records(&self, records: &[Record], now_millis: i64) -> Result<(), StoreError> {
        const OPERATION: &str = "append to the audit log";
        let keys = &self.shared.keys;
        for attempt in 0..MAX_TRIES {
            let found = self.head().await?;
            let resumed = self.resume(found.clone(), now_millis, false).await?;
            let (mut head, broken) = resumed;
            let mut entries = Vec::with_capacity(records.len() + 1);
            for record in broken.iter().chain(records) {
                entries.push((head.extend(keys, record), record));
            }
            head.seal(keys);
            if self.write(OPERATION, found, &head, &entries).await? {
                return Ok(());
            }
            pause(attempt).await;
        }
        Err(StoreError::Contended {
            operation: OPERATION,
        })
    }

    async fn adopt_entries(
        &self,
        now: Timestamp,
        limit: u16,
        is_migration: bool,
    ) -> Result<u64, StoreError> {
        const OPERATION: &str = "append older audit events";
        let keys = &self.shared.keys;
        for attempt in 0..MAX_TRIES {
            let found = self.head().await?;
            let mut call = self.redis.call(&AUDIT, "unchained");
            call.arg(limit);
            let rows: Vec<Found> = self.redis.script("read the audit log", &call).await?;
            let is_current = found
                .as_ref()
                .is_some_and(|head| keys.is_current(&head.seal));
            if rows.is_empty() && is_current {
                return Ok(0);
            }
            let at = now.as_millisecond();
            let resumed = self.resume(found.clone(), at, is_migration).await?;
            let (mut head, broken) = resumed;
            let mut records = Vec::with_capacity(rows.len());
            for row in rows.into_iter().filter_map(|row| Row::of(TABLE, row)) {
                records.push(Record {
                    adopted_millis: Some(at),
                    ..record(&row)?
                });
            }
            let mut entries = Vec::with_capacity(records.len() + 1);
            for record in broken.iter().chain(&records) {
                entries.push((head.extend(keys, record), record));
            }
            head.seal(keys);
            if self.write(OPERATION, found, &head, &entries).await? {
                return Ok(records.len() as u64);
            }
            pause(attempt).await;
        }
        Err(StoreError::Contended {
            operation: OPERATION,
        })
    }

    async fn trim_entries(
        &self,
        before: Timestamp,
        limit: u16,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        const OPERATION: &str = "delete old audit events";
        let keys = &self.shared.keys;
        for attempt in 0..MAX_TRIES {
            let oldest = self
                .read_entries(
                    &AuditFilter::default(),
                    Order::OldestFirst,
                    i64::from(limit),
                )
                .await?;
            let mut old = oldest.iter();
            let mut last = None;
            while let Some(entry) = old
                .next()
                .filter(|e| e.record.at_millis < before.as_millisecond())
            {
                last = Some(&entry.link);
            }
            let Some(last) = last else {
                return Ok(0);
            };
            let found = self.head().await?;
            let at = now.as_millisecond();
            let (mut head, broken) = self.resume(found.clone(), at, false).await?;
            if let Some(record) = broken {
                // recorded before the ends of the chain are moved
                let link = head.extend(keys, &record);
                head.seal(keys);
                let noted = [(link, &record)];
                self.write(OPERATION, found, &head, &noted).await?;
                continue;
            }
            head.start_sequence = last.sequence;
            head.start_hash.clone_from(&last.hash);
            head.seal(keys);
            let mut call = self.redis.call(&AUDIT, "trim");
            head_arguments(&mut call, &found.unwrap_or_default());
            head_arguments(&mut call, &head);
            call.arg(last.sequence);
            let (done, deleted): (u8, u64) = self.redis.script(OPERATION, &call).await?;
            if done == 1 {
                return Ok(deleted);
            }
            pause(attempt).await;
        }
        Err(StoreError::Contended {
            operation: OPERATION,
        })
    }

    async fn read_entries(
        &self,
        filter: &AuditFilter,
        order: Order,
        limit: i64,
    ) -> Result<Vec<Entry>, StoreError> {
        let index = match (filter.session, &filter.user_id, &filter.project_id) {
            (Some(session), _, _) => format!("audit_of_session:{session}"),
            (None, Some(user), _) => format!("audit_of_user:{user}"),
            (None, None, Some(project)) => format!("audit_of_project:{project}"),
            (None, None, None) => "audit_sequence".to_owned(),
        };
        let (mut after, mut before) = (filter.after, filter.before);
        let wanted = usize::try_from(limit.clamp(0, MAX_LISTED_ENTRIES)).unwrap_or_default();
        let mut entries = Vec::new();
        while entries.len() < wanted {
            let action = match order {
                Order::NewestFirst => "newest_first",
                Order::OldestFirst => "oldest_first",
            };
            let mut call = self.redis.call(&AUDIT, action);
            call.arg(&index)
                .arg(after.map_or_else(|| "-inf".to_owned(), |n| format!("({n}")))
                .arg(before.map_or_else(|| "+inf".to_owned(), |n| format!("({n}")))
                .arg(PAGE_ENTRIES);
            let page: Vec<Found> = self.redis.script("read the audit log", &call).await?;
            let full = i64::try_from(page.len()).unwrap_or(PAGE_ENTRIES) >= PAGE_ENTRIES;
            let mut last = None;
            for row in page.into_iter().filter_map(|row| Row::of(TABLE, row)) {
                let entry = entry(&row)?;
                last = Some(entry.link.sequence);
                if fits(filter, &entry.record) && entries.len() < wanted {
                    entries.push(entry);
                }
            }
            match order {
                _ if !full || last.is_none() => break,
                Order::NewestFirst => before = last,
                Order::OldestFirst => after = last,
            }
        }
        Ok(entries)
    }

    async fn head(&self) -> Result<Option<Head>, StoreError> {
        type Fields = (
            Option<i64>,
            Option<String>,
            Option<i64>,
            Option<String>,
            Option<String>,
        );
        let call = self.redis.call(&AUDIT, "head");
        let found: Fields = self.redis.script("read the audit log", &call).await?;
        let (Some(sequence), Some(hash), Some(start_sequence), Some(start_hash), Some(seal)) =
            found
        else {
            return Ok(None);
        };
        Ok(Some(Head {
            sequence,
            hash,
            start_sequence,
            start_hash,
            seal,
        }))
    }

    async fn outside(&self, head: &Head) -> Result<(i64, i64), StoreError> {
        let mut call = self.redis.call(&AUDIT, "outside");
        call.arg(head.start_sequence);
        self.redis.script("read the audit log", &call).await
    }
}

impl RedisStore {
    /// Decides where to continue, see [`Head::resume`]; a migration may begin a chain.
    async fn resume(
        &self,
        found: Option<Head>,
        now_millis: i64,
        may_begin: bool,
    ) -> Result<(Head, Option<Record>), StoreError> {
        let keys = &self.shared.keys;
        let good = found
            .as_ref()
            .is_some_and(|head| head.check(keys) == Signature::Valid);
        let last = if good {
            None
        } else {
            let all = AuditFilter::default();
            let mut newest = self.read_entries(&all, Order::NewestFirst, 1).await?;
            newest.pop().map(|entry| entry.link)
        };
        if may_begin && last.is_none() && found.is_none() {
            return Ok((Head::default(), None));
        }
        Ok(Head::resume(found, keys, last.as_ref(), now_millis))
    }

    /// Writes entries and the new head, unless the head differs from `found` by now.
    async fn write(
        &self,
        operation: &'static str,
        found: Option<Head>,
        head: &Head,
        entries: &[(Link, &Record)],
    ) -> Result<bool, StoreError> {
        let mut call = self.redis.call(&AUDIT, "write");
        match &found {
            Some(found) => head_arguments(&mut call, found),
            None => (0..5).for_each(|_| {
                call.arg("");
            }),
        }
        head_arguments(&mut call, head);
        for (link, record) in entries {
            let fields = fields(link, record);
            call.arg(&record.id)
                .arg(link.sequence)
                .arg(2 * fields.len());
            fields.append_to(&mut call);
        }
        let written: u8 = self.redis.script(operation, &call).await?;
        Ok(written == 1)
    }
}

/// Waits for a short random time, so that writers do not retry in step.
async fn pause(attempt: u32) {
    let longest = 1_u64 << attempt.min(6);
    tokio::time::sleep(Duration::from_millis(rand::random_range(0..=longest))).await;
}

fn head_arguments(call: &mut ScriptInvocation<'_>, head: &Head) {
    call.arg(head.sequence)
        .arg(&head.hash)
        .arg(head.start_sequence)
        .arg(&head.start_hash)
        .arg(&head.seal);
}

fn fields(link: &Link, record: &Record) -> Fields {
    Fields::default()
        .with("id", &record.id)
        .with("at_millis", record.at_millis)
        .optional("adopted_millis", record.adopted_millis)
        .optional("request_id", record.request_id.as_ref())
        .optional("session_id", record.session_id.as_ref())
        .optional("user_id", record.user_id.as_ref())
        .optional("user_name", record.user_name.as_ref())
        .optional("project_id", record.project_id.as_ref())
        .optional("cluster_id", record.cluster_id.as_ref())
        .with("action", &record.action)
        .with("target", &record.target)
        .with("outcome", &record.outcome)
        .with("detail", &record.detail)
        .with("sequence", link.sequence)
        .with("hash", &link.hash)
        .with("seal", &link.seal)
}

fn entry(row: &Row) -> Result<Entry, StoreError> {
    Ok(Entry {
        record: record(row)?,
        link: Link {
            sequence: row.integer("sequence")?,
            hash: row.optional_owned("hash").unwrap_or_default(),
            seal: row.optional_owned("seal").unwrap_or_default(),
        },
    })
}

fn record(row: &Row) -> Result<Record, StoreError> {
    Ok(Record {
        id: row.owned("id")?,
        at_millis: row.integer("at_millis")?,
        adopted_millis: row.optional("adopted_millis")?,
        request_id: row.optional_owned("request_id"),
        session_id: row.optional_owned("session_id"),
        user_id: row.optional_owned("user_id"),
        user_name: row.optional_owned("user_name"),
        project_id: row.optional_owned("project_id"),
        cluster_id: row.optional_owned("cluster_id"),
        action: row.owned("action")?,
        target: row.owned("target")?,
        outcome: row.owned("outcome")?,
        detail: row.owned("detail")?,
    })
}

/// Returns whether a record matches those parts of the filter that the index does not cover.
fn fits(filter: &AuditFilter, record: &Record) -> bool {
    let is = |wanted: &Option<String>, found: &Option<String>| {
        wanted.is_none() || wanted.as_deref() == found.as_deref()
    };
    let session = filter.session.map(|id| id.to_string());
    let user = filter.user.as_ref().is_none_or(|user| {
        let name = record.user_name.as_ref().map(|name| name.to_lowercase());
        record.user_id.as_ref() == Some(user) || name == Some(user.to_lowercase())
    });
    let action = filter.action.as_ref().is_none_or(|action| {
        let rest = record.action.strip_prefix(action.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    });
    let target = filter.target.as_ref().is_none_or(|target| {
        let rest = record.target.strip_prefix(target.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    });
    let at = record.at_millis;
    is(&filter.user_id, &record.user_id)
        && is(&session, &record.session_id)
        && is(&filter.project_id, &record.project_id)
        && is(&filter.cluster_id, &record.cluster_id)
        && user
        && action
        && target
        && filter
            .outcome
            .is_none_or(|outcome| outcome.as_str() == record.outcome)
        && filter
            .since
            .is_none_or(|since| at >= since.as_millisecond())
        && filter.until.is_none_or(|until| at < until.as_millisecond())
}
