//! The tab's one event stream: a WebSocket to `/projects/{project}/stream` that carries every live
//! list, object and log of the page, and reconnects by itself.
use super::closing::Closing;
use crate::{context::Session, hooks::browser_value::BrowserValue, routes};
use leptos::prelude::*;
use portico_domain::stream::{Message, Request};
use serde::Deserialize;
use std::{collections::BTreeMap, rc::Rc, time::Duration};
use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{CloseEvent, MessageEvent, WebSocket};

/// The state of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// No subscription yet.
    Idle,
    Connecting,
    Live,
    /// Disconnected; it will be retried.
    Down,
}

/// What decides where a message goes. Its content is decoded by the subscription: only pages that
/// subscribe load the code for that.
#[derive(Deserialize)]
struct Header {
    id: Option<u32>,
    reason: Option<String>,
}

/// Takes the text of a message.
type Handler = Rc<dyn Fn(&str)>;

struct Subscription {
    /// The text of the request.
    request: String,
    handler: Handler,
}

struct Socket {
    socket: WebSocket,
    // dropped with the socket: the browser must not call into freed closures
    _on_open: Closure<dyn FnMut()>,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_close: Closure<dyn FnMut(CloseEvent)>,
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.socket.set_onopen(None);
        self.socket.set_onmessage(None);
        self.socket.set_onclose(None);
        if self.socket.ready_state() == WebSocket::CONNECTING {
            // closing a connection that is being made is an error in the browser's console
            let socket = self.socket.clone();
            let close = Closure::once_into_js(move || {
                let _ = socket.close();
            });
            self.socket.set_onopen(Some(close.unchecked_ref()));
        } else {
            let _ = self.socket.close();
        }
    }
}

#[derive(Default)]
struct Inner {
    socket: Option<Socket>,
    project: String,
    subscriptions: BTreeMap<u32, Subscription>,
    last_id: u32,
    /// Attempts since the last success.
    tries: u32,
    /// The server has refused this connection: the next attempt can wait.
    refused: bool,
}

/// The stream of this tab. `Copy`, found in the context.
#[derive(Clone, Copy)]
pub struct Stream {
    inner: BrowserValue<Inner>,
    pub link: RwSignal<Link>,
    /// The reason why the connection is down, in a sentence.
    pub interruption: RwSignal<String>,
    session: Session,
}

const INTERRUPTED: &str = "The connection to Portico is interrupted.";
/// The delay after a refusal; another tab has to be closed first.
const REFUSED_RETRY_DELAY: Duration = Duration::from_secs(15);

/// Creates the stream's context. It connects at the first subscription.
pub fn provide_stream(session: Session) {
    let stream = Stream {
        inner: BrowserValue::default(),
        link: RwSignal::new(Link::Idle),
        interruption: RwSignal::new(INTERRUPTED.to_owned()),
        session,
    };
    provide_context(stream);
    Effect::new(move |_| {
        let project = session.project.get();
        stream.change_project(project);
    });
    Effect::new(move |_| {
        let handle = window_event_listener_untyped("online", move |_| stream.connect());
        on_cleanup(move || handle.remove());
    });
}

impl Stream {
    /// Subscribes until `close`. `request` gets the ID that every message for it carries.
    pub fn open(
        self,
        request: impl FnOnce(u32) -> Request,
        handler: impl Fn(Message) + 'static,
    ) -> u32 {
        let id = self.next_id();
        let handler = move |text: &str| {
            // an unknown message of a newer server does not close the connection
            if let Ok(message) = serde_json::from_str(text) {
                handler(message);
            }
        };
        self.subscribe(id, text_of(&request(id)), Rc::new(handler));
        id
    }

    fn next_id(self) -> u32 {
        self.inner
            .try_update_value(|inner| {
                inner.last_id += 1;
                inner.last_id
            })
            .unwrap_or_default()
    }

    fn subscribe(self, id: u32, request: String, handler: Handler) {
        self.inner.try_update_value(|inner| {
            let subscription = Subscription { request, handler };
            inner.subscriptions.insert(id, subscription);
        });
        if self.link.get_untracked() == Link::Live {
            self.send_one(id);
        } else {
            self.connect();
        }
    }

    /// Subscribes again under the same ID, after the server ended the subscription.
    pub fn again(self, id: u32) {
        if self.link.get_untracked() == Link::Live {
            self.send_one(id);
        }
    }

    /// Sends a request about a subscription, and sets the one that subscribes after a new
    /// connection.
    pub fn change(self, id: u32, request: Option<&Request>, again: &Request) {
        self.replace(id, request.map(text_of), text_of(again));
    }

    fn replace(self, id: u32, request: Option<String>, again: String) {
        let is_live = self.link.get_untracked() == Link::Live;
        self.inner.try_update_value(|inner| {
            let Some(found) = inner.subscriptions.get_mut(&id) else {
                return;
            };
            found.request = again;
            if let (true, Some(socket), Some(request)) = (is_live, &inner.socket, request) {
                send(&socket.socket, &request);
            }
        });
    }

    pub fn close(self, id: u32) {
        let request = text_of(&Request::Close { id });
        self.inner.try_update_value(|inner| {
            if inner.subscriptions.remove(&id).is_some()
                && let Some(socket) = &inner.socket
            {
                send(&socket.socket, &request);
            }
        });
    }

    fn change_project(self, project: String) {
        let wanted = self.inner.try_update_value(|inner| {
            if inner.project == project {
                return false;
            }
            inner.project = project;
            inner.socket = None;
            inner.tries = 0;
            !inner.subscriptions.is_empty()
        });
        if wanted == Some(true) {
            self.connect();
        }
    }

    fn connect(self) {
        let project = self.inner.try_with_value(|inner| {
            (inner.socket.is_none() && !inner.project.is_empty()).then(|| inner.project.clone())
        });
        let Some(Some(project)) = project else { return };
        let Some(socket) = open_socket(&routes::stream(&project)) else {
            return;
        };
        self.link.set(Link::Connecting);
        let on_open = Closure::<dyn FnMut()>::new(move || self.opened());
        let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            if let Some(text) = event.data().as_string() {
                self.received(&text);
            }
        });
        // the socket is dropped from a new task: it must not free the closure that runs
        let on_close = Closure::<dyn FnMut(CloseEvent)>::new(move |event: CloseEvent| {
            let closing = Closing::of(event.code(), &event.reason());
            set_timeout(move || self.closed(closing), Duration::ZERO);
        });
        socket.set_onopen(Some(on_open.as_ref().unchecked_ref()));
        socket.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        socket.set_onclose(Some(on_close.as_ref().unchecked_ref()));
        self.inner.try_update_value(|inner| {
            inner.socket = Some(Socket {
                socket,
                _on_open: on_open,
                _on_message: on_message,
                _on_close: on_close,
            });
        });
    }

    fn opened(self) {
        self.link.set(Link::Live);
        self.inner.try_update_value(|inner| {
            inner.tries = 0;
            if let Some(socket) = &inner.socket {
                for subscription in inner.subscriptions.values() {
                    send(&socket.socket, &subscription.request);
                }
            }
        });
    }

    fn received(self, text: &str) {
        let Ok(named) = serde_json::from_str::<BTreeMap<String, Header>>(text) else {
            // a ping
            return;
        };
        let Some(header) = named.into_values().next() else {
            return;
        };
        match header {
            Header { id: Some(id), .. } => {
                let handler = self.inner.try_with_value(|inner| {
                    inner
                        .subscriptions
                        .get(&id)
                        .map(|found| found.handler.clone())
                });
                if let Some(Some(handler)) = handler {
                    handler(text);
                }
            }
            // the whole stream is refused
            Header {
                id: None,
                reason: Some(reason),
            } => {
                self.interruption.set(reason);
                self.inner.try_update_value(|inner| inner.refused = true);
            }
            Header { .. } => {}
        }
    }

    fn closed(self, closing: Closing) {
        if let Closing::SessionEnded(why) = closing {
            // another sign-in of this browser may have replaced the session: the server knows
            self.session.end.set(why);
            self.session.refresh();
        }
        let closed = self.inner.try_update_value(|inner| {
            inner.socket = None;
            inner.tries += 1;
            (inner.tries, std::mem::take(&mut inner.refused))
        });
        let Some((tries, refused)) = closed else {
            return;
        };
        if !refused {
            self.interruption.set(INTERRUPTED.to_owned());
        }
        self.link.set(Link::Down);
        // the browser does not report why an upgrade was refused; the session may have ended
        if tries == 2 || tries % 10 == 0 {
            self.session.refresh();
        }
        let wait = match closing {
            _ if refused => REFUSED_RETRY_DELAY,
            // asked to reconnect: to another replica, or with new tokens
            Closing::ComeBack if tries == 1 => backoff(1) / 5,
            _ => backoff(tries),
        };
        set_timeout(move || self.connect(), wait);
    }

    fn send_one(self, id: u32) {
        self.inner.try_with_value(|inner| {
            if let (Some(socket), Some(found)) = (&inner.socket, inner.subscriptions.get(&id)) {
                send(&socket.socket, &found.request);
            }
        });
    }
}

/// Returns half a second, doubled with each attempt up to 15 s, spread by up to a third.
fn backoff(tries: u32) -> Duration {
    let base = (500 << tries.saturating_sub(1).min(5)).min(15_000_u64);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 1"
    )]
    let spread = (js_sys::Math::random() * 1_000.0) as u64;
    Duration::from_millis(base + base * spread / 3_000)
}

/// Opens a WebSocket to a path of this origin.
pub fn open_socket(path: &str) -> Option<WebSocket> {
    let location = window().location();
    let scheme = if location.protocol().ok()? == "https:" {
        "wss"
    } else {
        "ws"
    };
    WebSocket::new(&format!("{scheme}://{}{path}", location.host().ok()?)).ok()
}

fn send(socket: &WebSocket, request: &str) {
    // a closing socket reports with its close event
    let _ = socket.send_with_str(request);
}

fn text_of(request: &Request) -> String {
    serde_json::to_string(request).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Header;
    use portico_domain::stream::Message;
    use std::collections::BTreeMap;

    fn header(message: &Message) -> Header {
        let text = serde_json::to_string(message).unwrap();
        serde_json::from_str::<BTreeMap<String, Header>>(&text)
            .unwrap()
            .into_values()
            .next()
            .unwrap()
    }

    #[test]
    fn the_header_of_a_message_names_its_subscription() {
        let lines = Message::Lines {
            id: 7,
            lines: vec!["{\"id\": 8}".to_owned()],
            skipped: 0,
        };
        assert_eq!(header(&lines).id, Some(7));
        assert_eq!(header(&Message::Changed { id: 9 }).id, Some(9));
    }

    #[test]
    fn a_refused_stream_has_a_reason_and_no_subscription() {
        let refused = header(&Message::Refused {
            reason: "Too many tabs.".to_owned(),
        });
        assert_eq!(refused.id, None);
        assert_eq!(refused.reason.as_deref(), Some("Too many tabs."));
    }
}
