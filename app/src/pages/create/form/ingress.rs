//! The fields of an Ingress.
use super::{
    Form,
    fields::{Options, input, problem_of, select},
};
use crate::ui::{Button, ButtonKind, icons};
use leptos::prelude::*;
use portico_domain::panel::{CreationChoices, NewIngress, NewObject, NewRoute, PATH_TYPES};

fn read(new: &NewObject, read: impl Fn(&NewIngress) -> Option<&String>) -> String {
    match new {
        NewObject::Ingress(ingress) => read(ingress).cloned().unwrap_or_default(),
        _ => String::new(),
    }
}

fn write(new: &mut NewObject, write: impl FnOnce(&mut NewIngress)) {
    if let NewObject::Ingress(ingress) = new {
        write(ingress);
    }
}

fn write_route(new: &mut NewObject, at: usize, change: impl FnOnce(&mut NewRoute)) {
    write(new, |ingress| {
        if let Some(route) = ingress.routes.get_mut(at) {
            change(route);
        }
    });
}

pub fn fields(form: Form) -> AnyView {
    let classes = Signal::derive(move || {
        form.choices.with(|choices| {
            let names = choices
                .ingress_classes
                .iter()
                .map(|class| class.name.clone());
            names.collect::<Vec<_>>()
        })
    });
    let secrets = Signal::derive(move || form.choices.with(|choices| choices.tls_secrets.clone()));
    let count = Memo::new(move |_| {
        form.new.with(|new| match new {
            NewObject::Ingress(ingress) => ingress.routes.len(),
            _ => 0,
        })
    });
    view! {
        <div class="creation-fields">
            {input(
                form,
                "class",
                "Ingress class",
                "Leave empty for the cluster's default class",
                Options::of(classes),
                |new| read(new, |ingress| Some(&ingress.class)),
                |new, text| write(new, |ingress| ingress.class = text),
            )}
            {input(
                form,
                "tls_secret",
                "Secret with the certificate",
                "Leave empty for no TLS",
                Options::of(secrets),
                |new| read(new, |ingress| Some(&ingress.tls_secret)),
                |new, text| write(new, |ingress| ingress.tls_secret = text),
            )}
        </div>
        {move || (0..count.get()).map(|at| route(form, at)).collect_view()}
        {problem_of(form, "routes")}
        <p>
            <Button
                label="Add a path"
                icon=icons::PLUS
                small=true
                on_click=move |_| {
                    form.change(|new| write(new, |ingress| ingress.routes.push(NewRoute::default())));
                }
            />
        </p>
    }
    .into_any()
}

fn route(form: Form, at: usize) -> AnyView {
    let field = |name: &str| format!("routes.{at}.{name}");
    let services = Signal::derive(move || {
        form.choices.with(|choices| {
            let names = choices.services.iter().map(|service| service.name.clone());
            names.collect::<Vec<_>>()
        })
    });
    let ports = Signal::derive(move || {
        let chosen = form.new.with(|new| {
            read(new, |ingress| {
                ingress.routes.get(at).map(|route| &route.service)
            })
        });
        form.choices.with(|choices| {
            let mut services = choices.services.iter();
            let service = services.find(|service| service.name == chosen.trim());
            let ports = service.into_iter().flat_map(|service| &service.ports);
            ports
                .map(|port| port.number.to_string())
                .collect::<Vec<_>>()
        })
    });
    view! {
        <fieldset class="creation-row">
            <legend>{format!("Path {}", at + 1)}</legend>
            {input(
                form,
                &field("host"),
                "Host",
                "Leave empty for every host",
                Options::none(),
                move |new| read(new, |ingress| ingress.routes.get(at).map(|route| &route.host)),
                move |new, text| write_route(new, at, |route| route.host = text),
            )}
            {input(
                form,
                &field("path"),
                "Path",
                "",
                Options::none(),
                move |new| read(new, |ingress| ingress.routes.get(at).map(|route| &route.path)),
                move |new, text| write_route(new, at, |route| route.path = text),
            )}
            {select(
                form,
                &field("path_type"),
                "Match",
                &PATH_TYPES,
                move |new| read(new, |ingress| ingress.routes.get(at).map(|route| &route.path_type)),
                move |new, text| write_route(new, at, |route| route.path_type = text),
            )}
            {input(
                form,
                &field("service"),
                "Service",
                "",
                Options::of(services),
                move |new| read(new, |ingress| ingress.routes.get(at).map(|route| &route.service)),
                move |new, text| write_route(new, at, |route| route.service = text),
            )}
            {input(
                form,
                &field("port"),
                "Port of the Service",
                "",
                Options::of(ports),
                move |new| read(new, |ingress| ingress.routes.get(at).map(|route| &route.port)),
                move |new, text| write_route(new, at, |route| route.port = text),
            )}
            <Button
                label=format!("Remove path {}", at + 1)
                icon=icons::TRASH
                small=true
                kind=ButtonKind::Quiet
                on_click=move |_| {
                    form.change(|new| write(new, |ingress| {
                        if at < ingress.routes.len() {
                            ingress.routes.remove(at);
                        }
                    }));
                }
            />
        </fieldset>
    }
    .into_any()
}

/// Routes to a Service, by its first port, with its name if the Ingress has none yet.
pub fn route_to(ingress: &mut NewIngress, name: &str, choices: &CreationChoices) {
    let service = choices.services.iter().find(|service| service.name == name);
    let port = service.and_then(|service| service.ports.first());
    if ingress.name.trim().is_empty() {
        name.clone_into(&mut ingress.name);
    }
    if let Some(route) = ingress.routes.first_mut() {
        name.clone_into(&mut route.service);
        route.port = port.map(|port| port.number.to_string()).unwrap_or_default();
    }
}
