//! The rounds of a run, and what is checked in each.
use super::changes::{self, Changes};
use super::driver::Driver;
use super::figures::{
    Changing, EventToScreen, Figures, FirstPage, FirstRows, Interaction, Memory, Network, Viewing,
};
use super::fill::Filled;
use super::installation::{Installation, People};
use super::pods::{FIRST_BY_NAME, LAST_BY_NAME, Pod, filter};
use super::viewers::Viewers;
use anyhow::{Result, ensure};
use serde::Deserialize;
use serde_json::json;
use std::time::{Duration, Instant, SystemTime};
use tokio::time::sleep;

const PODS: &str = "/resources/core/v1/pods";
const VIEWERS: usize = 50;
/// A watch is closed five seconds after its last viewer has left.
const WATCH_CLOSED: Duration = Duration::from_secs(8);
/// Changed pods are among the first rows of the list, so that the page shows them.
const CHANGED_PODS: usize = 8;
/// More restarts than other changes make.
const FIRST_RESTARTS: usize = 500_000;

/// The duration and number of measurements.
pub struct Effort {
    pub is_quick: bool,
    pub pods: usize,
    pub events: usize,
    pub pages: usize,
    pub lists: usize,
    pub interactions: usize,
    pub samples: usize,
    /// With all viewers, each without and with changes.
    pub viewing: u64,
    pub changing: u64,
    pub following: u64,
}

/// What the browser sent to its stream for the list of all pods.
#[derive(Deserialize)]
struct Subscription {
    /// The stream's path.
    stream: String,
    request: String,
}

/// A filled cluster, its users, and how much to measure.
pub struct Run<'a> {
    pub installation: &'a Installation,
    pub people: &'a People,
    pub effort: &'a Effort,
}

impl Run<'_> {
    /// Measures everything, in a browser that is signed in once.
    pub async fn all(&self, filled: Filled) -> Result<Figures> {
        let path = self.installation.path(PODS);
        let (mut driver, browser) =
            Driver::start(&self.installation.portico, &self.people.users[0]).await?;
        let driver = &mut driver;
        let first_pages = self.first_pages(driver).await?;
        let first_rows = self.first_rows(driver).await?;
        let request = driver
            .ask(&json!({"do": "open_list", "path": path}))
            .await?;
        let filters = self.filters(driver).await?;
        let sorts = self.sorts(driver).await?;
        let memory = driver.ask(&json!({"do": "memory"})).await?;
        let (viewing, event_to_screen) = self.viewing(driver, &request).await?;
        let changing = self.changing(driver).await?;
        Ok(Figures {
            browser,
            filled,
            first_pages,
            first_rows,
            filters,
            sorts,
            memory,
            viewing,
            event_to_screen,
            changing,
        })
    }

    async fn first_pages(&self, driver: &mut Driver) -> Result<Vec<FirstPage>> {
        let mut pages = Vec::new();
        for _ in 0..self.effort.pages {
            for network in [Network::Slow, Network::Medium] {
                let path = self.installation.path("");
                let command = json!({"do": "first_page", "path": path, "network": network});
                let page: FirstPage = driver.ask(&command).await?;
                progress(&format!(
                    "first page, {network:?}: {} kB in {} requests, painted after {:.0} ms, interactive after {:.0} ms",
                    page.bytes / 1000,
                    page.requests,
                    page.fcp_ms,
                    page.interactive_ms
                ));
                pages.push(page);
            }
        }
        Ok(pages)
    }

    async fn first_rows(&self, driver: &mut Driver) -> Result<Vec<FirstRows>> {
        let mut rounds = Vec::new();
        for is_shared in [false, true] {
            for _ in 0..self.effort.lists {
                if !is_shared {
                    sleep(WATCH_CLOSED).await;
                }
                let path = self.installation.path(PODS);
                let command = json!({"do": "first_rows", "path": path, "shared": is_shared});
                let round: FirstRows = driver.ask(&command).await?;
                let round = FirstRows { is_shared, ..round };
                progress(&format!(
                    "list, {}: first rows after {:.0} ms",
                    if is_shared {
                        "watched already"
                    } else {
                        "not watched"
                    },
                    round.first_rows_ms
                ));
                rounds.push(round);
            }
        }
        Ok(rounds)
    }

    /// Filters over all rows, and checks their number.
    async fn filters(&self, driver: &mut Driver) -> Result<Vec<Interaction>> {
        let mut rounds = Vec::new();
        for round in 0..self.effort.interactions {
            let wanted = filter(round, self.effort.pods);
            let command = json!({"do": "filter", "text": wanted.text});
            let round: Interaction = driver.ask(&command).await?;
            let digits = first_number(&round.count);
            ensure!(
                digits == Some(wanted.matches),
                "{} matches {} pods, but the page shows {}",
                wanted.text,
                wanted.matches,
                round.count
            );
            progress(&shown("filter", &round));
            rounds.push(round);
            driver.tell(&json!({"do": "filter", "text": ""})).await?;
        }
        Ok(rounds)
    }

    /// Orders all rows by name, upwards and then downwards, and checks which is the first.
    async fn sorts(&self, driver: &mut Driver) -> Result<Vec<Interaction>> {
        let list = json!({"do": "reload", "path": self.installation.path(PODS)});
        let mut rounds = Vec::new();
        for round in 0..self.effort.interactions {
            let is_first = round.is_multiple_of(2);
            if is_first {
                driver.tell(&list).await?;
            }
            let first = if is_first {
                FIRST_BY_NAME
            } else {
                LAST_BY_NAME
            };
            let command = json!({"do": "sort", "column": "name", "first": first});
            let round: Interaction = driver.ask(&command).await?;
            progress(&shown("sort", &round));
            rounds.push(round);
        }
        driver.tell(&list).await?;
        Ok(rounds)
    }

    async fn viewing(
        &self,
        driver: &mut Driver,
        request: &Subscription,
    ) -> Result<(Viewing, EventToScreen)> {
        let (server, users) = (&self.installation.portico.server, &self.people.users);
        let rss_before_mb = server.rss_mb()?;
        // the browser's own watch is counted with the viewers'
        driver.tell(&json!({"do": "leave_list"})).await?;
        sleep(WATCH_CLOSED).await;
        let watches_before = self.installation.watches("pods").await?;
        // the browser is a viewer too
        let path = self.installation.path(PODS);
        driver
            .tell(&json!({"do": "open_list", "path": path}))
            .await?;
        let mut viewers = Viewers::open(
            &self.installation.portico,
            users,
            VIEWERS - 1,
            &request.stream,
            &request.request,
        )
        .await?;
        let mut rss_mb = self.watch_memory(self.effort.viewing).await?;
        let watches = self
            .installation
            .watches("pods")
            .await?
            .saturating_sub(watches_before);
        let shared_watches = self.installation.shared_watches().await?;
        progress(&format!("{VIEWERS} viewers: {watches} watches"));
        let quiet_ms = self.event_to_screen(driver, 0).await?;
        let received = viewers.received();
        // another change of the same pod could replace the number that is waited for
        let waited_for = first_rows();
        let changes = Changes::start(&self.installation.admin, self.effort.pods, waited_for);
        rss_mb.extend(self.watch_memory(self.effort.viewing).await?);
        let busy_ms = self.event_to_screen(driver, quiet_ms.len()).await?;
        let changes_per_second = changes.stop()?;
        let messages = viewers.received() - received;
        ensure!(viewers.check()? == VIEWERS - 1, "a viewer has left");
        ensure!(messages > 0, "no viewer saw a change");
        let viewing = Viewing {
            viewers: VIEWERS,
            users: users.len(),
            watches,
            shared_watches,
            rss_before_mb,
            rss_mb,
            changes_per_second,
            messages,
        };
        Ok((viewing, EventToScreen { quiet_ms, busy_ms }))
    }

    async fn watch_memory(&self, seconds: u64) -> Result<Vec<f64>> {
        let mut values = Vec::new();
        for _ in 0..seconds {
            sleep(Duration::from_secs(1)).await;
            values.push(self.installation.portico.server.rss_mb()?);
        }
        Ok(values)
    }

    /// Changes pods of the first rows one by one, and waits for each on the screen.
    async fn event_to_screen(&self, driver: &mut Driver, from: usize) -> Result<Vec<f64>> {
        let pods = first_rows();
        let mut samples = Vec::new();
        for number in 0..self.effort.samples {
            let pod = pods[number % pods.len()];
            let restarts = FIRST_RESTARTS + from + number;
            let expected = json!({"do": "expect", "row": pod.name(), "text": restarts.to_string()});
            driver.tell(&expected).await?;
            let sent = now_ms();
            changes::restart(&self.installation.admin, pod, restarts).await?;
            let seen: Seen = driver.ask(&json!({"do": "seen"})).await?;
            samples.push(seen.at - sent);
            // changes must not fall into step with the intervals of the server
            sleep(Duration::from_millis(37 * (number as u64 % 7))).await;
        }
        progress(&format!("event to screen: {samples:.0?} ms"));
        Ok(samples)
    }

    async fn changing(&self, driver: &mut Driver) -> Result<Changing> {
        let mut memory: Vec<Memory> = vec![driver.ask(&json!({"do": "memory"})).await?];
        let changes = Changes::start(&self.installation.admin, self.effort.pods, Vec::new());
        let started = Instant::now();
        let seconds = self.effort.changing;
        while started.elapsed().as_secs() < seconds {
            sleep(Duration::from_secs(seconds.min(60))).await;
            let now: Memory = driver.ask(&json!({"do": "memory"})).await?;
            progress(&format!(
                "after {} s of changes: {:.1} MB",
                started.elapsed().as_secs(),
                now.heap_mb()
            ));
            memory.push(now);
        }
        Ok(Changing {
            seconds,
            per_second: changes.stop()?,
            memory,
        })
    }
}

#[derive(Deserialize)]
struct Seen {
    /// Milliseconds since 1970.
    at: f64,
}

/// Returns pods of the list's first rows that can restart.
fn first_rows() -> Vec<Pod> {
    let first = Pod(0).namespace();
    let mut pods: Vec<Pod> = (0..)
        .map(Pod)
        .take_while(|pod| pod.namespace() == first)
        .collect();
    pods.sort_by_key(|pod| pod.name());
    pods.truncate(CHANGED_PODS);
    pods.retain(|pod| pod.has_restarts());
    pods
}

fn now_ms() -> f64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.unwrap_or_default().as_secs_f64() * 1000.0
}

fn shown(what: &str, round: &Interaction) -> String {
    format!(
        "{what}: shown after {:.0} ms, answered after {:.0} ms, longest task {:.0} ms",
        round.shown_ms,
        round.answer_ms.unwrap_or(f64::NAN),
        round.longest_task_ms
    )
}

/// Returns the first number of a text, whose thousands may be apart.
fn first_number(text: &str) -> Option<usize> {
    let digits: String = text
        .chars()
        .skip_while(|c| !c.is_ascii_digit())
        .take_while(|c| c.is_ascii_digit() || [',', '.', '\u{202f}', '\u{a0}'].contains(c))
        .filter(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}

/// Reports what a run has done, on standard error.
pub fn progress(text: &str) {
    eprintln!("{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_rows_is_read_with_or_without_separators() {
        assert_eq!(first_number("250 objects"), Some(250));
        assert_eq!(first_number("10,000 objects"), Some(10_000));
        assert_eq!(first_number("250 of 10,000"), Some(250));
        assert_eq!(first_number("no objects"), None);
    }

    #[test]
    fn the_pods_that_change_on_the_screen_are_in_the_first_namespace() {
        let pods = first_rows();
        assert!(pods.len() >= 5);
        assert!(
            pods.iter()
                .all(|pod| pod.namespace() == "team-000" && pod.has_restarts())
        );
    }
}
