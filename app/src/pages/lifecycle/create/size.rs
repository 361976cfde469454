//! The second step: control plane, node groups, volumes; the quotas beside them.
use super::{
    fields::{Head, choose, number, optional, select, switch, whole_number},
    groups, quota,
    state::Wizard,
};
use crate::ui::{Choice, Status, Tone};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{AUTO_SCALING_LABEL, FlavorOption};

/// Numbers of nodes of the control plane to choose from: an even one tolerates no more failures.
const CONTROL_PLANES: [(&str, &str); 3] = [
    ("1", "1 node"),
    ("3", "3 nodes, one may fail"),
    ("5", "5 nodes, two may fail"),
];

pub fn page(wizard: Wizard) -> AnyView {
    let template = wizard.template();
    let defaults = template.as_ref().map(|template| template.defaults.clone());
    let defaults = defaults.unwrap_or_default();
    let smallest = template.map_or((0, 0), |template| {
        (template.min_vcpus, template.min_ram_mib)
    });
    let flavors = wizard.options.with_value(|options| options.flavors.clone());
    let counts = std::iter::once(Choice::new("", "The template's, or 1"))
        .chain(CONTROL_PLANES.map(|(value, label)| Choice::new(value, label)))
        .collect();
    // set by the server as well, which gives the reason in the review
    let needs_load_balancer = Memo::new(move |_| {
        wizard.form.with(|form| {
            let count = form.control_plane.count.unwrap_or(1);
            let is_on = form.control_plane.load_balancer;
            count > 1 && !is_on.unwrap_or(defaults.has_load_balancer)
        })
    });
    let control_plane_default = defaults
        .control_plane_flavor
        .clone()
        .or_else(|| defaults.flavor.clone());
    let volume = match defaults.docker_volume_size {
        Some(size) => format!("Leave empty for the template's {size} GiB."),
        None => "Leave empty for the template's, or no volume of its own.".to_owned(),
    };
    view! {
        <div class="grid-halves">
            <div class="form-groups">
                <fieldset class="creation-row min-w-0">
                    <legend>"Control plane"</legend>
                    {select(
                        wizard,
                        Head::new("spec.controlPlane.replicas", "Nodes of the control plane"),
                        Signal::stored(counts),
                        |form| number(form.control_plane.count),
                        |form, text| form.control_plane.count = text.parse().ok(),
                    )}
                    {choose(
                        wizard,
                        Head::new("spec.controlPlane.flavor", "Flavor of the control plane"),
                        &flavors,
                        move |flavors| flavor_choices(flavors, control_plane_default.as_deref(), smallest),
                        |form| form.control_plane.flavor.clone().unwrap_or_default(),
                        |form, text| form.control_plane.flavor = optional(text),
                    )}
                    {switch(
                        wizard,
                        Head::new("spec.controlPlane.loadBalancer", "Load balancer before the API servers"),
                        Some(defaults.has_load_balancer),
                        |form| form.control_plane.load_balancer,
                        |form, value| form.control_plane.load_balancer = value,
                    )}
                    {move || needs_load_balancer.get().then(|| view! {
                        <Status
                            tone=Tone::Info
                            text="More than one node needs a load balancer: it is switched on."
                        />
                    })}
                </fieldset>
                {groups::rows(wizard, flavors.clone(), defaults.flavor.clone(), smallest)}
                <div class="creation-fields">
                    {switch(
                        wizard,
                        Head::new(format!("spec.labels.{AUTO_SCALING_LABEL}"), "Autoscaler")
                            .hint("Adds and removes workers between the bounds of their group. Magnum \
                                   cannot change this later."),
                        wizard.flag_of_template(AUTO_SCALING_LABEL),
                        |form| form.flag(AUTO_SCALING_LABEL),
                        |form, value| form.set_flag(AUTO_SCALING_LABEL, value),
                    )}
                    {whole_number(
                        wizard,
                        Head::new("spec.dockerVolumeSize", "Volume for containers (GiB for each node)")
                            .hint(volume),
                        |form| form.docker_volume_size,
                        |form, value| form.docker_volume_size = value,
                    )}
                </div>
            </div>
            {quota::card(wizard)}
        </div>
    }
    .into_any()
}

/// Returns the flavors to choose from. `smallest` are the fewest vCPUs and the least memory in MiB that
/// the driver accepts.
pub fn flavor_choices(
    flavors: &[FlavorOption],
    default: Option<&str>,
    smallest: (u64, u64),
) -> Vec<Choice> {
    let by_default = match default {
        Some(name) => format!("The template's ({name})"),
        None => "The template's".to_owned(),
    };
    std::iter::once(Choice::new("", by_default))
        .chain(flavors.iter().map(|flavor| {
            let size = size_in_words(flavor);
            let is_small = flavor.vcpus < smallest.0 || flavor.ram_mib < smallest.1;
            let note = if is_small {
                ", too small for this driver"
            } else {
                ""
            };
            Choice::new(
                flavor.name.clone(),
                format!("{}: {size}{note}", flavor.name),
            )
        }))
        .collect()
}

/// Returns `2 vCPU, 4 GiB, 20 GiB disk`.
pub fn size_in_words(flavor: &FlavorOption) -> String {
    let memory = crate::format::bytes(flavor.ram_mib.saturating_mul(1_024 * 1_024));
    let disk = match flavor.disk_gib {
        0 => "disk on a volume".to_owned(),
        size => format!("{size} GiB disk"),
    };
    format!("{} vCPU, {memory}, {disk}", flavor.vcpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flavor_is_shown_with_its_size_and_whether_the_driver_accepts_it() {
        let flavor = |name: &str, vcpus, disk_gib| FlavorOption {
            id: name.to_owned(),
            name: name.to_owned(),
            vcpus,
            ram_mib: 2_048,
            disk_gib,
        };
        let flavors = [flavor("m1.tiny", 1, 10), flavor("m1.small", 2, 0)];
        let choices = flavor_choices(&flavors, Some("m1.small"), (2, 2_048));
        let labels: Vec<&str> = choices.iter().map(|choice| choice.label.as_str()).collect();
        assert_eq!(
            labels,
            [
                "The template's (m1.small)",
                "m1.tiny: 1 vCPU, 2 GiB, 10 GiB disk, too small for this driver",
                "m1.small: 2 vCPU, 2 GiB, disk on a volume",
            ]
        );
    }
}
