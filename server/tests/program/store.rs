//! The store while the program starts and runs.
use crate::doctor::place::{Place, free_address, portico};
use serde_json::json;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A process that ends with the value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // it may have ended by itself
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn finding_o14_a_start_with_a_damaged_file_ends_with_the_reason() {
    let mut place = Place::new().await;
    let damaged = place.write("damaged.db", &"this is not a database ".repeat(64));
    place.config["store"]["url"] = json!(format!("sqlite://{}", damaged.display()));
    let file = place.config_file();
    for command in ["migrate", "gateway"] {
        let file = file.clone();
        let run = tokio::task::spawn_blocking(move || {
            let started = Instant::now();
            (portico(&[command, "--config"], &[&file]), started.elapsed())
        });
        let (output, took) = run.await.unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success());
        let last = complaint.lines().last().unwrap();
        let reason = "the database file is damaged, or is not a database";
        assert_eq!(last.matches(reason).count(), 1, "{complaint}");
        assert!(last.contains("restore the file"), "{last}");
        // the log until then, if the command has one
        assert_eq!(
            complaint.contains(" starting"),
            command == "gateway",
            "{complaint}"
        );
        assert!(took < Duration::from_secs(4), "{took:?}: {complaint}");
    }
}

#[tokio::test]
async fn finding_o3_a_start_without_postgresql_names_the_refusal_once_and_at_once() {
    let mut place = Place::new().await;
    let url = format!("postgres://portico:hush@{}/portico", free_address());
    place.config["store"]["url"] = json!(url);
    let file = place.config_file();
    let started = Instant::now();
    let run = tokio::task::spawn_blocking(move || portico(&["migrate", "--config"], &[&file]));
    let output = run.await.unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = complaint.lines().last().unwrap();
    assert_eq!(last.matches("connection refused").count(), 1, "{complaint}");
    assert!(last.contains("check host and port"), "{last}");
    assert!(!complaint.contains("hush") && !complaint.contains("timed out"));
    assert!(started.elapsed() < Duration::from_secs(4), "{complaint}");
}

#[tokio::test]
async fn finding_o14_a_file_that_is_deleted_while_open_is_not_ready_and_logged() {
    let place = Place::new().await;
    let file = place.config_file();
    assert!(portico(&["migrate", "--config"], &[&file]).status.success());
    let log = std::fs::File::create(place.path("log")).unwrap();
    let _running = Running(
        Command::new(env!("CARGO_BIN_EXE_portico"))
            .args(["gateway", "--config"])
            .arg(&file)
            .env_clear()
            .stdout(log.try_clone().unwrap())
            .stderr(Stdio::from(log))
            .spawn()
            .unwrap(),
    );
    let admin = place.config["admin"]["listen"].as_str().unwrap();
    let ready = format!("http://{admin}/ready");
    until(&ready, 200).await;
    std::fs::remove_file(place.path("portico.db")).unwrap();
    let body = until(&ready, 503).await;
    assert!(body.contains("was deleted while it was open"), "{body}");
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let log = std::fs::read_to_string(place.path("log")).unwrap();
        if log.contains("was deleted while it was open") && log.contains("restart Portico") {
            break;
        }
        assert!(Instant::now() < until, "{log}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Asks until an answer has the status.
async fn until(url: &str, status: u16) -> String {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let mut message = String::new();
        if let Ok(answer) = reqwest::get(url).await {
            let found = answer.status().as_u16();
            message = answer.text().await.unwrap();
            if found == status {
                return message;
            }
        }
        assert!(Instant::now() < until, "{message}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
