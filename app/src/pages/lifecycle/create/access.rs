//! The third step: network, exposure of the API, labels.
use super::{
    cidr,
    fields::{Entry, Head, choose, id_of, input, message, optional, select, switch, whole_number},
    labels, pairs, problems,
    state::Wizard,
};
use crate::ui::{Banner, Button, Choice, Icon, Status, Tone, icons};
use leptos::prelude::*;
use portico_domain::panel::{
    Reading,
    lifecycle::{
        ApiExposure, CreationForm, ExistingNetwork, FormPage, NetworkOption, TemplateDefaults,
    },
};

pub fn page(wizard: Wizard) -> AnyView {
    let defaults = wizard.template().map(|template| template.defaults);
    let defaults = defaults.unwrap_or_default();
    let has_floating_ips = defaults.has_floating_ips;
    view! {
        <div class="form-groups">
            {network(wizard, &defaults)}
            {exposure(wizard)}
            <fieldset class="form-group min-w-0">
                <legend>"Labels"</legend>
                {labels::fields(wizard)}
            </fieldset>
            <details class="fold">
                <summary>
                    <Icon icon=icons::CHEVRON_RIGHT />
                    "More settings"
                </summary>
                <div class="creation-fields">
                    {switch(
                        wizard,
                        Head::new("spec.network.floatingIps", "A floating IP for each node")
                            .hint("Where the driver does so."),
                        Some(has_floating_ips),
                        |form| form.floating_ips,
                        |form, value| form.floating_ips = value,
                    )}
                    {whole_number(
                        wizard,
                        Head::new("spec.createTimeout", "Time limit of the creation (minutes)")
                            .hint("Leave empty for 60. Some drivers ignore it."),
                        |form| form.create_timeout,
                        |form, value| form.create_timeout = value,
                    )}
                    {protection(wizard)}
                </div>
            </details>
        </div>
    }
    .into_any()
}

/// Returns the choice whether Portico refuses to delete the cluster.
fn protection(wizard: Wizard) -> AnyView {
    let choices = vec![Choice::new("", "Off"), Choice::new("true", "On")];
    select(
        wizard,
        Head::new("spec.protection", "Delete protection")
            .hint("Portico's own: other clients of Magnum ignore it."),
        Signal::stored(choices),
        |form| {
            if form.protection {
                "true".to_owned()
            } else {
                String::new()
            }
        },
        |form, text| form.protection = text == "true",
    )
}

fn network(wizard: Wizard, defaults: &TemplateDefaults) -> AnyView {
    let networks = wizard
        .options
        .with_value(|options| options.networks.clone());
    let by_default = match &defaults.network {
        Some(name) => format!("The template's ({name})"),
        None => "A new network for this cluster".to_owned(),
    };
    let subnets = match &networks {
        Reading::Known(known) => {
            let known = known.clone();
            let network = Memo::new(move |_| wizard.form.with(network_of));
            let choices =
                Signal::derive(move || network.with(|network| subnet_choices(&known, network)));
            select(wizard, subnet_head(), choices, subnet_of, set_subnet)
        }
        _ => input(wizard, subnet_head(), Entry::Text, subnet_of, set_subnet),
    };
    view! {
        <fieldset class="creation-row min-w-0">
            <legend>"Network of the nodes"</legend>
            {choose(
                wizard,
                Head::new("spec.network.existing.network", "Network"),
                &networks,
                move |networks| network_choices(networks, by_default),
                network_of,
                |form, text| {
                    // a subnet belongs to one network
                    form.network = optional(text).map(|network| ExistingNetwork {
                        network: Some(network),
                        subnet: None,
                    });
                },
            )}
            {subnets}
        </fieldset>
    }
    .into_any()
}

fn subnet_head() -> Head {
    Head::new("spec.network.existing.subnet", "Subnet")
}

fn network_of(form: &CreationForm) -> String {
    let network = form.network.as_ref();
    network
        .and_then(|existing| existing.network.clone())
        .unwrap_or_default()
}

fn subnet_of(form: &CreationForm) -> String {
    let network = form.network.as_ref();
    network
        .and_then(|existing| existing.subnet.clone())
        .unwrap_or_default()
}

fn set_subnet(form: &mut CreationForm, text: &str) {
    let existing = ExistingNetwork {
        subnet: optional(text),
        ..form.network.take().unwrap_or_default()
    };
    form.network = (existing != ExistingNetwork::default()).then_some(existing);
}

/// Returns the networks of the project: nodes are not attached to external ones.
fn network_choices(networks: &[NetworkOption], by_default: String) -> Vec<Choice> {
    let own = networks
        .iter()
        .filter(|network| !network.is_external)
        .map(|network| {
            let note = if network.is_shared { " (shared)" } else { "" };
            let names = networks.iter().map(|network| network.name.as_str());
            let value = reference(&network.name, &network.id, names);
            Choice::new(value.clone(), format!("{value}{note}"))
        });
    std::iter::once(Choice::new("", by_default))
        .chain(own)
        .collect()
}

/// Returns the name of something, which reads better in the file; its ID if it has none, or another one
/// has the same name.
fn reference<'a>(name: &str, id: &str, names: impl Iterator<Item = &'a str>) -> String {
    if name.is_empty() || names.filter(|other| *other == name).count() > 1 {
        id.to_owned()
    } else {
        name.to_owned()
    }
}

fn subnet_choices(networks: &[NetworkOption], chosen: &str) -> Vec<Choice> {
    let subnets = networks
        .iter()
        .filter(|network| network.name == chosen || network.id == chosen)
        .flat_map(|network| network.subnets.iter().map(move |subnet| (network, subnet)))
        .map(|(network, subnet)| {
            let free = match subnet.free_addresses {
                Some(free) => format!(", {free} addresses free"),
                None => String::new(),
            };
            let names = network.subnets.iter().map(|subnet| subnet.name.as_str());
            let value = reference(&subnet.name, &subnet.id, names);
            let label = format!("{value} ({}{free})", subnet.cidr);
            Choice::new(value, label)
        });
    let by_default = if chosen.is_empty() {
        "The template's, or a new one"
    } else {
        "The first of the network"
    };
    std::iter::once(Choice::new("", by_default))
        .chain(subnets)
        .collect()
}

/// Returns the choice of who reaches the API, in words.
fn exposure(wizard: Wizard) -> AnyView {
    const FIELDS: [&str; 2] = ["spec.api", "spec.api.exposure"];
    let choices = [
        (None, "As the template has it", ""),
        (
            Some(ApiExposure::Public),
            "Public",
            "Through a floating IP: reachable from outside of the project, by the networks below.",
        ),
        (
            Some(ApiExposure::Private),
            "Private",
            "From the project's networks only. Portico and kubectl must reach one of them.",
        ),
    ];
    let choices = choices.map(|(value, label, text)| {
        view! {
            <label class="option">
                <input
                    type="radio"
                    name="api-exposure"
                    prop:checked=move || wizard.form.with(|form| form.exposure == value)
                    on:change=move |_| wizard.change(|form| form.exposure = value)
                />
                <span>
                    {label}
                    " "
                    <span class="text-muted">{text}</span>
                </span>
            </label>
        }
    });
    let error = wizard.problem_on(FormPage::Access, |problems| {
        problems::of_one(problems, &FIELDS)
    });
    let error_id = format!("{}-error", id_of(FIELDS[0]));
    let describedby = {
        let error_id = error_id.clone();
        move || error.with(Option::is_some).then(|| error_id.clone())
    };
    let address = wizard
        .options
        .with_value(|options| options.client_address.clone());
    let missing = {
        let address = address.clone();
        Memo::new(move |_| {
            let network = host_network(address.as_deref()?);
            wizard.form.with(|form| {
                let is_inside = cidr::any_contains(&form.allowed_cidrs, address.as_deref()?);
                let is_wanted = form.exposure != Some(ApiExposure::Private) && !is_inside;
                is_wanted.then_some(network)
            })
        })
    };
    let reached = move || {
        let address = address.clone()?;
        let (exposure, networks) = wizard
            .form
            .with(|form| (form.exposure, form.allowed_cidrs.clone()));
        (exposure != Some(ApiExposure::Private)).then(|| own_address(&address, &networks))?
    };
    let is_open = move || {
        wizard.form.with(|form| {
            form.exposure == Some(ApiExposure::Public) && form.allowed_cidrs.is_empty()
        })
    };
    view! {
        <fieldset class="form-group min-w-0" aria-describedby=describedby>
            <legend>"Kubernetes API"</legend>
            <div>{choices.into_iter().collect_view()}</div>
            {message(error, error_id)}
            {input(
                wizard,
                Head::new("spec.api.allowedCIDRs", "Networks that may reach the API")
                    .hint("One on each line in CIDR notation, such as 198.51.100.0/24. Leave empty for every network."),
                Entry::Lines,
                |form| form.allowed_cidrs.join("\n"),
                |form, text| form.allowed_cidrs = pairs::lines(text),
            )}
            {move || reached().map(|(tone, text)| view! { <p><Status tone text /></p> })}
            {move || missing.get().map(|network| view! {
                <div>
                    <Button
                        label=format!("Add my address ({network})")
                        small=true
                        on_click=move |_| {
                            let network = network.clone();
                            wizard.change(move |form| form.allowed_cidrs.push(network));
                        }
                    />
                </div>
            })}
            {move || is_open().then(|| view! {
                <Banner tone=Tone::Warn>
                    "The address of this API can be reached from every network. Enter the networks that \
                     need it."
                </Banner>
            })}
        </fieldset>
    }
    .into_any()
}

/// Returns the network that has one address only.
fn host_network(address: &str) -> String {
    let bits = if address.contains(':') { 128 } else { 32 };
    format!("{address}/{bits}")
}

/// Returns whether the viewer's address may reach the API; `None` if nothing is limited.
fn own_address(address: &str, networks: &[String]) -> Option<(Tone, String)> {
    if networks.is_empty() {
        return None;
    }
    Some(if cidr::any_contains(networks, address) {
        (Tone::Ok, format!("Your address {address} is inside."))
    } else {
        let text =
            format!("Your address {address} is outside: you could not reach the API from here.");
        (Tone::Warn, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::lifecycle::SubnetOption;

    #[test]
    fn the_network_of_an_address_has_it_alone() {
        assert_eq!(host_network("198.51.100.7"), "198.51.100.7/32");
        assert_eq!(host_network("2001:db8::7"), "2001:db8::7/128");
    }

    #[test]
    fn a_subnet_is_one_of_the_chosen_network() {
        let network = |name: &str| NetworkOption {
            id: format!("id-of-{name}"),
            name: name.to_owned(),
            is_external: name == "public",
            is_shared: false,
            subnets: vec![SubnetOption {
                id: String::new(),
                name: format!("{name}-v4"),
                cidr: "10.0.0.0/24".to_owned(),
                free_addresses: Some(250),
            }],
        };
        let networks = [network("shop"), network("public")];
        let labels = |choices: Vec<Choice>| -> Vec<String> {
            choices.into_iter().map(|choice| choice.label).collect()
        };
        assert_eq!(
            labels(subnet_choices(&networks, "id-of-shop")),
            [
                "The first of the network",
                "shop-v4 (10.0.0.0/24, 250 addresses free)"
            ]
        );
        assert_eq!(
            labels(network_choices(&networks, "New".to_owned())),
            ["New", "shop"]
        );
    }

    #[test]
    fn a_network_without_any_value_is_not_in_the_form() {
        let mut form = CreationForm::default();
        set_subnet(&mut form, "shop-v4");
        assert_eq!(subnet_of(&form), "shop-v4");
        set_subnet(&mut form, "");
        assert_eq!(form.network, None);
    }

    #[test]
    fn the_address_of_the_viewer_is_found_in_the_networks() {
        let networks = ["198.51.100.0/24".to_owned()];
        let (tone, _) = own_address("198.51.100.7", &networks).unwrap();
        assert_eq!(tone, Tone::Ok);
        let (tone, _) = own_address("203.0.113.7", &networks).unwrap();
        assert_eq!(tone, Tone::Warn);
        assert_eq!(own_address("203.0.113.7", &[]), None);
    }
}
