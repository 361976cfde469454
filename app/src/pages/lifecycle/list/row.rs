//! One cluster of the list.
use super::words;
use crate::{
    components::Age,
    routes::{self, managed_clusters::ManagedClustersPage},
    ui::{Status, Tone},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{
    ClusterAction, EnrolmentState, ManagedCluster, ManagedClusters,
};
use uuid::Uuid;

/// Returns the row of a cluster. Its name is made once; the other cells follow the list.
pub fn row(id: Uuid, shown: RwSignal<ManagedClusters>, project: &str) -> AnyView {
    let cluster = Memo::new(move |_| {
        shown.with(|list| list.clusters.iter().find(|one| one.id == id).cloned())
    });
    let name = cluster.with_untracked(|cluster| {
        let name = cluster.as_ref().map(|cluster| cluster.name.clone());
        name.unwrap_or_default()
    });
    let is_twice = {
        let name = name.clone();
        Memo::new(move |_| {
            let same = |list: &ManagedClusters| {
                let clusters = list.clusters.iter();
                clusters.filter(|one| one.name == name).count()
            };
            shown.with(same) > 1
        })
    };
    let href = ManagedClustersPage::Cluster(id).address(project);
    let (own_page, project) = (href.clone(), project.to_owned());
    let status = move || cluster.get().map(|cluster| status_cell(cluster, &own_page));
    let access = move || {
        let cluster = cluster.get();
        cluster.map(|cluster| access_cell(id, &cluster.name, cluster.enrolment, &project))
    };
    let version = move || {
        let cluster = cluster.get();
        cluster.map(|cluster| cluster.version.unwrap_or_else(|| "not known".to_owned()))
    };
    let nodes = move || cluster.with(|cluster| cluster.as_ref().map(words::nodes));
    let template = move || cluster.get().map(|cluster| cluster.template.name);
    let age = move || {
        let at = cluster.with(|cluster| cluster.as_ref()?.created_at);
        view! { <Age at /> }
    };
    view! {
        <tr data-row="" data-cluster=id.to_string()>
            <th scope="row" class="cell-name">
                <a href=href>{name}</a>
                {move || is_twice.get().then(|| view! {
                    <span class="block text-faint mono">{id.to_string()}</span>
                })}
            </th>
            <td class="cell-text" data-label="Status">{status}</td>
            <td data-label="Kubernetes">{version}</td>
            <td data-label="Nodes">{nodes}</td>
            <td class="cell-text" data-label="Template">{template}</td>
            <td class="cell-text" data-label="Through Portico">{access}</td>
            <td data-label="Age">{age}</td>
        </tr>
    }
    .into_any()
}

fn status_cell(cluster: ManagedCluster, own_page: &str) -> AnyView {
    let tone = Tone::from(cluster.health);
    let can_continue = cluster
        .offer(ClusterAction::Continue)
        .is_some_and(|offer| offer.is_offered());
    let next = can_continue.then(|| {
        let href = own_page.to_owned();
        let of = of(&cluster.name);
        view! { <a class="block" href=href>"Continue the plan"{of}</a> }
    });
    // a cluster that is being made has nothing to measure yet
    let health = (!cluster.is_busy).then(|| {
        let text = format!("Health: {}", cluster.measured_health);
        view! { <span class="block text-muted">{text}</span> }
    });
    let outside = cluster.is_made_outside.then(|| {
        view! { <span class="block text-muted">"Made outside of Portico"</span> }
    });
    view! {
        <span title=cluster.raw_status><Status tone text=cluster.status /></span>
        {cluster.reason.map(|reason| view! { <span class="block text-muted">{reason}</span> })}
        {health}
        {outside}
        {next}
    }
    .into_any()
}

/// Returns whether the cluster can be used through Portico, with the way to it.
fn access_cell(id: Uuid, name: &str, enrolment: EnrolmentState, project: &str) -> AnyView {
    let (tone, text) = match enrolment {
        EnrolmentState::Enrolled => {
            let href = routes::cluster(project, id);
            return view! { <a href=href>"Open"{of(name)}</a> }.into_any();
        }
        EnrolmentState::NotChecked => {
            let href = routes::cluster(project, id);
            return view! {
                <a href=href>"Open"{of(name)}</a>
                " "
                <Status tone=Tone::Idle text="Not checked yet" />
            }
            .into_any();
        }
        EnrolmentState::WaitingForConfiguration => {
            let href = ManagedClustersPage::Configuration(id).address(project);
            return view! {
                <Status tone=Tone::Warn text="Its API server must be configured" />
                " "
                <a href=href>"Show the configuration"{of(name)}</a>
            }
            .into_any();
        }
        EnrolmentState::WaitingForApi => (Tone::Info, "When its API answers".to_owned()),
        EnrolmentState::Ready | EnrolmentState::Offered => {
            (Tone::Info, "Can be enrolled".to_owned())
        }
        EnrolmentState::Running => (Tone::Info, "Being enrolled".to_owned()),
        // a sentence: a status that is a child of the cell itself would not wrap
        EnrolmentState::NotOffered(text) => {
            return view! { <span class="block"><Status tone=Tone::Idle text /></span> }.into_any();
        }
    };
    view! { <Status tone text /> }.into_any()
}

/// Returns the end of a link's name for users who hear it without its row.
fn of(name: &str) -> AnyView {
    view! { <span class="visually-hidden">{format!(" ({name})")}</span> }.into_any()
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    #[test]
    fn the_reason_why_a_cluster_cannot_be_enrolled_wraps() {
        let html = |state| access_cell(Uuid::nil(), "shop", state, "p1").to_html();
        let reason = html(EnrolmentState::NotOffered("Not here.".to_owned()));
        assert!(reason.starts_with(r#"<span class="block">"#), "{reason}");
        assert!(reason.contains("Not here."), "{reason}");
        // each link has a name of its own
        let open = html(EnrolmentState::Enrolled);
        assert!(open.contains("(shop)"), "{open}");
        // a few words stay on one line
        let ready = html(EnrolmentState::Ready);
        assert!(ready.starts_with(r#"<span class="status"#), "{ready}");
    }
}
