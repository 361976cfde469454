//! The pages of apps without a user interface of their own: a registry, or Alertmanager.
use crate::{
    api::apps::{get_alerts, get_registry},
    components::{Age, ErrorState, PageHead, not_permitted},
    context::use_session,
    error::{UiError, UiErrorKind},
    format,
    hooks::keep_fresh,
    pages::use_parameter,
    ui::{
        Banner, Card, CodeBlock, Icon, Severity, SkeletonTable, StateMessage, Status, TableRegion,
        Tone, icons, suspended,
    },
};
use leptos::prelude::*;
use portico_domain::panel::{Alert, AlertsView, Reading, RegistryView, Repository};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The view of an app, depending on its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum AppView {
    Registry(RegistryView),
    Alerts(AlertsView),
}

/// Loads the app. The address does not contain its kind; the server knows one kind only.
async fn ask(app: String) -> Result<AppView, UiError> {
    match get_registry(app.clone()).await {
        Ok(view) => Ok(AppView::Registry(view)),
        Err(error) if error.kind == UiErrorKind::NotFound => {
            get_alerts(app).await.map(AppView::Alerts)
        }
        Err(error) => Err(error),
    }
}

#[component]
pub fn App() -> impl IntoView {
    let session = use_session();
    let app = use_parameter("app");
    let data = Resource::new(
        move || (session.project.get(), app.get()),
        |(_, app)| ask(app),
    );
    let outdated = RwSignal::new(false);
    keep_fresh(data, Duration::from_secs(15), outdated, move || {
        ask(app.get_untracked())
    });
    let retry = Callback::new(move |()| data.refetch());
    view! {
        <main id="main" tabindex="-1" class="page">
            {move || outdated.get().then(|| view! {
                <div class="mb-4">
                    <Banner tone=Tone::Warn>"The app did not respond; the data shown is from an \
                                             earlier response."</Banner>
                </div>
            })}
            <Suspense fallback=|| view! { <SkeletonTable /> }>
                {move || suspended(async move {
                    match data.await {
                        Ok(AppView::Registry(view)) => registry(view),
                        Ok(AppView::Alerts(view)) => alerts(view),
                        Err(error) => view! {
                            <PageHead title="App" crumbs=Vec::new() />
                            <div class="card"><ErrorState error retry /></div>
                        }
                        .into_any(),
                    }
                })}
            </Suspense>
        </main>
    }
    .into_any()
}

fn registry(view: RegistryView) -> AnyView {
    let status =
        view! { <Status tone=Tone::from(view.app.health) text=view.app.status /> }.into_any();
    let body = if view.repositories.is_empty() {
        view! {
            <div class="card">
                <StateMessage
                    icon=icons::PACKAGE
                    title="No repositories yet"
                    text="Images appear here when they have been pushed to the registry."
                    state="empty"
                />
            </div>
        }
        .into_any()
    } else {
        let count = format::count(view.repositories.len());
        let host = view.host;
        let rows = view
            .repositories
            .into_iter()
            .map(|repository| repository_card(repository, host.as_deref()))
            .collect_view();
        view! {
            <p class="text-muted mb-2">
                {if view.truncated {
                    format!("The first {count} repositories")
                } else {
                    format!("{count} repositories")
                }}
            </p>
            <ul class="card rows">{rows}</ul>
        }
        .into_any()
    };
    view! {
        <PageHead title=view.app.name icon=icons::PACKAGE crumbs=Vec::new() lede=view.app.description aside=status />
        {body}
    }
    .into_any()
}

fn repository_card(repository: Repository, host: Option<&str>) -> AnyView {
    // a reference without a host means the one that the container runtime tries first
    let name = match host {
        Some(host) => format!("{host}/{}", repository.name),
        None => repository.name.clone(),
    };
    let tags = match repository.tags {
        Reading::NotPermitted(refusal) => not_permitted("see its tags", &refusal),
        Reading::Unavailable(reason) => view! { <Status tone=Tone::Warn text=reason /> }.into_any(),
        Reading::Known(tags) if tags.is_empty() => {
            view! { <span class="text-muted">"No tags"</span> }.into_any()
        }
        Reading::Known(tags) => {
            let newest = tags.last().cloned().unwrap_or_default();
            let chips = tags
                .into_iter()
                .map(|tag| view! { <span class="chip">{tag}</span> })
                .collect_view();
            view! {
                <div class="chips">{chips}</div>
                // no `docker pull`: the gateway does not speak the registry's token protocol yet
                <CodeBlock text=format!("{name}:{newest}") what=format!("reference to {}", repository.name) />
            }
            .into_any()
        }
    };
    view! {
        <li class="grid grid-cols-1 gap-2">
            <h2 class="flex items-center gap-2 wrap-anywhere">
                <Icon icon=icons::PACKAGE />
                {repository.name}
            </h2>
            {tags}
        </li>
    }
    .into_any()
}

fn alerts(view: AlertsView) -> AnyView {
    let status =
        view! { <Status tone=Tone::from(view.app.health) text=view.app.status /> }.into_any();
    let body = if view.alerts.is_empty() {
        view! {
            <Card title="Alerts">
                <StateMessage
                    icon=icons::OK
                    title="No alert is firing"
                    text="Alerts appear here as soon as Alertmanager has them."
                    state="empty"
                />
            </Card>
        }
        .into_any()
    } else {
        let rows = view.alerts.into_iter().map(alert_row).collect_view();
        view! {
            <TableRegion label="Alerts">
                <thead>
                    <tr>
                        <th scope="col">"Alert"</th>
                        <th scope="col">"Severity"</th>
                        <th scope="col">"State"</th>
                        <th scope="col">"Summary"</th>
                        <th scope="col">"For"</th>
                        <th scope="col">"Labels"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </TableRegion>
        }
        .into_any()
    };
    view! {
        <PageHead title=view.app.name icon=icons::BELL crumbs=Vec::new() lede=view.app.description aside=status />
        {body}
    }
    .into_any()
}

fn alert_row(alert: Alert) -> AnyView {
    let severity = if alert.severity.is_empty() {
        "none".to_owned()
    } else {
        alert.severity
    };
    let labels = alert
        .labels
        .into_iter()
        .filter(|(key, _)| key != "alertname" && key != "severity")
        .map(|(key, value)| view! { <span class="chip">{format!("{key}={value}")}</span> })
        .collect_view();
    view! {
        <tr>
            <th scope="row" class="cell-name">{alert.name}</th>
            <td><Severity text=severity /></td>
            <td>{alert.state}</td>
            <td class="cell-wide">{alert.summary}</td>
            <td><Age at=alert.starts_at /></td>
            <td class="cell-text"><span class="chips">{labels}</span></td>
        </tr>
    }
    .into_any()
}
