//! Decides the authorization requests of other proxies in the same way as a request to the app
//! itself.
use std::sync::Arc;

use http::{HeaderMap, Method, StatusCode, Uri, header};
use portico_request::path;

use super::ForwardAuth;
use crate::{
    apps::{
        authorization::{Asked, Decision, Key, Refusal},
        bearer::is_bearer_request,
    },
    authentication::NoSession,
    hosts::{App, Site},
    http::{
        access_log,
        error_response::Problem,
        forms::Fields,
        interrupt::Interrupt,
        origin::{self, OriginFault},
    },
    request_context::{Context, forwarded_request::ForwardedRequest},
    sessions::live::Caller,
};

/// An authorization request of another proxy.
#[derive(Debug)]
pub(super) struct AuthRequest<'r> {
    pub context: &'r Context,
    /// The headers of the authorization request; the proxy includes those of the request that it
    /// asks about.
    pub headers: &'r HeaderMap,
    /// The app that the request is for; `None` asks for a session only.
    pub app: Option<Arc<App>>,
    pub forwarded: ForwardedRequest,
    /// The method of the request: as forwarded, or that of the authorization request.
    pub method: Method,
}

/// The answer to an authorization request.
#[derive(Debug)]
pub(super) enum AuthDecision {
    /// Permitted, with the caller and what gives them access; without a caller where a rule permits
    /// every client.
    Open {
        caller: Option<Caller>,
        key: Option<Key>,
    },
    SignIn(NoSession),
    /// The sign-in is too long ago for the request.
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

impl ForwardAuth {
    /// Reads an authorization request from the headers of a trusted proxy, and `?app=` on the main
    /// host.
    pub(super) fn question<'r>(
        &self,
        context: &'r Context,
        method: &Method,
        uri: &Uri,
        headers: &'r HeaderMap,
    ) -> Result<AuthRequest<'r>, Problem> {
        let forwarded = if context.trusted_proxy {
            ForwardedRequest::of(headers).map_err(|why| refused(why.to_string()))?
        } else {
            ForwardedRequest::default()
        };
        if let Some(host) = &forwarded.host {
            let site = self.hosts.named(host);
            let same = site
                .is_some_and(|site| site.origin(&self.hosts) == context.site.origin(&self.hosts));
            if !same {
                return Err(refused(
                    "the forwarded host belongs to another app than the request's own host",
                ));
            }
        }
        let app = match &context.site {
            // the query may be that of the page: Caddy does not remove it
            Site::App(app) => Some(Arc::clone(app)),
            Site::Main => match Fields::of_query(uri)?.optional("app") {
                Some(id) => Some(self.hosts.app(id).cloned().ok_or_else(no_such_app)?),
                None => None,
            },
        };
        let method = forwarded.method.clone().unwrap_or_else(|| method.clone());
        self.asked(AuthRequest {
            context,
            headers,
            app,
            forwarded,
            method,
        })
    }

    /// Reads an authorization request that has the path, method and host of the request itself.
    pub(super) fn question_in_url<'r>(
        &self,
        context: &'r Context,
        method: &Method,
        target: &str,
        headers: &'r HeaderMap,
    ) -> Result<AuthRequest<'r>, Problem> {
        let app = match &context.site {
            Site::App(app) => Some(Arc::clone(app)),
            Site::Main => None,
        };
        self.asked(AuthRequest {
            context,
            headers,
            app,
            forwarded: ForwardedRequest {
                host: None,
                method: Some(method.clone()),
                target: Some(target.to_owned()),
            },
            method: method.clone(),
        })
    }

    fn asked<'r>(&self, question: AuthRequest<'r>) -> Result<AuthRequest<'r>, Problem> {
        if let Some((path, _)) = question.forwarded.path_and_query() {
            let host = question.context.site.origin(&self.hosts);
            access_log::asked(&question.method, host, path);
            path::check(path).map_err(Problem::bad_path)?;
        }
        // it is unknown how an app reads such a method, and a proxy that changes its case asks
        // about another request than it forwards
        let named = |app: &Arc<App>| {
            self.authorization
                .rules
                .of(app)
                .spells_out(&question.method)
        };
        if !portico_access_policy::is_registered(&question.method)
            && !question.app.as_ref().is_some_and(named)
        {
            return Err(refused(
                "its method is not a registered one, and no rule of the app names it",
            ));
        }
        Ok(question)
    }

    /// Decides an authorization request. The response distinguishes nothing by values that the
    /// client could have written itself.
    pub(super) async fn authorize(
        &self,
        question: &AuthRequest<'_>,
    ) -> Result<AuthDecision, Interrupt> {
        let AuthRequest {
            context, headers, ..
        } = question;
        let app = question.app.as_ref();
        if !question.is_bearer_request() {
            let own = context.site.origin(&self.hosts);
            let checked = origin::check(own, &question.method, headers, upgrades(headers));
            if let Err(fault) = checked {
                return self.authorize_cross_origin(question, fault);
            }
        }
        let cookie_of = match &context.site {
            Site::App(app) => app.cookie_of(),
            Site::Main => None,
        };
        let bearer = match app {
            Some(app) => {
                self.bearer_authentication
                    .api_caller(context, app, headers, cookie_of)
                    .await?
            }
            None => None,
        };
        let program = bearer.is_some();
        let known = match &bearer {
            Some(bearer) => Ok(bearer.caller().clone()),
            None => self.valid_caller(context, headers, cookie_of).await?,
        };
        let Some(app) = app else {
            return Ok(match known {
                Ok(caller) => AuthDecision::Open {
                    caller: Some(caller),
                    key: None,
                },
                Err(missing) => AuthDecision::SignIn(missing),
            });
        };
        let asked = self.asked_about(question, app)?;
        let decision = self
            .authorization
            .decide(app, &asked, known.as_ref().ok())
            .await?;
        Ok(match decision {
            Decision::Open(key) => AuthDecision::Open {
                caller: known.ok(),
                key: Some(key),
            },
            Decision::Public => AuthDecision::Open {
                caller: known.ok(),
                key: None,
            },
            Decision::Preflight => AuthDecision::Open {
                caller: None,
                key: None,
            },
            Decision::SignIn => AuthDecision::SignIn(known.err().unwrap_or(NoSession::NoCookie)),
            Decision::SignInAgain(refusal) if !program => AuthDecision::SignInAgain {
                app: Arc::clone(app),
                refusal,
            },
            // it is unknown when the owner of the bearer token signed in
            Decision::SignInAgain(refusal) | Decision::Refused(refusal) => AuthDecision::Refused {
                app: Arc::clone(app),
                caller: known.ok(),
                refusal,
                program,
            },
        })
    }

    /// Decides a request by a page of another origin: only what is open to every client is
    /// permitted.
    fn authorize_cross_origin(
        &self,
        question: &AuthRequest<'_>,
        fault: OriginFault,
    ) -> Result<AuthDecision, Interrupt> {
        if let Some(app) = &question.app
            && self
                .authorization
                .allows_cross_origin(app, &self.asked_about(question, app)?)
        {
            return Ok(AuthDecision::Open {
                caller: None,
                key: None,
            });
        }
        Err(Problem::foreign_origin(fault).into())
    }

    async fn valid_caller(
        &self,
        context: &Context,
        headers: &HeaderMap,
        cookie_of: Option<&str>,
    ) -> Result<Result<Caller, NoSession>, Problem> {
        let caller = match self.authentication.lookup(headers, cookie_of).await? {
            Ok(caller) => caller,
            Err(missing) => return Ok(Err(missing)),
        };
        Ok(self
            .authentication
            .ensure_valid(context, &caller)
            .await?
            .map(|()| caller))
    }

    /// Returns the request that the app's rules are evaluated for. Where they depend on the path
    /// and the proxy does not send it, this is an error.
    fn asked_about<'q>(
        &self,
        question: &'q AuthRequest<'_>,
        app: &App,
    ) -> Result<Asked<'q>, Problem> {
        let path = match question.forwarded.path_and_query() {
            Some((path, _)) => path,
            None if self.authorization.has_rules(app) => {
                return Err(refused(
                    "the app has rules by path, and the proxy did not send the path",
                ));
            }
            None => "/",
        };
        // nginx sends its authorization requests with GET, whatever the method of the request
        if question.forwarded.method.is_none() && self.authorization.has_rules(app) {
            return Err(refused(
                "the app has rules, and the proxy did not send the method",
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

/// A proxy that sends this header with the value `1` asks on its own behalf and keeps the response
/// to itself. Scripts in a browser cannot send a header whose name begins with `Sec-` (Fetch,
/// section 2.2.2), so a request of the app's own pages that a proxy forwards to `/oauth2/` cannot
/// carry it.
const PROXY_HEADER: &str = "sec-portico-forward-auth";

impl AuthRequest<'_> {
    /// Returns whether a trusted proxy asks on its own behalf about a page of the app.
    pub fn is_for_the_app(&self) -> bool {
        let own = |path: &str| path == "/oauth2" || path.starts_with("/oauth2/");
        let mut asks = self.headers.get_all(PROXY_HEADER).iter();
        self.context.trusted_proxy
            && asks.next().is_some_and(|value| value.as_bytes() == b"1")
            && self
                .forwarded
                .path_and_query()
                .is_some_and(|(path, _)| !own(path))
    }

    /// Returns whether a page of another origin makes a user's browser send this request, so that
    /// no cookie counts.
    pub fn is_cross_origin(&self, own: &str) -> bool {
        let upgrade = upgrades(self.headers);
        !self.is_bearer_request()
            && origin::check(own, &self.method, self.headers, upgrade).is_err()
    }

    fn is_bearer_request(&self) -> bool {
        self.app
            .as_ref()
            .is_some_and(|app| is_bearer_request(&Site::App(Arc::clone(app)), self.headers))
    }
}

/// Returns whether the request is a WebSocket handshake. Proxies remove `Upgrade` from their
/// authorization request; the other headers of the handshake remain.
fn upgrades(headers: &HeaderMap) -> bool {
    headers.contains_key(header::UPGRADE) || headers.contains_key(header::SEC_WEBSOCKET_KEY)
}

fn refused(reason: impl Into<String>) -> Problem {
    let reason = reason.into();
    tracing::warn!(
        reason,
        "an authorization request of a proxy in front was refused"
    );
    Problem::downstream(
        StatusCode::FORBIDDEN,
        "bad_question",
        "Cannot authorize this request",
        format!("It was refused: {reason}."),
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
