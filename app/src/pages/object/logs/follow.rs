//! The streams of the logs of a pane.
use super::{
    pane::PaneState,
    stage::{LogSource, Stage},
};
use crate::hooks::stream::{Link, Stream};
use leptos::prelude::*;
use portico_domain::stream::{LogQuery, Message, Request};
use std::time::Duration;
use uuid::Uuid;

impl PaneState {
    /// Opens the logs that are new among the sources, and closes those that are not there any more.
    pub(super) fn follow(self, cluster: Uuid, sources: Signal<Vec<LogSource>>) {
        let Some(stream) = use_context::<Stream>() else {
            return;
        };
        let open = StoredValue::new(Vec::<(LogQuery, u32)>::new());
        Effect::new(move |_| {
            let wanted = sources.get();
            open.update_value(|open| {
                open.retain(|(query, id)| {
                    let stays = wanted.iter().any(|source| source.query == *query);
                    if !stays {
                        stream.close(*id);
                    }
                    stays
                });
                self.stages.update(|stages| {
                    stages.retain(|(query, _)| wanted.iter().any(|source| source.query == *query));
                });
                for source in wanted {
                    if open.iter().all(|(query, _)| *query != source.query) {
                        let query = source.query.clone();
                        self.stages.update(|stages| {
                            if stages.iter().all(|(known, _)| *known != query) {
                                stages.push((query.clone(), Stage::Waiting));
                            }
                        });
                        open.push((query, self.open(stream, cluster, source)));
                    }
                }
            });
        });
        on_cleanup(move || {
            open.with_value(|open| open.iter().for_each(|(_, id)| stream.close(*id)));
        });
        Effect::new(move |was: Option<Link>| {
            let link = stream.link.get();
            match (was, link) {
                (_, Link::Down) => self.stages.update(|stages| {
                    for (_, stage) in stages.iter_mut() {
                        if !matches!(stage, Stage::Ended(_)) {
                            *stage = Stage::Interrupted;
                        }
                    }
                }),
                // after a reconnect, the server starts from the tail
                (Some(Link::Connecting), Link::Live) => self.restart(),
                _ => {}
            }
            link
        });
    }

    fn open(self, stream: Stream, cluster: Uuid, source: LogSource) -> u32 {
        let id = StoredValue::new(0_u32);
        let query = source.query.clone();
        let opened = stream.open(
            move |id| Request::Logs { id, cluster, query },
            move |message| {
                if matches!(message, Message::Ended { retry: true, .. }) {
                    let restarts = self.restarts.try_get_value();
                    let again = move || {
                        // after a reconnect it is requested already; without effect after it was closed
                        if self.restarts.try_get_value() == restarts {
                            stream.again(id.try_get_value().unwrap_or_default());
                        }
                    };
                    set_timeout(again, Duration::from_secs(3));
                }
                self.receive(&source, message);
            },
        );
        id.set_value(opened);
        opened
    }
}
