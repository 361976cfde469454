//! The choice of further nodes that are removed with the chosen one.
use super::state::NodesState;
use leptos::prelude::*;
use portico_domain::panel::lifecycle::ClusterNodes;

/// Returns the choice; nothing if no other node can be removed with the one on `server`.
pub fn choice(state: NodesState, server: &str) -> AnyView {
    let server = server.to_owned();
    let offered = Memo::new(move |_| {
        state.shown.with(|shown| {
            let shown = shown.as_ref();
            shown
                .map(|shown| offered(shown, &server))
                .unwrap_or_default()
        })
    });
    // a node that has left, or may no longer be removed, cannot be chosen, and its box is gone
    Effect::new(move |_| {
        offered.with(|nodes| {
            state.keep_others(|other| nodes.iter().any(|(server, _)| server == other));
        });
    });
    view! {
        {move || {
            let nodes = offered.get();
            (!nodes.is_empty()).then(|| view! {
                <fieldset class="choices" data-part="others">
                    <legend class="label mb-1">"Also remove these nodes of the group"</legend>
                    {nodes.into_iter().map(|(server, name)| checkbox(state, server, name)).collect_view()}
                </fieldset>
            })
        }}
    }
    .into_any()
}

fn checkbox(state: NodesState, server: String, name: String) -> AnyView {
    let shown = server.clone();
    view! {
        <label class="check whitespace-normal">
            <input
                type="checkbox"
                prop:checked=move || state.others.with(|others| others.contains(&shown))
                on:change=move |event| state.take_along(&server, event_target_checked(&event))
            />
            {name}
        </label>
    }
    .into_any()
}

/// Returns server and name of each node that can be removed with the one on a server: those of its group that the
/// user may remove. While a node is being replaced, there is none: its removal is a step of the replacement.
fn offered(shown: &ClusterNodes, server: &str) -> Vec<(String, String)> {
    let is_chosen = |other: &Option<String>| other.as_deref() == Some(server);
    let chosen = shown.nodes.iter().find(|node| is_chosen(&node.server));
    let Some(chosen) = chosen.filter(|_| shown.replacement.is_none()) else {
        return Vec::new();
    };
    let others = shown.nodes.iter().filter(|node| {
        node.group == chosen.group && node.removal_refusal.is_none() && !is_chosen(&node.server)
    });
    let others =
        others.filter_map(|node| Some((node.server.clone()?, node.shown_name().to_owned())));
    others.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::{
        identity::Named,
        panel::{Health, lifecycle::ClusterNode},
    };

    fn node(name: &str, group: &str, refusal: Option<&str>) -> ClusterNode {
        ClusterNode {
            name: Some(name.to_owned()),
            group: Some(group.to_owned()),
            role: None,
            server: Some(format!("server of {name}")),
            flavor: None,
            addresses: Vec::new(),
            status: "ACTIVE".to_owned(),
            health: Health::Ok,
            kubernetes: None,
            removal_refusal: refusal.map(str::to_owned),
            replacement_refusal: None,
            can_be_healed: false,
        }
    }

    #[test]
    fn removable_nodes_of_the_same_group_are_offered() {
        let shown = ClusterNodes {
            cluster: Named {
                id: "c".to_owned(),
                name: "shop".to_owned(),
            },
            nodes: vec![
                node("one", "gpu", None),
                node("two", "gpu", None),
                node("leaving", "gpu", Some("Nova deletes it already.")),
                node("other", "default-worker", None),
            ],
            kubernetes: None,
            gaps: Vec::new(),
            is_busy: false,
            replacement: None,
            drain: None,
        };
        let two = ("server of two".to_owned(), "two".to_owned());
        assert_eq!(offered(&shown, "server of one"), [two]);
        assert!(offered(&shown, "server of other").is_empty());
        assert!(offered(&shown, "gone").is_empty());
    }
}
