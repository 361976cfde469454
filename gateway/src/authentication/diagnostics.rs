//! Diagnoses why a user gets no session: refused cookies, wrong host names, clocks, sign-in loops.
//! Each problem lists its likely causes and what the user can do.
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, StatusCode, Uri};
use portico_store::EndReason;

use super::{Authentication, NoSession, post_login_redirect::SignInMark, sign_in_first};
use crate::{
    hosts::App,
    http::{
        cookies::Purpose, error_response::Problem, interrupt::Interrupt, redirect::with_cookie,
    },
    request_context::Context,
};

const SIGN_IN: &str = "/oauth2/sign_in";

impl Authentication {
    /// Returns where a browser without a session goes: to sign-in, or to a page with the cause if
    /// it has just signed in.
    pub fn not_signed_in(
        &self,
        context: &Context,
        headers: &HeaderMap,
        uri: &Uri,
        missing: NoSession,
    ) -> Interrupt {
        if !context.navigation {
            return sign_in_first(context, uri, missing);
        }
        let now = self.clock.now();
        if self.is_redirect_loop(headers, now) {
            return self.stop_redirect_loop(self.sign_in_loop(missing));
        }
        if missing == NoSession::NoCookie && self.sign_in_mark(uri, now) == SignInMark::SignedInNow
        {
            return self.cookie_refused().into();
        }
        sign_in_first(context, uri, missing)
    }

    /// Returns the problem for an unknown host name. Clients in `gateway.tell_address_to` are shown
    /// the right one.
    pub fn unknown_host(&self, context: &Context) -> Problem {
        let known = &self.tell_address_to;
        let may_know = context.client.is_in(known);
        let problem = Problem::downstream(
            StatusCode::MISDIRECTED_REQUEST,
            "unknown_host",
            "Unknown host name",
            "Portico does not serve this host. Check the address.",
        );
        if !may_know {
            return problem.steps([
                "Compare the address with the one that you were given, letter by letter.",
                "If you followed a link, tell its author that the host name is wrong.",
            ]);
        }
        let main = self.hosts.main();
        problem
            .steps([
                format!("Portico is at {main}; each app has a host name of its own, which the launchpad there opens."),
                "If you are setting this up: gateway.public_url and gateway.apps_domain name the \
                 hosts, and a proxy in front must pass the Host header on unchanged."
                    .to_owned(),
            ])
            .leads_to("Open Portico", format!("{main}/"))
    }

    /// Returns the problem for a browser that returned from sign-in, or submitted a form of it,
    /// without the cookie that was set.
    pub fn cookie_refused(&self) -> Problem {
        let main = self.hosts.main();
        let mut steps = vec![
            format!(
                "Look at the address bar: it must begin with {main}. A cookie of another host name does not count here."
            ),
            "Allow cookies for this site: look at the browser's settings, at extensions that \
             block them, and at private windows that forget them."
                .to_owned(),
        ];
        if self.cookies.secure {
            steps.push(
                "The cookie travels over HTTPS only. If a proxy in front speaks plain HTTP to \
                 browsers, it is refused."
                    .to_owned(),
            );
        }
        steps.push(
            "Check this computer's date and time: with a clock that is hours wrong, cookies expire \
             at once."
                .to_owned(),
        );
        steps.push(
            "If it happens to all users: a proxy in front may drop or join Set-Cookie lines; \
             Portico's administrators should look."
                .to_owned(),
        );
        Problem::downstream(
            StatusCode::FORBIDDEN,
            "cookie_refused",
            "Your browser did not keep the cookie",
            "Portico identifies your session by a cookie, and your browser did not return the one \
             that it had just received. Without it you cannot be signed in.",
        )
        .steps(steps)
        .leads_to("Sign in again", SIGN_IN)
    }

    fn sign_in_loop(&self, missing: NoSession) -> Problem {
        let cause = match missing {
            NoSession::NoCookie => {
                "your browser did not return the session's cookie. It may be blocked, or belong to \
                 another host name"
            }
            NoSession::Unknown => {
                "Portico does not find the session that it has just created. Its replicas may use \
                 different databases or keys"
            }
            NoSession::Ended(EndReason::Expired) => {
                "each session had expired as soon as it was made. Clocks may differ, or the \
                 configured lifetimes may be too short"
            }
            NoSession::Ended(EndReason::RefusedByKeystone) => {
                "Keystone revokes each session's token as soon as it is used. Your account or its \
                 roles may just have changed"
            }
            NoSession::Ended(EndReason::Replaced) => {
                "something in this browser signs in again and again, and each sign-in ends the \
                 session before it"
            }
            NoSession::Ended(_) => "each session was ended as soon as it was made",
        };
        Problem::downstream(
            StatusCode::LOOP_DETECTED,
            "sign_in_loop",
            "Sign-in loop detected",
            format!("You were signed in several times within a minute, and each time {cause}."),
        )
        .steps([
            "Close other tabs of Portico, then sign in once more.",
            "If it happens again, send the text of this page to your cloud's administrators.",
        ])
        .leads_to("Sign in again", SIGN_IN)
    }

    /// Returns the problem for a hand-over to an app's host without the cookie that the host had
    /// set before.
    pub fn app_cookie_missing(&self, app: &App) -> Problem {
        let name = &app.config.name;
        Problem::downstream(
            StatusCode::BAD_REQUEST,
            "handover",
            format!("The link to {name} has expired"),
            format!(
                "It took too long, or your browser does not keep the cookie of {}.",
                app.origin
            ),
        )
        .steps([
            format!("Open {name} from Portico again."),
            format!(
                "If this page appears again, allow cookies for {}.",
                app.origin
            ),
            "Check this computer's date and time: with a wrong clock, cookies expire at once."
                .to_owned(),
        ])
        .leads_to("Back to Portico", format!("{}/", self.hosts.main()))
    }

    /// Returns the problem for repeated hand-overs that do not lead into the app.
    pub fn app_loop(&self, app: &App) -> Interrupt {
        let name = &app.config.name;
        let problem = Problem::downstream(
            StatusCode::LOOP_DETECTED,
            "app_loop",
            format!("Redirect loop at {name} detected"),
            format!(
                "You were signed in to it several times within a minute, and each time your \
                 browser did not return the cookie of {}, or returned another one of the same \
                 name.",
                app.origin
            ),
        )
        .steps([
            format!(
                "Allow cookies for {}, and delete those that it has now.",
                app.origin
            ),
            format!("Then open {name} from Portico again."),
            "If it happens to all users: a proxy in front of the app's host may drop Set-Cookie \
             lines; your cloud's administrators should look."
                .to_owned(),
        ])
        .leads_to("Back to Portico", format!("{}/", self.hosts.main()));
        self.stop_redirect_loop(problem)
    }

    /// Shows the problem instead of starting another sign-in, and resets the count.
    fn stop_redirect_loop(&self, problem: Problem) -> Interrupt {
        tracing::warn!(code = problem.code, "{}", problem.detail);
        let answer: Response = problem.into_response();
        let answer = with_cookie(answer, self.cookies.clear(Purpose::Redirects));
        Interrupt::Answer(Box::new(answer))
    }
}
