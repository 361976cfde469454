//! Lists that are read again and again with the user's own requests: those over too many namespaces,
//! and those that the user may list but not watch.
use super::{Follower, Round, shares::Shares, view::View};
use crate::{
    kube::listing,
    service::{
        error::ServiceError,
        lists::{self, Filter, Opened, Window},
    },
    stream::outbox::Gone,
};
use jiff::Timestamp;
use portico_domain::panel::{ListScope, ResourceKind};
use std::{sync::Arc, time::Duration};

const POLL_INTERVAL: Duration = Duration::from_secs(5);

impl Follower {
    pub(super) async fn poll(
        &self,
        opened: Opened,
        filter: &Filter,
        mut shares: Shares,
        last_good: &mut Timestamp,
    ) -> Result<Round, Gone> {
        let (kind, mut scope) = (opened.kind, opened.scope);
        let mut view = View::new(&self.query);
        let mut has_worked = false;
        loop {
            let (now, window) = match self.read(&kind, scope.clone(), filter).await {
                Ok(read) => read,
                Err(error) => return Ok(Round::Failed(error, has_worked)),
            };
            *last_good = Timestamp::now();
            if let Err(need) = shares.bytes(window.bytes) {
                return Ok(Round::Limited(need));
            }
            let message = if !has_worked || now != scope {
                Some(view.snapshot(self.id, &now, window))
            } else {
                view.changes(self.id, &now, window)
            };
            has_worked = true;
            scope = now;
            if let Some(message) = message {
                self.send(&view, message).await?;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
            view.send_uncertain_again();
            match self.scope(&kind).await {
                Ok(now) if listing::places(&now) == listing::places(&scope) => {}
                Ok(_) => return Ok(Round::Again),
                Err(error) => return Ok(Round::Failed(error, true)),
            }
        }
    }

    async fn read(
        &self,
        kind: &ResourceKind,
        scope: ListScope,
        filter: &Filter,
    ) -> Result<(ListScope, Window), ServiceError> {
        let api = self.api().await?;
        let selection = lists::selection(&self.query);
        let mut merged = listing::list(&api, kind, &scope, &selection).await?;
        let scope = merged.leave_out_refused(scope);
        if let Some((_, error)) = merged.failures.first() {
            // a part that did not respond must not look like deleted rows
            return Err(error.clone().into());
        }
        let columns: Arc<[_]> = merged.columns().into();
        let is_cut = merged.parts.iter().any(|part| part.cut);
        let rows: Vec<_> = merged.into_rows().into_iter().map(Arc::new).collect();
        let bytes = rows.iter().map(|row| row.bytes()).sum();
        let (rows, total) = lists::arrange(rows, &columns, filter);
        Ok((
            scope,
            Window {
                columns,
                rows,
                total,
                bytes,
                is_cut,
            },
        ))
    }
}
