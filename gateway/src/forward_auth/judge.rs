//! The decision that another proxy asks for: the same that a request to the app itself would get.
use std::sync::Arc;

use http::{HeaderMap, Method, StatusCode, Uri, header};

use super::told::Told;
use crate::{
    access::{line, origin, rules::Key},
    dispatch::is_of_a_program,
    forms::Fields,
    guard::{Missing, Stop},
    hosts::{App, Site},
    problem::Problem,
    proxy::path,
    session::live::Caller,
    state::{Context, Gateway},
};

/// What another proxy wants to know.
#[derive(Debug)]
pub(super) struct Question<'r> {
    pub context: &'r Context,
    /// Of the question; the proxy passes on those of the request that it asks about.
    pub headers: &'r HeaderMap,
    /// The app that is asked about; `None` asks for a session only.
    pub app: Option<Arc<App>>,
    pub told: Told,
    /// The method that is asked about: as it was told, or that of the question.
    pub method: Method,
}

/// What is said to it.
#[derive(Debug)]
pub(super) enum Verdict {
    /// Somebody, with what opens the app for them.
    Open {
        caller: Caller,
        key: Option<Key>,
    },
    SignIn(Missing),
    Refused {
        caller: Caller,
        program: bool,
    },
}

impl Gateway {
    /// Reads a question from the headers of a trusted proxy, and `?app=` on the main host.
    pub(super) fn question<'r>(
        &self,
        context: &'r Context,
        method: &Method,
        uri: &Uri,
        headers: &'r HeaderMap,
    ) -> Result<Question<'r>, Problem> {
        let told = if context.trusted_proxy {
            Told::of(headers).map_err(|why| refused(why.to_string()))?
        } else {
            Told::default()
        };
        if let Some(host) = &told.host {
            let site = self.hosts.named(host);
            let same = site
                .is_some_and(|site| site.origin(&self.hosts) == context.site.origin(&self.hosts));
            if !same {
                return Err(refused(
                    "it is asked about a host that the request is not for",
                ));
            }
        }
        let app = match &context.site {
            // the query may be that of the page: Caddy leaves it where it is
            Site::App(app) => Some(Arc::clone(app)),
            Site::Main => match Fields::of_query(uri)?.optional("app") {
                Some(id) => Some(self.hosts.app(id).cloned().ok_or_else(no_such_app)?),
                None => None,
            },
        };
        let method = told.method.clone().unwrap_or_else(|| method.clone());
        self.asked(Question {
            context,
            headers,
            app,
            told,
            method,
        })
    }

    /// A question whose path, method and host are those of the request itself.
    pub(super) fn question_in_url<'r>(
        &self,
        context: &'r Context,
        method: &Method,
        target: &str,
        headers: &'r HeaderMap,
    ) -> Result<Question<'r>, Problem> {
        let app = match &context.site {
            Site::App(app) => Some(Arc::clone(app)),
            Site::Main => None,
        };
        self.asked(Question {
            context,
            headers,
            app,
            told: Told {
                host: None,
                method: Some(method.clone()),
                target: Some(target.to_owned()),
            },
            method: method.clone(),
        })
    }

    fn asked<'r>(&self, question: Question<'r>) -> Result<Question<'r>, Problem> {
        if let Some((path, _)) = question.told.path_and_query() {
            let host = question.context.site.origin(&self.hosts);
            line::asked(&question.method, host, path);
            path::check(path).map_err(Problem::bad_path)?;
        }
        Ok(question)
    }

    /// Decides. Nothing is told apart by what the client could have written itself.
    pub(super) async fn judge(&self, question: &Question<'_>) -> Result<Verdict, Stop> {
        let Question {
            context, headers, ..
        } = question;
        let app = question.app.as_deref();
        if !question.is_of_a_program() {
            let own = context.site.origin(&self.hosts);
            origin::check(own, &question.method, headers, upgrades(headers))
                .map_err(Problem::foreign_origin)?;
        }
        let cookie_of = match &context.site {
            Site::App(app) => app.cookie_of(),
            Site::Main => None,
        };
        let bearer = match app {
            Some(app) => self.api_caller(context, app, headers, cookie_of).await?,
            None => None,
        };
        let program = bearer.is_some();
        let caller = match &bearer {
            Some(bearer) => bearer.caller().clone(),
            None => match self.lookup(headers, cookie_of).await? {
                Ok(caller) => caller,
                Err(missing) => return Ok(Verdict::SignIn(missing)),
            },
        };
        if !program && let Err(missing) = self.standing(context, &caller).await? {
            return Ok(Verdict::SignIn(missing));
        }
        let Some(app) = app else {
            return Ok(Verdict::Open { caller, key: None });
        };
        Ok(match self.key_to(app, &caller.live).await? {
            Some(key) => Verdict::Open {
                caller,
                key: Some(key),
            },
            None => Verdict::Refused { caller, program },
        })
    }
}

/// By this header, with the value `1`, a proxy says that it asks by itself, and keeps the answer to
/// itself. No script in a browser can send one whose name begins with `Sec-` (Fetch, 2.2.2), so
/// nothing that the app's own pages ask for, through a proxy that passes `/oauth2/` on, looks like it.
const ASKS: &str = "sec-portico-forward-auth";

impl Question<'_> {
    /// Whether a trusted proxy asks by itself about a page of the app's.
    pub fn is_for_the_app(&self) -> bool {
        let own = |path: &str| path == "/oauth2" || path.starts_with("/oauth2/");
        let mut asks = self.headers.get_all(ASKS).iter();
        self.context.trusted_proxy
            && asks.next().is_some_and(|value| value.as_bytes() == b"1")
            && self
                .told
                .path_and_query()
                .is_some_and(|(path, _)| !own(path))
    }

    fn is_of_a_program(&self) -> bool {
        self.app
            .as_ref()
            .is_some_and(|app| is_of_a_program(&Site::App(Arc::clone(app)), self.headers))
    }
}

/// Proxies take `Upgrade` away from their question; what a WebSocket's handshake has besides stays.
fn upgrades(headers: &HeaderMap) -> bool {
    headers.contains_key(header::UPGRADE) || headers.contains_key(header::SEC_WEBSOCKET_KEY)
}

fn refused(why: impl Into<String>) -> Problem {
    let why = why.into();
    tracing::warn!(why, "a question of a proxy in front cannot be answered");
    Problem::downstream(
        StatusCode::FORBIDDEN,
        "bad_question",
        "This request cannot be judged",
        format!("It was refused: {why}."),
    )
}

fn no_such_app() -> Problem {
    Problem::downstream(
        StatusCode::FORBIDDEN,
        "no_such_app",
        "Not permitted",
        "There is no such app at this address.",
    )
}
