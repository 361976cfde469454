//! From an app's host to the main host and back, as a browser does it.
use http::StatusCode;

use super::{
    browser::{Browser, Page},
    stack::MAIN,
};

/// Opens a page of an app as somebody who is signed in on the main host: where the last step leads.
pub async fn open_app(browser: &mut Browser, app: &str, path: &str) -> Page {
    let page = browser.open(&format!("{app}{path}")).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.body);
    pass_over(browser, app, page.location().as_str()).await
}

/// From the address on the main host to the answer of the app's host that sets the session's cookie.
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
