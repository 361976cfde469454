//! `POST /oauth2/handover` on an app's host: exchanges a one-time code for a child session's
//! cookie.
use std::sync::Arc;

use axum::{Extension, extract::State, response::Response};
use http::{HeaderMap, header};
use portico_store::{ChildKind, NewChild, Outcome};
use secrecy::ExposeSecret as _;

use super::{Handovers, commitment};
use crate::{
    audit::Event,
    authentication::extract::FormWithoutCsrf,
    hosts::Site,
    http::{
        access_log,
        cookies::Purpose,
        error_response::Problem,
        interrupt::Interrupt,
        origin::OriginFault,
        redirect::{see_other, with_cookie},
        return_path::ReturnPath,
    },
    metrics,
    request_context::Context,
};

pub(crate) async fn post(
    State(handovers): State<Arc<Handovers>>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
    FormWithoutCsrf(mut fields): FormWithoutCsrf,
) -> Result<Response, Interrupt> {
    let Site::App(app) = &context.site else {
        return Err(Problem::not_found().into());
    };
    // the only request that may come from another host: from a page of the main host
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let from_main = origins
        .next()
        .is_some_and(|origin| origin.as_bytes() == handovers.hosts.main().as_bytes());
    if !from_main || origins.next().is_some() {
        return Err(Problem::foreign_origin(OriginFault::Foreign).into());
    }
    let Some(nonce) = handovers.cookies.read(&headers, Purpose::Handover) else {
        return Err(handovers.authentication.app_cookie_missing(app).into());
    };
    let now = handovers.clock.now();
    let code = fields.secret("code");
    let redeemed = handovers
        .store
        .handovers()
        .redeem(
            code.expose_secret(),
            &app.config.id,
            &commitment(&nonce),
            now,
        )
        .await?;
    let Some(handover) = redeemed else {
        let event = Event::new("app.open", Outcome::Denied)
            .target(&app.config.id)
            .reason("the hand-over code is unknown, used, too old or another browser's");
        handovers.audit.record(&context, event).await;
        return Err(out_of_date(&app.config.name).into());
    };
    let new = NewChild {
        parent: handover.session,
        kind: ChildKind::App(app.config.id.clone()),
        user_agent: context.user_agent(),
        address: context.address_text(),
    };
    let Some((secret, session)) = handovers.store.sessions().create_child(&new, now).await? else {
        return Err(Problem::signed_out().into());
    };
    metrics::session_started(session.kind);
    access_log::session(&session);
    access_log::rule("handover");
    let event = Event::new("app.open", Outcome::Succeeded)
        .session(&session)
        .project(Some(&app.config.project))
        .target(&app.config.id);
    handovers.audit.record(&context, event).await;
    let path = ReturnPath::parse(&handover.return_path);
    let answer = see_other(path.as_str());
    let answer = with_cookie(answer, handovers.cookies.set(Purpose::Session, &secret));
    let answer = with_cookie(
        answer,
        handovers.authentication.count_redirect(&headers, now),
    );
    Ok(with_cookie(
        answer,
        handovers.cookies.clear(Purpose::Handover),
    ))
}

fn out_of_date(app: &str) -> Problem {
    Problem::downstream(
        http::StatusCode::BAD_REQUEST,
        "handover",
        format!("The link to {app} has expired"),
        format!("It was used before or took too long. Open {app} from Portico again."),
    )
}
