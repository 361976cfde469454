//! A database that an older version has written: its sessions continue.
use http::StatusCode;
use portico_testkit::TestEnv;
use sqlx::{AnyConnection, Connection as _};

use crate::{
    browser::Browser,
    process::{MAIN, MAIN_HOST, Process, Shared},
};

const OLDER: &str = include_str!("data/before_the_feed.sql");

fn noted(what: &str) -> &'static str {
    let marker = format!("-- {what} ");
    let line = OLDER.lines().find_map(|line| line.strip_prefix(&marker));
    line.expect("a note in the file")
}

#[tokio::test]
async fn a_session_of_an_older_version_continues() {
    let env = TestEnv::load().expect("the stack's env file");
    let directory = tempfile::tempdir().expect("directory");
    let database = format!("sqlite://{}", directory.path().join("portico.db").display());
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(&format!("{database}?mode=rwc"))
        .await
        .expect("a database");
    sqlx::raw_sql(OLDER)
        .execute(&mut connection)
        .await
        .expect("written");
    connection.close().await.expect("closed");
    let shared = Shared::new(database, env.get("KEYSTONE_URL").expect("Keystone")).await;
    std::fs::write(shared.key("store-1.key"), noted("key")).expect("written");
    shared.migrate().await;
    let process = Process::start(&shared).await;
    let mut browser = Browser::new(process.address);
    browser.set_cookie(MAIN_HOST, "portico", noted("cookie"));
    let page = browser.open(&format!("{MAIN}/oauth2/sign_out")).await;
    assert!(page.body.contains("You are signed in as"), "{}", page.body);
    assert!(page.body.contains("ada"), "{}", page.body);
    let page = browser.open(&format!("{MAIN}/projects/x")).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    let mut stranger = Browser::new(process.address);
    let page = stranger.open(&format!("{MAIN}/projects/x")).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
}
