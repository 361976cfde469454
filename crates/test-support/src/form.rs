//! The gateway's own forms, filled in as by a user.
use super::{
    browser::{Browser, Page},
    stack::MAIN,
};

/// Signs in with a password.
pub async fn enter(browser: &mut Browser, path: &str, name: &str, password: &str) -> Page {
    let page = browser
        .open(&format!("{MAIN}/oauth2/sign_in?prompt=login&rd={path}"))
        .await;
    let (csrf, rd) = (page.field("csrf_token"), page.field("rd"));
    let fields = [
        ("csrf_token", csrf.as_str()),
        ("rd", &rd),
        ("name", name),
        ("password", password),
        ("domain", "Default"),
    ];
    browser
        .submit(MAIN, &format!("{MAIN}/oauth2/sign_in"), &fields)
        .await
}

/// Signs out with a click on the confirmation page.
pub async fn sign_out(browser: &mut Browser) -> Page {
    let url = format!("{MAIN}/oauth2/sign_out");
    let page = browser.open(&url).await;
    let csrf = page.field("csrf_token");
    browser.submit(MAIN, &url, &[("csrf_token", &csrf)]).await
}
