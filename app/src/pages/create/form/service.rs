//! The fields of a Service.
use super::{
    Form,
    fields::{Options, input, problem_of, select},
};
use crate::ui::{Button, ButtonKind, icons};
use leptos::prelude::*;
use portico_domain::panel::{
    CreationChoices, NewObject, NewPort, NewService, PROTOCOLS, SERVICE_TYPES,
};

fn read(new: &NewObject, read: impl Fn(&NewService) -> Option<&String>) -> String {
    match new {
        NewObject::Service(service) => read(service).cloned().unwrap_or_default(),
        _ => String::new(),
    }
}

fn write(new: &mut NewObject, write: impl FnOnce(&mut NewService)) {
    if let NewObject::Service(service) = new {
        write(service);
    }
}

fn write_port(new: &mut NewObject, at: usize, change: impl FnOnce(&mut NewPort)) {
    write(new, |service| {
        if let Some(port) = service.ports.get_mut(at) {
            change(port);
        }
    });
}

pub fn fields(form: Form) -> AnyView {
    let workloads = move || {
        let names: Vec<String> = form.choices.with(|choices| {
            let all = choices.workloads.iter();
            all.map(|one| format!("{}/{}", one.kind, one.name))
                .collect()
        });
        names
            .into_iter()
            .map(|name| view! { <option value=name.clone()>{name.clone()}</option> })
            .collect_view()
    };
    let choose = move |event| {
        let chosen = event_target_value(&event);
        form.change(|new| {
            form.choices.with_untracked(|choices| {
                write(new, |service| select_pods(service, &chosen, choices))
            });
        });
    };
    let count = Memo::new(move |_| {
        form.new.with(|new| match new {
            NewObject::Service(service) => service.ports.len(),
            _ => 0,
        })
    });
    view! {
        <div class="creation-fields">
            {select(
                form,
                "service_type",
                "Type",
                &SERVICE_TYPES,
                |new| read(new, |service| Some(&service.service_type)),
                |new, text| write(new, |service| service.service_type = text),
            )}
            <div class="field">
                <label for="new-workload">"Workload"</label>
                <select class="select" id="new-workload" on:change=choose>
                    <option value="">"Choose one for its labels and ports"</option>
                    {workloads}
                </select>
            </div>
            {input(
                form,
                "selector",
                "Labels of the pods",
                "For example app=web,tier=front",
                Options::none(),
                |new| read(new, |service| Some(&service.selector)),
                |new, text| write(new, |service| service.selector = text),
            )}
        </div>
        {move || (0..count.get()).map(|at| port(form, at)).collect_view()}
        {problem_of(form, "ports")}
        <p>
            <Button
                label="Add a port"
                icon=icons::PLUS
                small=true
                on_click=move |_| {
                    form.change(|new| write(new, |service| service.ports.push(NewPort::default())));
                }
            />
        </p>
    }
    .into_any()
}

fn port(form: Form, at: usize) -> AnyView {
    let field = |name: &str| format!("ports.{at}.{name}");
    view! {
        <fieldset class="creation-row">
            <legend>{format!("Port {}", at + 1)}</legend>
            {input(
                form,
                &field("port"),
                "Port",
                "",
                Options::none(),
                move |new| read(new, |service| service.ports.get(at).map(|port| &port.port)),
                move |new, text| write_port(new, at, |port| port.port = text),
            )}
            {input(
                form,
                &field("target"),
                "Port of the container",
                "",
                Options::none(),
                move |new| read(new, |service| service.ports.get(at).map(|port| &port.target)),
                move |new, text| write_port(new, at, |port| port.target = text),
            )}
            {input(
                form,
                &field("name"),
                "Name",
                "",
                Options::none(),
                move |new| read(new, |service| service.ports.get(at).map(|port| &port.name)),
                move |new, text| write_port(new, at, |port| port.name = text),
            )}
            {select(
                form,
                &field("protocol"),
                "Protocol",
                &PROTOCOLS,
                move |new| read(new, |service| service.ports.get(at).map(|port| &port.protocol)),
                move |new, text| write_port(new, at, |port| port.protocol = text),
            )}
            <Button
                label=format!("Remove port {}", at + 1)
                icon=icons::TRASH
                small=true
                kind=ButtonKind::Quiet
                on_click=move |_| {
                    form.change(|new| write(new, |service| {
                        if at < service.ports.len() {
                            service.ports.remove(at);
                        }
                    }));
                }
            />
        </fieldset>
    }
    .into_any()
}

/// Selects the pods of a workload (`Deployment/web`), with its ports and, if there is none yet, its name.
pub fn select_pods(service: &mut NewService, chosen: &str, choices: &CreationChoices) {
    let Some((kind, name)) = chosen.split_once('/') else {
        return;
    };
    let mut all = choices.workloads.iter();
    let Some(workload) = all.find(|one| one.kind == kind && one.name == name) else {
        return;
    };
    service.selector.clone_from(&workload.selector);
    if service.name.trim().is_empty() {
        service.name.clone_from(&workload.name);
    }
    if !workload.ports.is_empty() {
        let with_names = workload.ports.len() > 1;
        service.ports = workload
            .ports
            .iter()
            .map(|port| NewPort {
                name: if with_names && port.name.is_empty() {
                    format!("port-{}", port.number)
                } else {
                    port.name.clone()
                },
                port: port.number.to_string(),
                target: if port.name.is_empty() {
                    String::new()
                } else {
                    port.name.clone()
                },
                protocol: port.protocol.clone(),
            })
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::{PortChoice, WorkloadChoice};

    #[test]
    fn the_pods_and_ports_of_a_workload_are_selected() {
        let port = |number, name: &str| PortChoice {
            number,
            name: name.to_owned(),
            protocol: "TCP".to_owned(),
        };
        let choices = CreationChoices {
            workloads: vec![WorkloadChoice {
                kind: "Deployment".to_owned(),
                name: "web".to_owned(),
                selector: "app=web".to_owned(),
                ports: vec![port(8080, "http"), port(9090, "")],
            }],
            ..CreationChoices::default()
        };
        let mut service = NewService::in_namespace("shop".to_owned());
        select_pods(&mut service, "StatefulSet/web", &choices);
        assert_eq!(service, NewService::in_namespace("shop".to_owned()));
        select_pods(&mut service, "Deployment/web", &choices);
        assert_eq!(
            (service.name.as_str(), service.selector.as_str()),
            ("web", "app=web")
        );
        let ports: Vec<_> = service
            .ports
            .iter()
            .map(|port| (port.name.as_str(), port.port.as_str(), port.target.as_str()))
            .collect();
        assert_eq!(ports, [("http", "8080", "http"), ("port-9090", "9090", "")]);
        let problems = NewObject::Service(service).problems();
        assert_eq!(problems, []);
    }
}
