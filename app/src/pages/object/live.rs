//! The parts of an object's page that have a state of their own: an editor, logs, a terminal. They stay as
//! they are when the object changes, and their code is loaded when one of them is opened.
use super::{edit, has_logs, logs, refusal, terminal};
use crate::routes::Tab;
use leptos::prelude::*;
use portico_domain::panel::{Action, ObjectView};
use uuid::Uuid;

/// A part of the page.
#[derive(Clone)]
pub struct Live {
    tab: Tab,
    object: ObjectView,
}

impl Live {
    /// Returns the part that a tab shows; `None` for other tabs, and for what is not permitted.
    pub fn of(tab: Tab, object: &ObjectView) -> Option<Self> {
        let action = match tab {
            Tab::Edit => Action::Edit,
            Tab::Logs if has_logs(object) => Action::ViewLogs,
            // a workload offers its pods
            Tab::Terminal if has_logs(object) && !object.containers.is_empty() => {
                Action::OpenTerminal
            }
            _ => return None,
        };
        refusal(object, action).is_none().then(|| Self {
            tab,
            object: object.clone(),
        })
    }

    /// Returns what the part depends on; with another one it is made again.
    pub fn key(&self) -> (Tab, &str, Option<&str>, Vec<(&str, bool)>) {
        if self.tab == Tab::Edit {
            // an editor never loses a text
            return (self.tab, "", None, Vec::new());
        }
        let containers = self
            .object
            .containers
            .iter()
            .map(|container| (container.name.as_str(), container.has_previous))
            .collect();
        let selector = self.object.pod_selector.as_deref();
        (self.tab, &self.object.uid, selector, containers)
    }

    pub fn view(self, cluster: Uuid) -> AnyView {
        let object = self.object;
        match self.tab {
            Tab::Logs => logs::console(cluster, object),
            Tab::Terminal => view! { <terminal::Terminal cluster object /> }.into_any(),
            _ => view! { <edit::Edit cluster object=object.reference uid=object.uid /> }.into_any(),
        }
    }
}
