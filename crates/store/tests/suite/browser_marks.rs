use super::Database;

pub async fn a_mark_is_read_for_its_purpose_only(database: &Database) {
    let marks = database.store.browser_marks();
    let mark = marks.issue("redirects", "3-1800000000");
    assert_eq!(marks.read("redirects", &mark), Some("3-1800000000"));
    assert_eq!(marks.read("post_login", &mark), None);
    let rotated = database.with_keys(&[2, 1]).await;
    assert_eq!(
        rotated.browser_marks().read("redirects", &mark),
        Some("3-1800000000")
    );
}

pub async fn a_changed_mark_is_not_read(database: &Database) {
    let marks = database.store.browser_marks();
    let mark = marks.issue("redirects", "3");
    for changed in [
        mark.replace("3.", "4."),
        format!("{mark}x"),
        "3.".to_owned(),
        "3".to_owned(),
        String::new(),
    ] {
        assert_eq!(marks.read("redirects", &changed), None, "{changed}");
    }
    let stranger = database.with_keys(&[9]).await;
    assert_eq!(stranger.browser_marks().read("redirects", &mark), None);
}
