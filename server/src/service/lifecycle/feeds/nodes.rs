//! The nodes of a followed cluster: with whose rights they are read, how often, and what was found.
use super::super::inspector::{Inspector, Lender};
use portico_cluster_operations::inside::Inspection;
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

/// How long nodes are not read again.
const NODES_AGE: u32 = 5;
/// The same after the cluster's API server did not return them.
const UNREAD_NODES_AGE: u32 = 20;
/// For how long what a viewer lends is used after the viewer has asked.
const LENT: u32 = 20;
/// Age from which nodes are not shown any more.
const SHOWN_AGE: u32 = 60;

/// What is known of the nodes.
#[derive(Default)]
pub(super) struct Nodes {
    /// What was lent last, and when.
    lender: Option<(Lender, Instant)>,
    found: Option<(Arc<Inspection>, Instant)>,
}

impl Nodes {
    /// Takes what a viewer lends. What reads more is used as long as its viewer looks.
    pub fn lend(&mut self, lender: Lender, second: Duration) {
        let is_better = self.lender.as_ref().is_some_and(|(known, at)| {
            known.reads_budgets && !lender.reads_budgets && at.elapsed() < second * LENT
        });
        if !is_better {
            self.lender = Some((lender, Instant::now()));
        }
    }

    /// Returns with what the nodes are to be read now; `None`: they are young enough, or no viewer who may
    /// list them has asked recently.
    pub fn inspector(&mut self, second: Duration) -> Option<Arc<dyn Inspector>> {
        // a token is not held longer than its user looks
        self.lender.take_if(|(_, at)| at.elapsed() >= second * LENT);
        let is_young = self.found.as_ref().is_some_and(|(found, at)| {
            let age = match found.nodes {
                Ok(_) => NODES_AGE,
                Err(_) => UNREAD_NODES_AGE,
            };
            at.elapsed() < second * age
        });
        let lender = self.lender.as_ref().filter(|_| !is_young);
        lender.map(|(lender, _)| Arc::clone(&lender.inspector))
    }

    /// Gives back what was lent, with its user's token, when no viewer looks any more.
    pub fn release(&mut self) {
        self.lender = None;
    }

    /// Notes what was found.
    pub fn note(&mut self, inspection: Inspection) {
        self.found = Some((Arc::new(inspection), Instant::now()));
    }

    /// Forgets what was found during an earlier operation.
    pub fn forget(&mut self) {
        self.found = None;
    }

    /// Returns what was found, if it is younger than a limit.
    pub fn recent(&self, limit: Duration) -> Option<Arc<Inspection>> {
        let (found, at) = self.found.as_ref()?;
        (at.elapsed() < limit).then(|| Arc::clone(found))
    }

    /// Returns what the pages show.
    pub fn shown(&self, second: Duration) -> Option<Arc<Inspection>> {
        self.recent(second * SHOWN_AGE)
    }
}
