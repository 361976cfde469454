//! `GET` and `POST /oauth2/sign_in`: for everybody.
use axum::{
    Extension,
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use jiff::{SignedDuration, Timestamp};
use portico_openstack::keystone::AuthOutcome;
use secrecy::SecretString;

use super::attempt::{Claimed, Failed};
use crate::{
    access::{csrf, return_path::ReturnPath},
    forms::Fields,
    guard::{Stop, see_other, with_cookie},
    pages::sign_in::{Notice, STAY, SignIn, Stay, TRIED},
    problem::Problem,
    session::cookie::{Purpose, random_secret},
    state::{Context, Gateway, Shared},
};

/// How long the form may lie open.
const FORM_SECONDS: u32 = 12 * 3600;
/// How long somebody may take to find their one-time code.
const RECEIPT_LIFE: SignedDuration = SignedDuration::from_mins(5);
const LONGEST_NAME: usize = 255;

/// What the form is filled with.
struct Form<'a> {
    return_path: ReturnPath,
    name: &'a str,
    domain: &'a str,
    notice: Option<Notice>,
    status: StatusCode,
    retry_after: Option<i64>,
    /// Whether the form came back without the cookie that was set with it.
    cookie_lost: bool,
    /// Whether the box for staying signed in is ticked.
    stay: bool,
}

pub(crate) async fn get(
    State(gateway): State<Shared>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Stop> {
    let query = Fields::of_query(&uri)?;
    let return_path = ReturnPath::from_query(query.optional("rd"));
    if query.get("prompt") != "login" && gateway.lookup(&headers, None).await?.is_ok() {
        return Ok(see_other(return_path.as_str()));
    }
    let form = Form {
        return_path,
        name: "",
        domain: "",
        notice: notice(query.get("reason")),
        status: StatusCode::OK,
        retry_after: None,
        cookie_lost: false,
        stay: false,
    };
    Ok(gateway.sign_in_page(&headers, form)?)
}

pub(crate) async fn post(
    State(gateway): State<Shared>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
    mut fields: Fields,
) -> Result<Response, Stop> {
    let password = fields.secret("password");
    let stay = fields.get(STAY) == "1" && gateway.config.session.stays().is_some();
    let return_path = ReturnPath::from_query(fields.optional("rd"));
    let (name, domain) = (fields.get("name"), fields.get("domain"));
    let again = |notice: &str, status| Form {
        return_path: return_path.clone(),
        name,
        domain,
        notice: Some(Notice::Failure(notice.to_owned())),
        status,
        retry_after: None,
        cookie_lost: false,
        stay,
    };
    let flow = gateway.cookies.read(&headers, Purpose::Flow);
    let cookie_lost = flow.is_none();
    if cookie_lost && fields.get(TRIED) == "1" && gateway.lookup(&headers, None).await?.is_err() {
        // twice in a row: another tab's sign-in would have taken it away once
        return Err(gateway.cookie_refused().into());
    }
    if !flow.is_some_and(|flow| csrf::matches(&flow, fields.get(csrf::FIELD))) {
        let form = Form {
            cookie_lost,
            ..again(
                "This page was open for too long, or your browser keeps no cookies. Try again.",
                StatusCode::FORBIDDEN,
            )
        };
        return Ok(gateway.sign_in_page(&headers, form)?);
    }
    if name.len() > LONGEST_NAME || domain.len() > LONGEST_NAME {
        let form = Form {
            name: "",
            domain: "",
            ..again(
                "A name has at most 255 characters.",
                StatusCode::BAD_REQUEST,
            )
        };
        return Ok(gateway.sign_in_page(&headers, form)?);
    }
    let readings = Claimed::readings(name, domain, &gateway.default_domain);
    let (claimed, outcome) = match gateway.try_password(&context, &readings, &password).await {
        Ok(good) => good,
        Err(failed) => {
            let retry_after = failed.retry_after();
            let (text, status) = failure(failed)?;
            let form = Form {
                retry_after,
                ..again(&text, status)
            };
            return Ok(gateway.sign_in_page(&headers, form)?);
        }
    };
    let return_path = if stay {
        return_path.choice_for_staying()
    } else {
        return_path.clone()
    };
    match outcome {
        AuthOutcome::Token(issued) => {
            gateway
                .establish(&context, &headers, *issued, &return_path)
                .await
        }
        AuthOutcome::ReceiptRequired { receipt, required } => {
            if !required
                .iter()
                .any(|set| set.iter().any(|method| method == "totp"))
            {
                let form = again(
                    "Your account needs a further sign-in method that Portico does not offer yet.",
                    StatusCode::FORBIDDEN,
                );
                return Ok(gateway.sign_in_page(&headers, form)?);
            }
            let cookie = gateway
                .keep_receipt(&claimed, &receipt, &return_path)
                .await?;
            Ok(with_cookie(see_other("/oauth2/totp"), cookie))
        }
    }
}

impl Gateway {
    async fn keep_receipt(
        &self,
        claimed: &Claimed,
        receipt: &SecretString,
        return_path: &ReturnPath,
    ) -> Result<Option<HeaderValue>, Problem> {
        let now = Timestamp::now();
        let flows = self.store.sign_in_flows();
        let started = flows
            .start(return_path.as_str(), now + RECEIPT_LIFE, now)
            .await?;
        flows
            .set_receipt(started.flow.id, &claimed.name, &claimed.domain, receipt)
            .await?;
        Ok(self.cookies.set(Purpose::Flow, &started.secret))
    }

    fn sign_in_page(&self, headers: &HeaderMap, form: Form<'_>) -> Result<Response, Problem> {
        let known = self.cookies.read(headers, Purpose::Flow);
        let nonce = known.map_or_else(random_secret, Ok).map_err(|error| {
            tracing::error!(%error, "no nonce for a form");
            Problem::internal()
        })?;
        let domain = if form.domain.is_empty() {
            &self.default_domain
        } else {
            form.domain
        };
        let destination = self.in_words(&form.return_path);
        let page = SignIn {
            destination: destination.as_deref(),
            return_path: form.return_path.as_str(),
            notice: form.notice,
            name: form.name,
            domain,
            domain_changed: domain != self.default_domain,
            csrf: &csrf::token(&nonce),
            host: self.config.public_url.host_str().unwrap_or_default(),
            demo: self
                .config
                .demo
                .as_ref()
                .map(|demo| demo.users.as_slice())
                .unwrap_or_default(),
            status: form.status,
            cookie_lost: form.cookie_lost,
            stay: self.config.session.stays().map(|longest| Stay {
                hours: longest.as_hours(),
                ticked: form.stay,
            }),
        };
        let mut response = page.page().into_response();
        if let Some(seconds) = form.retry_after {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        let cookie = self.cookies.set_for(Purpose::Flow, &nonce, FORM_SECONDS);
        Ok(with_cookie(response, cookie))
    }

    /// Where a return path leads, in words; `None` for home.
    fn in_words(&self, path: &ReturnPath) -> Option<String> {
        match path.path() {
            "/oauth2/handover" => path
                .query("app")
                .and_then(|id| self.hosts.app(&id).map(|app| app.config.name.clone())),
            "/oauth2/authorize" | "/oauth2/device" => {
                Some("Portico for the command line".to_owned())
            }
            _ if path.leads_somewhere() => {
                let text = path.as_str();
                Some(match text.char_indices().nth(80) {
                    Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
                    None => text.to_owned(),
                })
            }
            _ => None,
        }
    }
}

/// What to say about an attempt that failed, and how to answer.
pub(super) fn failure(failed: Failed) -> Result<(String, StatusCode), Problem> {
    Ok(match failed {
        Failed::Refused => (
            "Keystone did not accept this name and password.".to_owned(),
            StatusCode::UNAUTHORIZED,
        ),
        Failed::Throttled(seconds) => (
            format!("Too many attempts failed. Wait {seconds} seconds, then try again."),
            StatusCode::TOO_MANY_REQUESTS,
        ),
        Failed::KeystoneUnavailable => (
            "Keystone does not answer, so nobody can sign in right now. This says nothing about \
             what you typed. Try again in a moment."
                .to_owned(),
            StatusCode::SERVICE_UNAVAILABLE,
        ),
        Failed::Problem(problem) => return Err(*problem),
    })
}

/// Why somebody is sent here, from a list of known words.
fn notice(reason: &str) -> Option<Notice> {
    let text = match reason {
        "signed_out" => return Some(Notice::Info("You are signed out.".to_owned())),
        "replaced" => "You have signed in again in this browser since.",
        "expired" => {
            "Your session has ended: it was not used for a while, or its Keystone token has \
             expired. Sign in again to go on."
        }
        "revoked" => "Your session was ended from another place. Sign in again to go on.",
        "ended_by_administrator" => {
            "An administrator of your cloud has ended your session. You may sign in again; ask them \
             if you do not know why."
        }
        "form_kept" => {
            "Your session had expired before what you entered arrived. It is kept for 10 minutes: \
             sign in again as the same user, and you can send it."
        }
        "refused_by_keystone" => {
            "Keystone has ended your session: your account, password or roles have changed."
        }
        "ended" | "parent_ended" | "token_reuse" => {
            "Your session has ended. Sign in again to go on."
        }
        _ => return None,
    };
    Some(Notice::Warning(text.to_owned()))
}
