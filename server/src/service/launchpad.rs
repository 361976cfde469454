//! What somebody sees first: clusters, apps, and what needs a person.
use super::{Services, attention, overview};
use crate::panel::caller::Caller;
use portico_domain::{
    cluster::ClusterRecord,
    identity::Named,
    panel::{Attention, ClusterCard, Health, Launchpad},
};

/// Things that are shown as needing a person.
const MAX_ATTENTION: usize = 50;

/// The launchpad of the caller's project; of none, an empty one that says whom to ask.
pub async fn view(services: &Services, caller: &Caller) -> Launchpad {
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
    let looks = services
        .clusters
        .of_project(project)
        .into_iter()
        .map(|record| look_at(services, caller, record));
    let with_closed = services.takes_part(caller, &project.id);
    let apps = services
        .apps
        .cards(caller, with_closed, &services.role_names);
    let (looks, apps, firing) = tokio::join!(
        futures::future::join_all(looks),
        apps,
        firing(services, caller)
    );
    let mut pad = Launchpad {
        attention: firing.attention,
        attention_gaps: firing.gaps,
        clusters: Vec::new(),
        apps,
        support_contact: services.support_contact.clone(),
        asks_for: services.asks_for(),
    };
    for (card, findings) in looks {
        // with no right there, there is nothing that could need this person
        if card.rights_hint.is_none() {
            pad.attention.extend(findings.attention);
            pad.attention_gaps.extend(findings.gaps);
        }
        pad.clusters.push(card);
    }
    pad.attention.sort_by(attention::worst_first);
    pad.attention.truncate(MAX_ATTENTION);
    pad
}

/// A cluster's card and what needs attention in it. One that does not answer is told at once.
async fn look_at(
    services: &Services,
    caller: &Caller,
    record: &ClusterRecord,
) -> (ClusterCard, attention::Findings) {
    let named = Named {
        id: record.id.to_string(),
        name: record.name.clone(),
    };
    let closed = |health, why: String| {
        let findings = attention::unavailable(health, named.clone(), why.clone());
        (overview::closed_card(record, health, why), findings)
    };
    let api = match services.api(caller, record.id).await {
        Ok((api, _)) => api,
        Err(error) => return closed(Health::Unknown, error.message),
    };
    if let Err(error) = overview::ready(&api).await {
        return closed(Health::Failed, error.sentence());
    }
    let asks_for = services.asks_for();
    tokio::join!(
        overview::card(&api, record, &asks_for),
        overview::look(&api, &named)
    )
}

async fn firing(services: &Services, caller: &Caller) -> attention::Findings {
    let mut out = attention::Findings::default();
    for (app, alerts) in services.apps.firing(caller).await {
        match alerts {
            Ok(alerts) => out
                .attention
                .extend(alerts.into_iter().map(|alert| Attention {
                    health: if alert.severity == "critical" {
                        Health::Failed
                    } else {
                        Health::Warning
                    },
                    reason: if alert.summary.is_empty() {
                        format!("{app} reports it as firing.")
                    } else {
                        alert.summary
                    },
                    title: alert.name,
                    cluster: None,
                    object: None,
                    since: alert.starts_at,
                    count: 0,
                })),
            Err(error) => out.gaps.push(format!("Alerts: {}", error.message)),
        }
    }
    out
}
