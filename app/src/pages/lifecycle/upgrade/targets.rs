//! The present version, and the templates to which the cluster can be upgraded.
use super::state::UpgradeForm;
use crate::ui::{
    Banner, Card, Choice, DescriptionList, SelectField, StateMessage, Status, TableRegion, Tone,
    icons,
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{UpgradeOptions, UpgradeTarget};

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
        <TableRegion label="Templates">
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
            <td>{target.version.unwrap_or_else(|| "–".to_owned())}</td>
            <td class="cell-text">{offer}</td>
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
                .map(|options| choices(&options.targets))
                .unwrap_or_default()
        })
    });
    let has_choices = Memo::new(move |_| choices.with(|choices| choices.len() > 1));
    view! {
        {move || has_choices.get().then(|| view! {
            <div class="mt-4">
                <SelectField
                    id="upgrade-template"
                    label="Upgrade to"
                    value=form.template
                    choices=Signal::derive(move || choices.get())
                    on_change=Callback::new(move |_: String| form.read())
                />
            </div>
        })}
    }
    .into_any()
}

/// Returns the templates that are offered, after the choice of none.
fn choices(targets: &[UpgradeTarget]) -> Vec<Choice> {
    let offered = targets.iter().filter(|target| target.refusal.is_none());
    let offered = offered.map(|target| {
        let label = match &target.version {
            Some(version) => format!("{} ({version})", target.name),
            None => target.name.clone(),
        };
        Choice::new(target.id.to_string(), label)
    });
    std::iter::once(Choice::new("", "Choose a template"))
        .chain(offered)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let found = choices(&[
            target(1, Some("v1.32.0"), None),
            target(2, None, None),
            target(3, Some("v1.33.0"), Some("It skips a version.")),
        ]);
        let labels: Vec<_> = found.iter().map(|one| one.label.as_str()).collect();
        assert_eq!(labels, ["Choose a template", "small (v1.32.0)", "small"]);
        assert_eq!(found[1].value, Uuid::from_u128(1).to_string());
    }
}
