//! The hand-over from an app's host to the main host and back, as in a browser.
use http::StatusCode;

use super::{
    browser::{Browser, Page},
    stack::MAIN,
};

/// Opens a page of an app as a user who is signed in on the main host; returns the page of the last
/// step.
pub async fn open_app(browser: &mut Browser, app: &str, path: &str) -> Page {
    let page = browser.open(&format!("{app}{path}")).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    pass_over(browser, app, page.location().as_str()).await
}

/// Follows the hand-over from the address on the main host to the response of the app's host that
/// sets the session's cookie.
pub async fn pass_over(browser: &mut Browser, app: &str, address: &str) -> Page {
    assert!(
        address.starts_with(&format!("{MAIN}/oauth2/handover?")),
        "{address}"
    );
    let form = browser.open(address).await;
    assert_eq!(form.status, StatusCode::OK, "{}", form.body);
    let code = form.field("code");
    let url = format!("{app}/oauth2/handover");
    let page = browser.submit(MAIN, &url, &[("code", &code)]).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    page
}
