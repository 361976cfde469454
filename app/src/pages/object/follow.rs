//! The changes of the object on a page.
use crate::{error::UiError, hooks::stream::Stream};
use leptos::prelude::*;
use portico_domain::{
    panel::{ObjectRef, ObjectView},
    stream::{Message, Request},
};
use uuid::Uuid;

/// Runs `again` whenever the cluster reports a change, and sets `gone` when the object is deleted. It begins when the page has been
/// read: what it shows is known by then, and a change since is reported too.
pub fn follow(
    cluster: Uuid,
    object: ObjectRef,
    data: Resource<Result<ObjectView, UiError>>,
    gone: RwSignal<bool>,
    again: Callback<()>,
) {
    let Some(stream) = use_context::<Stream>() else {
        return;
    };
    let is_read = Memo::new(move |_| data.with(Option::is_some));
    Effect::new(move |_| {
        if !is_read.get() {
            return;
        }
        let version = data.with_untracked(version);
        let object = object.clone();
        let id = stream.open(
            |id| Request::Object {
                id,
                cluster,
                object,
                version,
            },
            move |message| match message {
                Message::Changed { .. } => {
                    // created again under the same name
                    gone.set(false);
                    again.run(());
                }
                Message::Gone { .. } => gone.set(true),
                _ => {}
            },
        );
        on_cleanup(move || stream.close(id));
    });
}

fn version(data: &Option<Result<ObjectView, UiError>>) -> Option<String> {
    match data {
        Some(Ok(object)) => Some(object.resource_version.clone()),
        _ => None,
    }
}
