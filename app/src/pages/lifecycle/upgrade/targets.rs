//! The present version, and the templates to which the cluster can be upgraded.
use super::state::UpgradeForm;
use crate::{
    hooks::Timer,
    ui::{
        Banner, Card, Choice, DescriptionList, Field, SelectField, StateMessage, Status,
        TableRegion, Tone, icons,
    },
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{UpgradeOptions, UpgradeTarget};
use std::time::Duration;

/// How long after the last key the batch size is reviewed.
const TYPING_PAUSE: Duration = Duration::from_millis(400);

/// Returns what the cluster runs now, what could not be read, and the templates.
pub fn present(form: UpgradeForm) -> AnyView {
    view! { {move || form.options.get().map(content)} }.into_any()
}

fn content(options: UpgradeOptions) -> AnyView {
    let version = options.version.unwrap_or_else(|| "Not known".to_owned());
    let facts = [
        ("Cluster", options.cluster.name),
        ("Kubernetes version", version),
        ("Template", options.template.name),
        ("Driver", options.driver),
    ];
    let facts: Vec<_> = facts
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.into_any()))
        .collect();
    let refusal = options.upgrade.refusal.map(|reason| {
        view! {
            <div class="mt-4" data-part="refusal">
                <Banner tone=Tone::Warn>
                    <p class="font-semibold">"This cluster cannot be upgraded now."</p>
                    <p>{reason}</p>
                </Banner>
            </div>
        }
    });
    let gaps = options
        .gaps
        .into_iter()
        .map(|gap| view! { <div class="mt-4"><Banner tone=Tone::Warn>{gap}</Banner></div> })
        .collect_view();
    view! {
        <div class="mt-4" data-part="present">
            <Card title="Now"><DescriptionList rows=facts /></Card>
        </div>
        {refusal}
        {gaps}
        <div class="mt-4" data-part="targets">
            <Card title="Templates" flush=true>{table(options.targets)}</Card>
        </div>
    }
    .into_any()
}

fn table(targets: Vec<UpgradeTarget>) -> AnyView {
    if targets.is_empty() {
        return view! {
            <StateMessage
                icon=icons::LAYERS
                title="No other template"
                text="The project has no other cluster template. Ask the cloud's operator for one with a \
                      newer version."
                state="empty"
            />
        }
        .into_any();
    }
    let rows = targets.into_iter().map(row).collect_view();
    view! {
        <TableRegion label="Templates" stacked=true>
            <thead>
                <tr>
                    <th scope="col">"Template"</th>
                    <th scope="col">"Version"</th>
                    <th scope="col">"Upgrade"</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </TableRegion>
    }
    .into_any()
}

fn row(target: UpgradeTarget) -> AnyView {
    let offer = match target.refusal {
        None => view! { <Status tone=Tone::Ok text="Possible" /> }.into_any(),
        Some(reason) => view! {
            <Status tone=Tone::Idle text="Not possible" />
            <p class="text-muted wrap-anywhere">{reason}</p>
        }
        .into_any(),
    };
    view! {
        <tr>
            <th scope="row" class="cell-name">{target.name}</th>
            <td data-label="Version">{target.version.unwrap_or_else(|| "–".to_owned())}</td>
            <td class="cell-text" data-label="Upgrade">{offer}</td>
        </tr>
    }
    .into_any()
}

/// Returns the choice of a template; nothing if the upgrade is not offered to the viewer, or with no
/// template.
pub fn choice(form: UpgradeForm) -> AnyView {
    let choices = Memo::new(move |_| {
        form.options.with(|options| {
            options
                .as_ref()
                .filter(|options| options.upgrade.is_offered())
                .map(choices)
                .unwrap_or_default()
        })
    });
    let has_choices = Memo::new(move |_| choices.with(|choices| choices.len() > 1));
    let has_batch_size = Memo::new(move |_| {
        let offered = form.options.with(|options| {
            options
                .as_ref()
                .is_some_and(|options| options.has_batch_size)
        });
        offered && has_choices.get()
    });
    // the review names the batch size; a read asks the cluster for its pods and metrics
    let timer = Timer::new();
    Effect::new(move |before: Option<String>| {
        let batch = form.batch.get();
        if before.is_some_and(|before| before != batch) {
            timer.start(TYPING_PAUSE, move || form.read());
        }
        batch
    });
    view! {
        {move || has_choices.get().then(|| view! {
            <div class="mt-4">
                <SelectField
                    id="upgrade-template"
                    label="Upgrade to"
                    value=form.target
                    choices=Signal::derive(move || choices.get())
                    on_change=Callback::new(move |_: String| form.read())
                />
            </div>
        })}
        {move || has_batch_size.get().then(|| view! {
            <div class="mt-4">
                <Field
                    id="upgrade-batch"
                    label="Nodes replaced at once"
                    value=form.batch
                    kind="number"
                    hint="Leave empty for one node after another."
                    error=Signal::derive(move || form.batch_problem())
                />
            </div>
        })}
    }
    .into_any()
}

/// Returns the templates that are offered, after the choice of none, and the node groups that can be upgraded
/// alone.
fn choices(options: &UpgradeOptions) -> Vec<Choice> {
    let template = &options.template;
    let groups = options.groups.iter().map(|group| {
        let value = format!("{}/{group}", template.id);
        Choice::new(
            value,
            format!("Only the node group {group}, to {}", template.name),
        )
    });
    let offered = options
        .targets
        .iter()
        .filter(|target| target.refusal.is_none());
    let offered = offered.map(|target| {
        let label = match &target.version {
            Some(version) => format!("{} ({version})", target.name),
            None => target.name.clone(),
        };
        Choice::new(target.id.to_string(), label)
    });
    std::iter::once(Choice::new("", "Choose a template"))
        .chain(offered)
        .chain(groups)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::{
        identity::Named,
        panel::lifecycle::{ActionOffer, ClusterAction},
    };
    use uuid::Uuid;

    fn target(id: u128, version: Option<&str>, refusal: Option<&str>) -> UpgradeTarget {
        UpgradeTarget {
            id: Uuid::from_u128(id),
            name: "small".to_owned(),
            version: version.map(str::to_owned),
            refusal: refusal.map(str::to_owned),
        }
    }

    #[test]
    fn only_what_is_offered_can_be_chosen() {
        let named = |id: &str, name: &str| Named {
            id: id.to_owned(),
            name: name.to_owned(),
        };
        let found = choices(&UpgradeOptions {
            is_busy: false,
            needs_settling: false,
            cluster: named("c", "shop"),
            version: None,
            template: named("t", "now"),
            driver: String::new(),
            targets: vec![
                target(1, Some("v1.32.0"), None),
                target(2, None, None),
                target(3, Some("v1.33.0"), Some("It skips a version.")),
            ],
            groups: vec!["gpu".to_owned()],
            has_batch_size: true,
            upgrade: ActionOffer {
                action: ClusterAction::Upgrade,
                refusal: None,
            },
            review: None,
            gaps: Vec::new(),
            read_at: 0,
        });
        let labels: Vec<_> = found.iter().map(|one| one.label.as_str()).collect();
        assert_eq!(
            labels,
            [
                "Choose a template",
                "small (v1.32.0)",
                "small",
                "Only the node group gpu, to now"
            ]
        );
        assert_eq!(found[1].value, Uuid::from_u128(1).to_string());
        assert_eq!(found[3].value, "t/gpu");
    }
}
