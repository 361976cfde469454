use jiff::Timestamp;

use crate::{
    pages::{
        failed_attempts::{FailedAttempts, Reported},
        saved_form::{SavedFormPage, nothing},
        sign_out::{Onward, confirm, everywhere, signed_out},
    },
    sessions::end::Ended,
};

#[test]
fn sign_out_is_confirmed() {
    assert_page!("sign_out", confirm("ada <ada>", "token"));
}

#[test]
fn a_sign_out_lists_what_ended_and_what_is_left() {
    assert_page!("no_session", signed_out(None, None));
    let ended = Ended {
        tokens: 1,
        ..Ended::default()
    };
    assert_page!("signed_out", signed_out(Some(ended), None));
    let ended = Ended {
        apps: 1,
        cli: 2,
        tokens: 3,
        pending: 2,
        left_over: 1,
    };
    let onward = Onward {
        name: "Google".to_owned(),
        url: "https://accounts.example.org/logout?id=1"
            .parse()
            .expect("url"),
    };
    let page = signed_out(Some(ended), Some(&onward));
    assert_page!("signed_out_with_remainders", page);
    assert_page!("signed_out_of_the_provider", everywhere());
}

#[test]
fn a_saved_form_is_shown_without_its_secrets() {
    let form = SavedFormPage {
        user: "ada",
        target: "/api/grant?project=p1",
        fields: vec![
            ("subject".into(), "vera & <friends>".into()),
            ("password".into(), "not-to-be-seen".into()),
            ("note".into(), "".into()),
            ("text".into(), "x".repeat(201).into()),
        ],
        expires_at: Timestamp::UNIX_EPOCH,
        csrf: "token",
    };
    let page = form.page();
    let shown = page.snapshot().matches("not-to-be-seen").count();
    assert_eq!(shown, 1, "only in the form: {}", page.snapshot());
    assert_page!("saved_form", page);
    assert_page!("no_saved_form", nothing());
}

#[test]
fn failed_attempts_are_counted_since_the_last_sign_in() {
    let failed = Reported {
        failures: 3,
        from_known_browsers: 1,
        since: Timestamp::UNIX_EPOCH,
        last: Some(Timestamp::UNIX_EPOCH),
    };
    let page = FailedAttempts {
        user: "ada",
        failed,
        return_path: "/projects/p1",
    };
    assert_page!("failed_attempts", page.page());
}
