//! Actions: those of the page that is shown, which are buttons on it, and those of every page. A button
//! with `data-command` is offered by its text, or by `data-command-label`.
use super::entries::{Entry, Target};
use crate::{hooks::keyboard::elements, routes, ui::icons};
use leptos::prelude::*;
use uuid::Uuid;
use web_sys::{Element, HtmlElement};

/// Returns the actions of the page: changes of an object, and every marked button.
pub fn of_page() -> Vec<Entry> {
    let document = document();
    let title = elements(&document, "#main h1")
        .first()
        .map(|heading| text_of(heading))
        .unwrap_or_default();
    let mut found = Vec::new();
    for button in elements(&document, ".page-actions [data-action]") {
        let Some(action) = button.get_attribute("data-action") else {
            continue;
        };
        let label = format!("{} {title}…", own_text(&button));
        let icon = match action.as_str() {
            "restart" => icons::ROTATE,
            "scale" => icons::SCALE,
            "delete" => icons::TRASH,
            _ => icons::PLAY,
        };
        let target = Target::Click(format!(".page-actions [data-action={action}]"));
        let entry = Entry::new(label, icon, target).names([format!("{action} this")]);
        let who_can = who_can(&button).map(|href| {
            let label = format!("Who can {} {title}?", own_text(&button).to_lowercase());
            Entry::new(label, icons::SHIELD, Target::Page(href))
        });
        found.push(Entry {
            refusal: refusal(&button),
            ..entry
        });
        found.extend(who_can);
    }
    if !elements(&document, "[data-filter]").is_empty() {
        let target = Target::Filter;
        found.push(Entry::new("Filter the list…", icons::SEARCH, target).detail("/"));
    }
    for button in elements(&document, "[data-pause]") {
        let target = Target::Click("[data-pause]".to_owned());
        let (label, icon) = if own_text(&button).starts_with("Resume") {
            ("Resume the updates of the list", icons::PLAY)
        } else {
            ("Pause the updates of the list", icons::PAUSE)
        };
        found.push(Entry::new(label, icon, target).detail("p"));
    }
    found
}

/// Returns the actions that every page has.
pub fn of_panel(project: &str, cluster: Option<(Uuid, String)>) -> Vec<Entry> {
    let mut found = Vec::new();
    if let Some((id, name)) = cluster {
        let command = format!("portico kubeconfig --cluster {name}");
        found.push(
            Entry::new(
                "Copy the kubeconfig command",
                icons::COPY,
                Target::Copy(command.clone()),
            )
            .detail(command),
        );
        let download = Target::External(routes::kubeconfig(project, id));
        found.push(Entry::new(
            format!("Download the kubeconfig of {name}"),
            icons::DOWNLOAD,
            download,
        ));
    }
    for button in elements(&document(), "[data-command]") {
        let Some(command) = button.get_attribute("data-command") else {
            continue;
        };
        let label = button
            .get_attribute("data-command-label")
            .unwrap_or_else(|| own_text(&button));
        let icon = match command.as_str() {
            "sign-out" => icons::SIGN_OUT,
            "appearance-light" => icons::SUN,
            "appearance-dark" => icons::MOON,
            "appearance-system" => icons::SUN_MOON,
            _ => icons::PLAY,
        };
        let names = command
            .starts_with("appearance-")
            .then(|| label.replace("Appearance", "Theme"));
        let target = Target::Click(format!("[data-command=\"{command}\"]"));
        found.push(Entry::new(label, icon, target).names(names));
    }
    found.push(
        Entry::new("Activity of this tab", icons::ACTIVITY, Target::Activity)
            .names(["Operations".to_owned(), "History".to_owned()]),
    );
    found.push(Entry::new("Keyboard shortcuts", icons::HELP, Target::Help).detail("?"));
    found
}

fn text_of(element: &Element) -> String {
    element.text_content().unwrap_or_default().trim().to_owned()
}

/// Returns the text of a button, without an explanation inside it.
fn own_text(button: &HtmlElement) -> String {
    button
        .get_attribute("aria-label")
        .unwrap_or_else(|| text_of(button))
}

/// Returns the address at which a disabled button's missing permission is explained.
fn who_can(button: &HtmlElement) -> Option<String> {
    let link = button.parent_element()?.query_selector(".why-text a");
    link.ok().flatten()?.get_attribute("href")
}

/// Returns why a button is disabled.
fn refusal(button: &HtmlElement) -> Option<String> {
    if button.get_attribute("aria-disabled").as_deref() != Some("true") {
        return None;
    }
    let reason = button
        .get_attribute("aria-describedby")
        .and_then(|id| document().get_element_by_id(&id));
    Some(reason.map_or_else(
        || "It is not available now.".to_owned(),
        |reason| text_of(&reason),
    ))
}
