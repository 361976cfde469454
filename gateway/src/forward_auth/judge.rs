//! The decision that another proxy asks for: the same that a request to the app itself would get.
use std::sync::Arc;

use http::{HeaderMap, Method, StatusCode, Uri, header};

use super::told::Told;
use crate::{
    access::{
        line,
        origin::{self, OriginFault},
        rules::Key,
    },
    dispatch::is_of_a_program,
    forms::Fields,
    guard::{Missing, Stop},
    hosts::{App, Site},
    problem::Problem,
    proxy::path,
    rules::{Asked, Decision, Refusal, is_registered},
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
    /// Somebody, with what opens the app for them; nobody where everybody may.
    Open {
        caller: Option<Caller>,
        key: Option<Key>,
    },
    SignIn(Missing),
    /// The sign-in is too long ago for what is asked about.
    SignInAgain {
        app: Arc<App>,
        refusal: Refusal,
    },
    Refused {
        app: Arc<App>,
        caller: Option<Caller>,
        refusal: Refusal,
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
        // nobody knows what an app makes of it, and a proxy that changes its letters asks about
        // another request than it passes on
        let named = |app: &Arc<App>| self.rules.of(app).spells_out(&question.method);
        if !is_registered(&question.method) && !question.app.as_ref().is_some_and(named) {
            return Err(refused(
                "its method is not a registered one, and no rule of the app names it",
            ));
        }
        Ok(question)
    }

    /// Decides. Nothing is told apart by what the client could have written itself.
    pub(super) async fn judge(&self, question: &Question<'_>) -> Result<Verdict, Stop> {
        let Question {
            context, headers, ..
        } = question;
        let app = question.app.as_ref();
        if !question.is_of_a_program() {
            let own = context.site.origin(&self.hosts);
            let checked = origin::check(own, &question.method, headers, upgrades(headers));
            if let Err(fault) = checked {
                return self.judge_from_elsewhere(question, fault);
            }
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
        let known = match &bearer {
            Some(bearer) => Ok(bearer.caller().clone()),
            None => self.standing_caller(context, headers, cookie_of).await?,
        };
        let Some(app) = app else {
            return Ok(match known {
                Ok(caller) => Verdict::Open {
                    caller: Some(caller),
                    key: None,
                },
                Err(missing) => Verdict::SignIn(missing),
            });
        };
        let asked = self.asked_about(question, app)?;
        let decision = self.decide(app, &asked, known.as_ref().ok()).await?;
        Ok(match decision {
            Decision::Open(key) => Verdict::Open {
                caller: known.ok(),
                key: Some(key),
            },
            Decision::Public => Verdict::Open {
                caller: known.ok(),
                key: None,
            },
            Decision::Preflight => Verdict::Open {
                caller: None,
                key: None,
            },
            Decision::SignIn => Verdict::SignIn(known.err().unwrap_or(Missing::NoCookie)),
            Decision::SignInAgain(refusal) if !program => Verdict::SignInAgain {
                app: Arc::clone(app),
                refusal,
            },
            // nobody knows when whoever made the bearer signed in
            Decision::SignInAgain(refusal) | Decision::Refused(refusal) => Verdict::Refused {
                app: Arc::clone(app),
                caller: known.ok(),
                refusal,
                program,
            },
        })
    }

    /// A page of another origin may ask for what everybody may have, and for nothing else.
    fn judge_from_elsewhere(
        &self,
        question: &Question<'_>,
        fault: OriginFault,
    ) -> Result<Verdict, Stop> {
        if let Some(app) = &question.app
            && self.is_open_to_pages_elsewhere(app, &self.asked_about(question, app)?)
        {
            return Ok(Verdict::Open {
                caller: None,
                key: None,
            });
        }
        Err(Problem::foreign_origin(fault).into())
    }

    async fn standing_caller(
        &self,
        context: &Context,
        headers: &HeaderMap,
        cookie_of: Option<&str>,
    ) -> Result<Result<Caller, Missing>, Problem> {
        let caller = match self.lookup(headers, cookie_of).await? {
            Ok(caller) => caller,
            Err(missing) => return Ok(Err(missing)),
        };
        Ok(self.standing(context, &caller).await?.map(|()| caller))
    }

    /// What the app's rules are asked. Where they depend on the path, a proxy that does not say it
    /// gets no answer.
    fn asked_about<'q>(&self, question: &'q Question<'_>, app: &App) -> Result<Asked<'q>, Problem> {
        let path = match question.told.path_and_query() {
            Some((path, _)) => path,
            None if self.has_rules(app) => {
                return Err(refused(
                    "the app has rules by path, and the proxy does not say which path it asks about",
                ));
            }
            None => "/",
        };
        // nginx asks with GET whatever it holds back
        if question.told.method.is_none() && self.has_rules(app) {
            return Err(refused(
                "the app has rules, and the proxy does not say which method it asks about",
            ));
        }
        Ok(Asked {
            method: &question.method,
            path,
            headers: question.headers,
            client: question.context.client,
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

    /// Whether a page of another origin makes somebody's browser ask: then no cookie counts.
    pub fn is_from_elsewhere(&self, own: &str) -> bool {
        let upgrade = upgrades(self.headers);
        !self.is_of_a_program() && origin::check(own, &self.method, self.headers, upgrade).is_err()
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
