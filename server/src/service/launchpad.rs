//! The first page of a project: clusters, apps, and what needs attention.
use super::{
    Services,
    attention::{
        self,
        alerts::{self, Fired, Scope},
    },
    overview,
};
use crate::{
    caller::Caller,
    kube::{Cluster, ClusterSnapshot},
};
use portico_domain::{
    identity::Named,
    panel::{AttentionGap, ClusterCard, Health, Launchpad},
};
use std::sync::Arc;

/// Maximum number of rows in the attention list.
const MAX_ATTENTION_ROWS: usize = 50;

/// Returns the launchpad of the caller's project; without a project, an empty one that names whom
/// to ask.
pub async fn view(services: &Services, clusters: &ClusterSnapshot, caller: &Caller) -> Launchpad {
    let Some(project) = caller.project() else {
        return Launchpad {
            attention: Vec::new(),
            attention_gaps: Vec::new(),
            clusters: Vec::new(),
            apps: Vec::new(),
            support_contact: services.support_contact.clone(),
            asks_for: services.asks_for(),
        };
    };
    let looks = clusters
        .of_project(project)
        .map(|cluster| look_at(services, clusters, caller, cluster));
    let with_closed = services.takes_part(caller, &project.id);
    let apps = services
        .apps
        .cards(caller, with_closed, &services.role_names);
    let (looks, apps, (fired, gaps)) = tokio::join!(
        futures::future::join_all(looks),
        apps,
        firing(services, caller)
    );
    let mut troubles = Vec::new();
    let mut pad = Launchpad {
        attention: Vec::new(),
        attention_gaps: gaps,
        clusters: Vec::new(),
        apps,
        support_contact: services.support_contact.clone(),
        asks_for: services.asks_for(),
    };
    for (card, findings) in looks {
        // without a right there, the caller could do nothing
        if card.rights_hint.is_none() {
            troubles.extend(findings.troubles);
            let gaps = attention::gap_rows(findings.gaps, &project.id, card.id);
            pad.attention_gaps.extend(gaps);
        }
        pad.clusters.push(card);
    }
    let is_cluster = |id| clusters.get(id).is_some();
    let scope = Scope {
        project,
        projects: &caller.claims().projects,
        own: clusters
            .of_project(project)
            .map(|one| one.record())
            .collect(),
        // tenants choose the names of enrolled clusters, and must not hide alerts from others by
        // them
        all: clusters.configured().collect(),
        is_cluster: &is_cluster,
    };
    alerts::join(&mut troubles, fired, &scope);
    pad.attention = attention::rows(troubles);
    pad.attention.truncate(MAX_ATTENTION_ROWS);
    pad
}

/// Returns a cluster's card and what needs attention in it. A cluster that does not respond is
/// reported at once.
async fn look_at(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: &Cluster,
) -> (ClusterCard, attention::Findings) {
    let record = cluster.record();
    let named = Named {
        id: record.id.to_string(),
        name: record.name.clone(),
    };
    let closed = |health, why: String| {
        let findings = attention::unavailable(health, named.clone(), why.clone());
        (overview::closed_card(record, health, why), findings)
    };
    let api = match services.api_among(clusters, caller, record.id).await {
        Ok((api, _)) => api,
        Err(error) => return closed(Health::Unknown, error.message),
    };
    if let Err(error) = overview::ready(&api).await {
        return closed(Health::Failed, error.sentence());
    }
    let asks_for = services.asks_for();
    let (card, findings) = tokio::join!(
        overview::card(&api, record, &asks_for),
        services
            .details
            .attention(&api, &named, overview::DETAILS_TIMEOUT)
    );
    let findings = match findings {
        Some(findings) => Arc::unwrap_or_clone(findings),
        None => attention::took_too_long(&named),
    };
    (card, findings)
}

/// Returns every firing alert that the caller may read, and the apps that could not be queried.
async fn firing(services: &Services, caller: &Caller) -> (Vec<Fired>, Vec<AttentionGap>) {
    let (mut fired, mut gaps) = (Vec::new(), Vec::new());
    for (app, alerts) in services.apps.firing(caller).await {
        match alerts {
            Ok(alerts) => fired.extend(alerts.into_iter().map(|alert| Fired {
                alert,
                app: app.clone(),
            })),
            Err(error) => gaps.push(AttentionGap::from(format!("Alerts: {}", error.message))),
        }
    }
    (fired, gaps)
}
