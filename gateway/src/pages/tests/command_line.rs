use http::StatusCode;

use crate::pages::{
    cli::{Approval, decided, enter_code},
    sign_in::Notice,
};

#[test]
fn an_approval_shows_who_asks_for_what() {
    let projects = ["acme".to_owned(), "lab".to_owned()];
    let fields = [("client_id", "portico-cli"), ("state", "st&te")];
    let browser = Approval {
        user: "ada",
        client: "portico on <laptop>",
        address: "192.0.2.7",
        projects: &projects,
        cluster: None,
        csrf: "token",
        action: "/oauth2/authorize",
        fields: &fields,
        code: None,
        redirects_to: Some("http://127.0.0.1:41234".to_owned()),
    };
    assert_page!("approval", browser.page());
    let device = Approval {
        projects: &[],
        cluster: Some("acme-prod"),
        action: "/oauth2/device/decision",
        fields: &[("user_code", "WDJB-MJHT")],
        code: Some("WDJB-MJHT"),
        redirects_to: None,
        ..browser
    };
    assert_page!("approval_of_a_terminal", device.page());
}

#[test]
fn the_code_of_a_terminal_is_typed() {
    assert_page!("enter_code", enter_code("", None, StatusCode::OK));
    let notice = Notice::Failure("No terminal waits with this code.".to_owned());
    let page = enter_code("\"><b>", Some(&notice), StatusCode::NOT_FOUND);
    assert_page!("unknown_code", page);
}

#[test]
fn the_decision_is_confirmed() {
    assert_page!("approved", decided(true));
    assert_page!("denied", decided(false));
}
