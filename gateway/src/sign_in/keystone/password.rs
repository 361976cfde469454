//! `GET` and `POST /oauth2/sign_in`: the sign-in page, which needs no session.
use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use jiff::SignedDuration;
use portico_openstack::keystone::AuthOutcome;
use secrecy::SecretString;

use super::attempt::{Claimed, Failed};
use crate::{
    authentication::extract::FormWithoutCsrf,
    browser_state::BrowserState,
    config::KeystoneMethod,
    http::{
        cookies::{Purpose, random_secret},
        csrf, destination,
        error_response::Problem,
        forms::Fields,
        interrupt::Interrupt,
        redirect::{see_other, with_cookie},
        return_path::ReturnPath,
    },
    pages::{
        sign_in::{Button, Notice, RETRY_FIELD, STAY_FIELD, SignInPage, Stay},
        sign_in_methods::{Attempted, SignInMethods},
    },
    request_context::Context,
    sign_in::{SignIn, wording},
};

/// How long the form is valid.
const FORM_SECONDS: u32 = 12 * 3600;
/// How long the user may take to enter a one-time code.
const RECEIPT_TTL: SignedDuration = SignedDuration::from_mins(5);
const MAX_NAME_BYTES: usize = 255;

/// The contents of the sign-in form.
pub(crate) struct Form<'a> {
    pub return_path: ReturnPath,
    pub name: &'a str,
    pub domain: &'a str,
    pub notice: Option<Notice>,
    pub status: StatusCode,
    pub retry_after: Option<i64>,
    /// Whether the form was submitted without the cookie that was set with it.
    pub cookie_lost: bool,
    /// Whether the checkbox for staying signed in is checked.
    pub stay: bool,
    /// The attempted method besides the password, with the entered values.
    pub attempted: Attempted<'a>,
}

impl Form<'_> {
    /// Returns an empty form that leads to `return_path`.
    pub fn new(return_path: ReturnPath) -> Self {
        Self {
            return_path,
            name: "",
            domain: "",
            notice: None,
            status: StatusCode::OK,
            retry_after: None,
            cookie_lost: false,
            stay: false,
            attempted: Attempted::Nothing,
        }
    }

    /// Sets the error message.
    pub fn failed(mut self, text: impl Into<String>, status: StatusCode) -> Self {
        self.notice = Some(Notice::Failure(text.into()));
        self.status = status;
        self
    }
}

pub(crate) async fn get(
    State(sign_in): State<Arc<SignIn>>,
    browser: BrowserState,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Interrupt> {
    let (query, destination) = destination::split(&uri)?;
    let return_path = if destination.is_empty() {
        let interrupted = browser.interrupted().await;
        interrupted.unwrap_or_else(ReturnPath::home)
    } else {
        destination.return_path(&sign_in.hosts)
    };
    // also for a user who is signed in: it is not for the sign-in page of another day
    let left = browser.take_notice().await;
    if query.get("prompt") != "login"
        && sign_in.authentication.lookup(&headers, None).await?.is_ok()
    {
        return Ok(see_other(return_path.as_str()));
    }
    let reason = query.optional("reason").or(left.as_deref());
    let form = Form {
        notice: reason.and_then(wording::notice),
        ..Form::new(return_path)
    };
    Ok(sign_in.sign_in_page(&headers, &browser, form).await?)
}

pub(crate) async fn post(
    State(sign_in): State<Arc<SignIn>>,
    Extension(context): Extension<Context>,
    browser: BrowserState,
    headers: HeaderMap,
    FormWithoutCsrf(mut fields): FormWithoutCsrf,
) -> Result<Response, Interrupt> {
    let password = fields.secret("password");
    let stay = fields.get(STAY_FIELD) == "1" && sign_in.session.stays().is_some();
    let return_path = ReturnPath::from_query(fields.optional("rd"));
    let (name, domain) = (fields.get("name"), fields.get("domain"));
    let again = |notice: &str, status| {
        let form = Form {
            name,
            domain,
            stay,
            ..Form::new(return_path.clone())
        };
        form.failed(notice, status)
    };
    sign_in.offered(KeystoneMethod::Password, &return_path)?;
    if let Some(form) = sign_in
        .not_our_form(&headers, &browser, &fields, &return_path)
        .await?
    {
        let form = Form {
            name,
            domain,
            stay,
            ..form
        };
        return Ok(sign_in.sign_in_page(&headers, &browser, form).await?);
    }
    if name.len() > MAX_NAME_BYTES || domain.len() > MAX_NAME_BYTES {
        let form = Form {
            name: "",
            domain: "",
            ..again(
                "A name has at most 255 characters.",
                StatusCode::BAD_REQUEST,
            )
        };
        return Ok(sign_in.sign_in_page(&headers, &browser, form).await?);
    }
    let readings = Claimed::readings(name, domain, &sign_in.default_domain);
    let (claimed, outcome) = match sign_in
        .try_password(&context, &headers, &readings, &password)
        .await
    {
        Ok(good) => good,
        Err(failed) => {
            let retry_after = failed.retry_after();
            let own = matches!(failed, Failed::Refused)
                .then(|| sign_in.attempts.remember_own_attempt(&headers, &readings));
            let (text, status) = wording::failure(failed)?;
            let form = Form {
                retry_after,
                ..again(&text, status)
            };
            let page = sign_in.sign_in_page(&headers, &browser, form).await?;
            return Ok(with_cookie(page, own.flatten()));
        }
    };
    let return_path = if stay {
        return_path.choice_for_staying()
    } else {
        return_path.clone()
    };
    let chosen = Some(claimed.domain.as_str()).filter(|domain| *domain != sign_in.default_domain);
    browser.remember_domain(chosen).await;
    match outcome {
        AuthOutcome::Token(issued) => {
            sign_in
                .establish(&context, &headers, *issued, &return_path)
                .await
        }
        AuthOutcome::ReceiptRequired { receipt, required } => {
            if !sign_in.keystone_methods.offers(KeystoneMethod::Totp)
                || !required
                    .iter()
                    .any(|set| set.iter().any(|method| method == "totp"))
            {
                let form = again(
                    "Your account needs a further sign-in method that Portico does not offer yet.",
                    StatusCode::FORBIDDEN,
                );
                return Ok(sign_in.sign_in_page(&headers, &browser, form).await?);
            }
            let cookie = sign_in
                .keep_receipt(&claimed, &receipt, &return_path)
                .await?;
            browser.begin(&return_path).await;
            Ok(with_cookie(see_other("/oauth2/totp"), cookie))
        }
    }
}

impl SignIn {
    /// Refuses methods that the sign-in page does not offer.
    pub(crate) fn offered(
        &self,
        method: KeystoneMethod,
        return_path: &ReturnPath,
    ) -> Result<(), Problem> {
        if self.keystone_methods.offers(method)
            && self.providers.offers_keystone(return_path.app().as_deref())
        {
            return Ok(());
        }
        Err(Problem::downstream(
            StatusCode::NOT_FOUND,
            "way_not_offered",
            "This way to sign in is not offered",
            "The administrators of this Portico have not turned it on here. Choose another.",
        )
        .leads_to("Sign in", "/oauth2/sign_in"))
    }

    /// Checks that a form of the sign-in page was submitted by this browser and in time. Returns
    /// what to show if it was not.
    pub(crate) async fn not_our_form(
        &self,
        headers: &HeaderMap,
        browser: &BrowserState,
        fields: &Fields,
        return_path: &ReturnPath,
    ) -> Result<Option<Form<'static>>, Interrupt> {
        let mut open = self.cookies.read_slots(headers, Purpose::SignIn);
        open.extend(browser.form_secret().await?);
        let cookie_lost = open.is_empty();
        if cookie_lost
            && fields.get(RETRY_FIELD) == "1"
            && self.authentication.lookup(headers, None).await?.is_err()
        {
            // twice in a row: the first time it may have been too old
            return Err(self.authentication.cookie_refused().into());
        }
        let sent = fields.get(csrf::FIELD);
        if open.iter().any(|cookie| csrf::matches(cookie, sent)) {
            return Ok(None);
        }
        let form = Form {
            cookie_lost,
            ..Form::new(return_path.clone())
        };
        Ok(Some(form.failed(
            "This page was open for too long, or your browser keeps no cookies. Try again.",
            StatusCode::FORBIDDEN,
        )))
    }

    async fn keep_receipt(
        &self,
        claimed: &Claimed,
        receipt: &SecretString,
        return_path: &ReturnPath,
    ) -> Result<Option<HeaderValue>, Problem> {
        let now = self.clock.now();
        let flows = self.store.sign_in_flows();
        let started = flows
            .start(return_path.as_str(), now + RECEIPT_TTL, now)
            .await?;
        flows
            .set_receipt(started.flow.id, &claimed.name, &claimed.domain, receipt)
            .await?;
        Ok(self.cookies.set(Purpose::Flow, &started.secret))
    }

    pub(crate) async fn sign_in_page(
        &self,
        headers: &HeaderMap,
        browser: &BrowserState,
        form: Form<'_>,
    ) -> Result<Response, Problem> {
        let (nonce, cookie) = self.form_secret(headers, browser).await?;
        let first_view = form.status == StatusCode::OK;
        let last_domain = browser.domain().await.filter(|_| first_view);
        let domain = if form.domain.is_empty() {
            last_domain.as_ref().unwrap_or(&self.default_domain)
        } else {
            form.domain
        };
        let last_provider = browser.provider().await;
        let destination = self.in_words(&form.return_path);
        let app = form.return_path.app();
        let mut buttons: Vec<Button> = self
            .providers
            .offered(app.as_deref())
            .map(|provider| Button {
                name: provider.config.name.clone(),
                href: start_of(&provider.config.id, &form.return_path),
                down: provider.client.outage().is_some(),
                last_used: last_provider.as_ref() == Some(&provider.config.id),
            })
            .collect();
        buttons.sort_by_key(|button| !button.last_used);
        let page = SignInPage {
            keystone: self.providers.offers_keystone(app.as_deref()),
            providers: &buttons,
            destination: destination.as_deref(),
            return_path: form.return_path.as_str(),
            notice: form.notice,
            name: form.name,
            domain,
            domain_changed: domain != self.default_domain,
            csrf: &csrf::token(&nonce),
            host: self.public_url.host_str().unwrap_or_default(),
            demo: self
                .demo
                .as_ref()
                .map(|demo| demo.users.as_slice())
                .unwrap_or_default(),
            status: form.status,
            cookie_lost: form.cookie_lost,
            stay: self.session.stays().map(|longest| Stay {
                hours: longest.as_hours(),
                ticked: form.stay,
            }),
            methods: SignInMethods {
                keystone: &self.keystone_methods,
                attempted: form.attempted,
                domain,
                status: form.status,
            },
        };
        let mut response = page.page().into_response();
        if let Some(seconds) = form.retry_after {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if !self.providers.all().is_empty() {
            // before tabs start their own sign-ins, so that all of them have the same
            let (_, mark) = self.browser_of_providers(headers)?;
            response = with_cookie(response, mark);
        }
        Ok(with_cookie(response, cookie))
    }

    /// Returns the secret of a form, and the cookie that proves it: the browser's state has one for
    /// all forms; where nothing is remembered, each form has a cookie of its own.
    async fn form_secret(
        &self,
        headers: &HeaderMap,
        browser: &BrowserState,
    ) -> Result<(SecretString, Option<HeaderValue>), Problem> {
        // without the store, the page is that of a new browser
        if let Ok(Some(secret)) = browser.form_secret().await {
            return Ok((secret, None));
        }
        let open = self.cookies.read_slots(headers, Purpose::SignIn);
        let nonce = open
            .into_iter()
            .next()
            .map_or_else(random_secret, Ok)
            .map_err(|error| {
                tracing::error!(%error, "no nonce for a form");
                Problem::internal()
            })?;
        let cookie = self.cookies.set_slot(Purpose::SignIn, &nonce, FORM_SECONDS);
        Ok((nonce, cookie))
    }
}

/// Returns the URL of a provider's button.
fn start_of(provider: &str, return_path: &ReturnPath) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("provider", provider)
        .append_pair("rd", return_path.as_str())
        .finish();
    format!("/oauth2/start?{query}")
}
