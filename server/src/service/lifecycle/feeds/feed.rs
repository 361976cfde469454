//! One followed cluster: its poller, and the viewers that join.
use super::super::{inspector::Lender, managed, viewer::Viewer, words};
use super::state::{Details, Seen, State, View};
use super::{Accepted, POLLERS, POLLS, Shared};
use jiff::Timestamp;
use parking_lot::Mutex;
use portico_cluster_operations::{
    Clients,
    inside::Inspection,
    mapping,
    observation::{self, ReadGroups},
};
use portico_lifecycle::{
    journal::ObservedGroup,
    model::{Cluster, NodeGroup},
    progress::Outcome,
    rights::Call,
};
use portico_openstack::{
    magnum,
    rest::{Effect, Error, ErrorKind, ScopedToken, Service},
};
use portico_store::JournalKey;
use serde_json::json;
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::sync::Notify;
use uuid::Uuid;

/// The node groups of one answer: for the pages, and for the journal.
type ReadOnce = (Vec<NodeGroup>, BTreeMap<String, ObservedGroup>);

/// A followed cluster of one project.
pub(super) struct Feed {
    shared: Arc<Shared>,
    project_id: String,
    cluster: Uuid,
    state: Mutex<State>,
    /// Held while Magnum is asked, so that one call serves all who wait.
    reading: tokio::sync::Mutex<()>,
    /// Notified when a viewer comes back.
    wake: Notify,
}

/// Returns that the project has no such cluster.
pub(super) fn not_found() -> Error {
    Error {
        service: Service::Magnum,
        operation: "cluster",
        request_id: None,
        status: Some(404),
        effect: Effect::None,
        kind: ErrorKind::NotFound(String::new()),
    }
}

impl Feed {
    pub fn new(shared: Arc<Shared>, project_id: String, cluster: Uuid) -> Self {
        Self {
            shared,
            project_id,
            cluster,
            state: Mutex::default(),
            reading: tokio::sync::Mutex::default(),
            wake: Notify::new(),
        }
    }

    /// Makes a user a viewer, after Magnum has recently confirmed that the user may see the cluster. What was
    /// read before more than `max_age` seconds is read again. Returns whether Magnum was asked for this viewer: other
    /// answers may be older than the request.
    ///
    /// # Errors
    /// As [`super::Feeds::look`].
    pub async fn join(&self, viewer: &Viewer, max_age: u32) -> Result<bool, Error> {
        let (key, second) = (viewer.key(), self.shared.second);
        let mut has_read = false;
        if self.state.lock().needs_read(&key, second, max_age) {
            let _reading = self.reading.lock().await;
            // another request of the same user may have waited before
            let is_needed = self.state.lock().needs_read(&key, second, max_age);
            if is_needed {
                let read = self.read(&viewer.token).await;
                self.admit(viewer, key, read)?;
                has_read = true;
            }
        }
        if self.state.lock().ask(viewer, second) {
            self.wake.notify_one();
        }
        Ok(has_read)
    }

    /// Concludes from Magnum's answer to a viewer's token what the viewer may see.
    fn admit(&self, viewer: &Viewer, key: String, read: Result<(), Error>) -> Result<(), Error> {
        let second = self.shared.second;
        let mut state = self.state.lock();
        let Err(error) = read else {
            state.confirm(key, second);
            return Ok(());
        };
        // of a cluster that Magnum had or will have, nothing but the default policy is left to ask
        let is_known = state.seen.is_some() || state.requested.is_some();
        if error.is_not_found() && is_known && viewer.refusal(Call::ShowCluster, None).is_none() {
            state.confirm(key, second);
            return Ok(());
        }
        if !error.is_refusal() && state.may_see_in_outage(&key, second) {
            return Ok(());
        }
        if error.is_refusal() {
            state.forget(&key);
        }
        Err(error)
    }

    /// Follows a request that the viewer has sent, and Magnum accepted at a time.
    pub fn accept(&self, viewer: &Viewer, request: &Accepted, at: Timestamp) {
        let second = self.shared.second;
        let mut state = self.state.lock();
        // Magnum has accepted a change by this user
        state.confirm(viewer.key(), second);
        state.ask(viewer, second);
        match request {
            Accepted::Creation { name } => {
                if let Some(new) = self.requested(viewer, name, at) {
                    state.accept_creation(new, at);
                }
            }
            Accepted::Deletion => state.accept_deletion(at),
            Accepted::Change {
                followed,
                family,
                versions,
            } => state.accept_change(followed.clone(), *family, *versions, at),
        }
        drop(state);
        self.wake.notify_one();
    }

    /// Returns a new cluster as it was requested, until Magnum has a record of it.
    fn requested(&self, viewer: &Viewer, name: &str, at: Timestamp) -> Option<Seen> {
        let cluster: magnum::Cluster = serde_json::from_value(json!({
            "uuid": self.cluster,
            "name": name,
            "status": "",
            "project_id": self.project_id,
            "user_id": viewer.user_id,
            "created_at": at.to_string(),
        }))
        .ok()?;
        Some(seen(&self.shared.clients, cluster, None))
    }

    /// Takes what a viewer lends for reads of the cluster's own API.
    pub fn lend(&self, lender: Lender) {
        let second = self.shared.second;
        self.state.lock().nodes.lend(lender, second);
    }

    /// Reads the cluster's own API, if that is due.
    async fn inspect(&self) -> Option<Inspection> {
        let now = self.shared.clock.now();
        let inspector = self.state.lock().inspector(self.shared.second, now)?;
        Some(inspector.inspect().await)
    }

    /// Starts the poller unless it runs.
    pub fn follow(self: &Arc<Self>) {
        let mut state = self.state.lock();
        if state.runs {
            return;
        }
        state.runs = true;
        drop(state);
        let feed = Arc::clone(self);
        #[allow(clippy::disallowed_methods, reason = "it ends with the last viewer")]
        tokio::spawn(async move {
            metrics::gauge!(POLLERS).increment(1.0);
            feed.poll().await;
            metrics::gauge!(POLLERS).decrement(1.0);
        });
    }

    /// Asks Magnum again and again, until no one looks any more.
    async fn poll(&self) {
        while let Some(pause) = self.next_pause() {
            if !pause.is_zero() {
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    () = self.wake.notified() => {}
                }
                // a viewer may have read meanwhile
                continue;
            }
            let _reading = self.reading.lock().await;
            let is_due = self
                .state
                .lock()
                .pause(self.shared.second, self.shared.clock.now())
                .is_some_and(|pause| pause.is_zero());
            let token = self.state.lock().token().filter(|_| is_due);
            if let Some(token) = token {
                let read = self.read(&token).await;
                if read.is_err_and(|error| error.is_refusal() && !error.is_not_found()) {
                    self.state.lock().refuse();
                }
            }
        }
    }

    fn next_pause(&self) -> Option<Duration> {
        let mut state = self.state.lock();
        let pause = state.pause(self.shared.second, self.shared.clock.now());
        state.runs = pause.is_some();
        if !state.runs {
            state.nodes.release();
        }
        pause
    }

    /// Asks Magnum once.
    async fn read(&self, token: &ScopedToken) -> Result<(), Error> {
        let read = self
            .shared
            .clients
            .magnum
            .cluster(token, self.cluster)
            .await;
        let now = self.shared.clock.now();
        let error = match read {
            // an administrator's token sees the clusters of all projects
            Ok(cluster) if self.is_of_project(&cluster) => {
                let (inspection, (seen, details)) =
                    tokio::join!(self.inspect(), self.details(token, cluster));
                let groups = details.observed.clone();
                let observation = observation::of_cluster(&seen.cluster, &seen.model, groups);
                let stack = seen.cluster.backend_id().map(str::to_owned);
                self.observe(seen, details, inspection, now);
                count("ok");
                let (key, is_busy) = (self.key(), observation.is_busy());
                self.shared.journal.observe(&key, observation, now).await;
                let events = &self.shared.stack_events;
                events.follow(token, &key, stack.as_deref(), is_busy).await;
                return Ok(());
            }
            Ok(_) => not_found(),
            Err(error) => error,
        };
        if self.note(&error, now) {
            return Ok(());
        }
        if error.is_not_found() && self.state.lock().is_gone() {
            let journal = &self.shared.journal;
            journal.observe_gone(&self.key(), now).await;
            let stack = self.state.lock().backend_id();
            let events = &self.shared.stack_events;
            events.finish(token, &self.key(), stack.as_deref());
        }
        Err(error)
    }

    /// Notes that Magnum did not return the cluster; returns whether nothing follows from it.
    fn note(&self, error: &Error, now: Timestamp) -> bool {
        let mut state = self.state.lock();
        // Magnum can answer once with 400 before it answers 404, and before a record is complete
        if error.status == Some(400) && (state.seen.is_some() || state.requested.is_some()) {
            state.pass();
            return true;
        }
        if error.is_not_found() {
            count("missing");
            state.miss(now);
        } else if error.is_refusal() {
            // it concerns one user only
            count("refused");
        } else {
            count("outage");
            state.fail(error);
        }
        false
    }

    /// Returns what identifies the journal of the cluster.
    fn key(&self) -> JournalKey {
        JournalKey {
            project_id: self.project_id.clone(),
            cluster: self.cluster,
        }
    }

    fn is_of_project(&self, cluster: &magnum::Cluster) -> bool {
        // old versions do not name the project, and show those of the token's only
        cluster.project_id.is_empty() || cluster.project_id == self.project_id
    }

    fn observe(
        &self,
        seen: Seen,
        details: Details,
        inspection: Option<Inspection>,
        now: Timestamp,
    ) {
        let template = seen.model.template.clone();
        let durations = &self.shared.durations;
        let mut state = self.state.lock();
        if let Some(inspection) = inspection {
            state.nodes.note(inspection);
        }
        let Some(ended) = state.observe((seen, details), self.shared.second, now) else {
            return;
        };
        let report = ended.report(now, &durations.typical(&template));
        let has_succeeded = report.outcome == Outcome::Succeeded;
        if has_succeeded && ended.is_creation() && ended.is_observed_from_start() {
            durations.add(&template, &report);
        }
    }

    /// Reads what belongs to an answer. What cannot be read is left as it was.
    async fn details(&self, token: &ScopedToken, cluster: magnum::Cluster) -> (Seen, Details) {
        let clients = &self.shared.clients;
        let (is_needed, known) = {
            let state = self.state.lock();
            let known = state.seen.as_ref().and_then(|seen| seen.template.clone());
            (state.needs_details(&cluster, self.shared.second), known)
        };
        let known =
            known.filter(|template| template.uuid.to_string() == cluster.cluster_template_id);
        if !is_needed {
            return (seen(clients, cluster, known), Details::default());
        }
        let template = match known {
            Some(known) => Some(known),
            None => match clients.template_of(token, &cluster).await {
                Ok(template) => template.map(Arc::new),
                // no details without the driver: the next poll reads them again
                Err(_) => return (seen(clients, cluster, None), Details::default()),
            },
        };
        let seen = seen(clients, cluster, template);
        let (groups, observed) = self.groups(token, &seen.model).await.unzip();
        let remaining = match &groups {
            Some(groups) if managed::is_of_portico(&seen.cluster) => {
                let attempts = &self.shared.attempts;
                let read = attempts.remaining(&self.project_id, &seen.model, groups);
                read.await.ok()
            }
            _ => None,
        };
        let details = Details {
            groups,
            observed,
            remaining,
            cloud: clients.offer(token).await.ok(),
        };
        (seen, details)
    }

    /// Returns the node groups; with bounds and reasons only while nothing runs, because each group is a
    /// call of its own then.
    async fn groups(&self, token: &ScopedToken, cluster: &Cluster) -> Option<ReadOnce> {
        let clients = &self.shared.clients;
        if words::is_busy(&cluster.status) {
            let groups = clients.groups(token, self.cluster).await.ok()?;
            let items = groups.items.iter().map(mapping::group).collect();
            let observed = observation::groups(ReadGroups::Listed(&groups.items));
            return groups.cut.is_none().then_some((items, observed));
        }
        let groups = clients.detailed_groups(token, self.cluster).await.ok()?;
        let items = groups.items.iter().map(mapping::detailed_group).collect();
        let observed = observation::groups(ReadGroups::Detailed(&groups.items));
        groups.cut.is_none().then_some((items, observed))
    }

    /// Returns what the pages show.
    pub fn view(&self) -> Option<View> {
        let now = self.shared.clock.now();
        self.state.lock().view(self.shared.second, now)
    }
}

fn seen(
    clients: &Clients,
    cluster: magnum::Cluster,
    template: Option<Arc<magnum::ClusterTemplate>>,
) -> Seen {
    Seen {
        model: Arc::new(clients.model(&cluster, template.as_deref())),
        cluster: Arc::new(cluster),
        template,
    }
}

fn count(result: &'static str) {
    metrics::counter!(POLLS, "result" => result).increment(1);
}
