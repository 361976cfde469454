//! A browser behind a trusted proxy, with the address that the proxy passes on.
use http::Method;

use super::{
    browser::{Browser, Page},
    stack::MAIN,
};

/// Opens a page from an address.
pub async fn open_from(browser: &mut Browser, address: &str, url: &str) -> Page {
    let headers = [
        ("sec-fetch-mode", "navigate"),
        ("accept", "text/html"),
        ("x-forwarded-for", address),
    ];
    browser
        .send(Method::GET, url, &headers, String::new())
        .await
}

/// Sends a form of the main host's own pages from an address.
pub async fn submit_from(
    browser: &mut Browser,
    address: &str,
    path: &str,
    fields: &[(&str, &str)],
) -> Page {
    let body = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish();
    let headers = [
        ("sec-fetch-mode", "navigate"),
        ("origin", MAIN),
        ("content-type", "application/x-www-form-urlencoded"),
        ("x-forwarded-for", address),
    ];
    let url = format!("{MAIN}{path}");
    browser.send(Method::POST, &url, &headers, body).await
}

/// Signs in with a password from an address.
pub async fn enter_from(
    browser: &mut Browser,
    address: &str,
    path: &str,
    name: &str,
    password: &str,
) -> Page {
    let url = format!("{MAIN}/oauth2/sign_in?prompt=login&rd={path}");
    let page = open_from(browser, address, &url).await;
    let (csrf, rd) = (page.field("csrf_token"), page.field("rd"));
    let fields = [
        ("csrf_token", csrf.as_str()),
        ("rd", &rd),
        ("name", name),
        ("password", password),
        ("domain", "Default"),
    ];
    submit_from(browser, address, "/oauth2/sign_in", &fields).await
}
