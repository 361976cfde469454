use super::{Age, refusal::who_can_at};
use crate::{
    context::use_session,
    format, routes,
    ui::{Icon, Status, Tone, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{AlertRef, Attention, AttentionGap, ObjectRef};
use uuid::Uuid;

/// Maximum number of rows that are not folded, so that what follows stays in sight.
const MAX_UNFOLDED_ROWS: usize = 6;

/// What needs attention, worst first, each with its reason.
#[component]
pub fn AttentionList(
    items: Vec<Attention>,
    /// What could not be checked.
    gaps: Vec<AttentionGap>,
    /// Shows the cluster of each; left out on the cluster's own page.
    #[prop(optional)]
    with_cluster: bool,
) -> impl IntoView {
    let project = use_session().project.get_untracked();
    let nothing = items.is_empty().then(|| {
        let (tone, text) = if gaps.is_empty() {
            (Tone::Ok, "Nothing needs attention")
        } else {
            (
                Tone::Idle,
                "Nothing was found, but not everything could be checked",
            )
        };
        view! { <div class="px-4.5 py-3"><Status tone text /></div> }
    });
    let mut items: Vec<AnyView> = items
        .into_iter()
        .map(|item| attention_row(item, &project, with_cluster))
        .collect();
    let later = items.split_off(items.len().min(MAX_UNFOLDED_ROWS));
    let more = format!("Show {} more", format::count(later.len()));
    let gaps: Vec<AnyView> = gaps.into_iter().map(gap_row).collect();
    view! {
        {nothing}
        {list(items)}
        {folded(more, later)}
        {folded("Not checked".to_owned(), gaps)}
    }
    .into_any()
}

fn list(rows: Vec<AnyView>) -> AnyView {
    let rows = rows
        .into_iter()
        .map(|row| view! { <li>{row}</li> })
        .collect_view();
    view! { <ul class="rows">{rows}</ul> }.into_any()
}

/// Returns rows that are shown on request; nothing if there are none.
fn folded(label: String, rows: Vec<AnyView>) -> Option<AnyView> {
    if rows.is_empty() {
        return None;
    }
    let folded = view! {
        <details class="fold attention-more">
            <summary>
                <Icon icon=icons::CHEVRON_RIGHT />
                {label}
            </summary>
            {list(rows)}
        </details>
    };
    Some(folded.into_any())
}

fn gap_row(gap: AttentionGap) -> AnyView {
    let link = gap.who_can.map(who_can_at);
    view! { <p class="text-muted">{gap.text} " " {link}</p> }.into_any()
}

fn attention_row(item: Attention, project: &str, with_cluster: bool) -> AnyView {
    let target = target(&item, project, with_cluster);
    let names_cluster = item.object.is_none() && target.is_some();
    let alerts = alerts(&item, project, target.is_some());
    let link = match (target, &item.object) {
        (Some(Target { href, text }), _) => view! {
            <a class="font-medium" data-row="" href=href>
                {text}
            </a>
        }
        .into_any(),
        (None, Some(object)) => {
            view! { <span class="font-medium">{subject(object)}</span> }.into_any()
        }
        (None, None) => ().into_any(),
    };
    let more = (item.count > 1).then(|| {
        let count = usize::try_from(item.count).unwrap_or(usize::MAX);
        view! { <span class="text-faint">{format!("× {}", format::count(count))}</span> }
    });
    let cluster = item
        .cluster
        .filter(|_| with_cluster && !names_cluster)
        .map(|cluster| view! { <span class="text-faint">"on "{cluster.name}</span> });
    view! {
        <div class="attention">
            <div class="attention-what">
                <Status tone=Tone::from(item.health) text=item.title />
                <span class="flex flex-wrap gap-x-2">{link} {more} {cluster} {alerts}</span>
            </div>
            <span class="attention-time">
                <Age at=item.since />
            </span>
            <p class="attention-reason">{item.reason}</p>
        </div>
    }
    .into_any()
}

/// Where a row leads.
#[derive(Debug, PartialEq, Eq)]
struct Target {
    href: String,
    text: String,
}

/// Returns the link of a row: to its object, or to the cluster where that as a whole is the problem;
/// `None` on that cluster's own page, and where alerts are the links.
fn target(item: &Attention, project: &str, with_cluster: bool) -> Option<Target> {
    let cluster = item.cluster.as_ref()?;
    let id = Uuid::parse_str(&cluster.id).ok()?;
    match &item.object {
        Some(object) => Some(Target {
            href: routes::object(project, id, object),
            text: subject(object),
        }),
        None if with_cluster && item.alerts.is_empty() => Some(Target {
            href: routes::cluster(project, id),
            text: cluster.name.clone(),
        }),
        None => None,
    }
}

fn subject(object: &ObjectRef) -> String {
    match &object.namespace {
        Some(namespace) => format!("{} in {namespace}", object.name),
        None => object.name.clone(),
    }
}

/// Returns links to the pages of the Alertmanagers that have alerts about the same problem. In a
/// row without an object the first one is the row's own link.
fn alerts(item: &Attention, project: &str, has_object: bool) -> AnyView {
    item.alerts
        .iter()
        .enumerate()
        .map(|(place, alert)| {
            let href = routes::app(project, &alert.app.id);
            let text = alert_text(alert, &item.title);
            if place == 0 && !has_object {
                view! { <a class="font-medium" data-row="" href=href>{text}</a> }.into_any()
            } else {
                view! { <a href=href>{text}</a> }.into_any()
            }
        })
        .collect_view()
        .into_any()
}

/// Returns the alert's name, or its app's if the row has the name already.
fn alert_text(alert: &AlertRef, title: &str) -> String {
    if alert.name == title {
        format!("in {}", alert.app.name)
    } else {
        format!("alert {}", alert.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::identity::Named;
    use portico_domain::panel::{Health, ResourceRef};

    const CLUSTER: &str = "900e3758-8071-430e-a8cf-5c48f428dc0e";

    fn unavailable(id: &str) -> Attention {
        Attention {
            health: Health::Failed,
            title: "Cluster unavailable".to_owned(),
            reason: "It does not answer.".to_owned(),
            cluster: Some(named(id, "acme-prod")),
            object: None,
            since: None,
            count: 0,
            alerts: Vec::new(),
        }
    }

    fn named(id: &str, name: &str) -> Named {
        Named {
            id: id.to_owned(),
            name: name.to_owned(),
        }
    }

    #[test]
    fn a_cluster_that_is_unavailable_leads_to_its_page() {
        let expected = Target {
            href: format!("/projects/p/clusters/{CLUSTER}"),
            text: "acme-prod".to_owned(),
        };
        assert_eq!(target(&unavailable(CLUSTER), "p", true), Some(expected));
        // on that page
        assert_eq!(target(&unavailable(CLUSTER), "p", false), None);
        assert_eq!(target(&unavailable("not an ID"), "p", true), None);
    }

    #[test]
    fn alerts_without_an_object_lead_to_their_app() {
        let alert = AlertRef {
            name: "KubeAPIDown".to_owned(),
            app: named("alertmanager", "Alertmanager"),
        };
        let item = Attention {
            alerts: vec![alert],
            ..unavailable(CLUSTER)
        };
        assert_eq!(target(&item, "p", true), None);
    }

    #[test]
    fn an_object_leads_to_its_page_everywhere() {
        let object = ObjectRef {
            resource: ResourceRef::new("", "v1", "pods"),
            namespace: Some("web".to_owned()),
            name: "front".to_owned(),
        };
        let item = Attention {
            object: Some(object),
            ..unavailable(CLUSTER)
        };
        for with_cluster in [true, false] {
            let found = target(&item, "p", with_cluster).unwrap();
            assert_eq!(found.text, "front in web");
            assert!(found.href.contains(CLUSTER), "{found:?}");
        }
    }
}
