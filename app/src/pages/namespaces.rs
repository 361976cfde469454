use crate::{
    context::use_session,
    pages::{list::ListOf, not_found::Nowhere, use_cluster_id},
    routes,
    ui::{Icon, icons},
};
use leptos::prelude::*;
use portico_domain::panel::ResourceRef;
use uuid::Uuid;

/// The namespaces that the viewer may see, and a field to open one that cannot be listed.
#[component]
pub fn Namespaces() -> impl IntoView {
    let cluster = use_cluster_id();
    let session = use_session();
    move || match cluster.get() {
        Some(cluster) => {
            let project = session.project.get_untracked();
            let base = routes::namespaces(&project, cluster);
            view! {
                <ListOf
                    cluster
                    resource=ResourceRef::core("namespaces")
                    base
                    title="Namespaces"
                    lede="The namespaces that your roles let you see. Others may exist; open one \
                          by its name."
                    namespaces=false
                />
                <ByName project cluster />
            }
            .into_any()
        }
        None => view! { <Nowhere /> }.into_any(),
    }
}

#[component]
fn ByName(project: String, cluster: Uuid) -> impl IntoView {
    let pods = routes::list(&project, cluster, &ResourceRef::core("pods"));
    view! {
        <form class="toolbar mt-6" method="get" action=pods>
            <div class="field">
                <label for="namespace-by-name">"Open a namespace by name"</label>
                <input
                    class="input"
                    id="namespace-by-name"
                    name="namespace"
                    required
                    maxlength="63"
                    pattern="[a-z0-9]([-a-z0-9]*[a-z0-9])?"
                    autocomplete="off"
                    spellcheck="false"
                />
            </div>
            <button type="submit" class="btn">
                <Icon icon=icons::LAYERS />
                "Show its pods"
            </button>
        </form>
    }
    .into_any()
}
