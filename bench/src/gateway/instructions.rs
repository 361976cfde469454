//! User-space instructions of a request, counted by callgrind: unlike time, the same on a busy machine.
use super::contender::identity_of;
use super::load::{Ask, Load};
use super::portico::{APP_HOST, LogFormat, Person, Workplace};
use super::upstream::{SMALL, Upstream};
use super::wire::{Kept, get};
use crate::process::Server;
use anyhow::{Context as _, Result, ensure};
use serde::Serialize;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Enough that what happens once a second is little of each.
const REQUESTS: u64 = 4_000;
const CONNECTIONS: usize = 16;
/// The program is some fifty times slower than by itself.
const WARM_UP: Duration = Duration::from_secs(5);

/// Instructions a request, by the format of the log.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Instructions {
    pub json_log: u64,
    pub human_log: u64,
    /// How many requests each was counted over.
    pub requests: u64,
}

/// Counts with both formats of the log.
///
/// # Errors
/// If valgrind is not installed, or the gateway does not answer under it.
pub async fn count(place: &Workplace, person: &Person) -> Result<Instructions> {
    let upstream = Upstream::start_named(place.dir.path(), "upstream-counted").await?;
    Ok(Instructions {
        json_log: of(place, person, &upstream, LogFormat::Json).await?,
        human_log: of(place, person, &upstream, LogFormat::Human).await?,
        requests: REQUESTS,
    })
}

async fn of(
    place: &Workplace,
    person: &Person,
    upstream: &Upstream,
    format: LogFormat,
) -> Result<u64> {
    let name = format!("counted-{format:?}").to_lowercase();
    let counts = place.dir.path().join(&name);
    fs::create_dir_all(&counts)?;
    let folder = counts.display();
    let wrapper = [
        "valgrind".to_owned(),
        "--tool=callgrind".to_owned(),
        "--instr-atstart=no".to_owned(),
        format!("--callgrind-out-file={folder}/out"),
        format!("--log-file={folder}/valgrind.log"),
    ];
    let mut command = place.gateway(&name, upstream.address, format, "", &wrapper)?;
    let server = Server::start(&mut command, &place.log(&name)).await?;
    let session = person.sign_in(server.address).await?;
    let ask = Ask {
        request: get(APP_HOST, SMALL.0, &session.cookie).into(),
        length: SMALL.1,
    };
    let load = Load::connect(server.address, CONNECTIONS, &ask).await?;
    load.run(WARM_UP).await?;
    let identity = identity_of(server.address, person).await?;
    let load = Load::connect(server.address, CONNECTIONS, &ask).await?;
    control(server.id(), "--instr=on").await?;
    load.run_requests(REQUESTS).await?;
    control(server.id(), "--instr=off").await?;
    control(server.id(), "--dump").await?;
    // what was counted must have been the work of a gateway
    let mut connection = Kept::connect(server.address).await?;
    let request = get(APP_HOST, super::upstream::WHOAMI, &session.cookie);
    identity.check(&connection.ask(&request).await?)?;
    Ok(total(&counts)? / REQUESTS)
}

/// Tells callgrind in the process to do something; returns when it has.
async fn control(process: u32, what: &str) -> Result<()> {
    let mut command = tokio::process::Command::from(Command::new("callgrind_control"));
    let output = command.arg(what).arg(process.to_string()).output().await;
    let output = output.context("callgrind_control")?;
    ensure!(
        output.status.success(),
        "callgrind_control {what}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

/// The sum of all dumps in a folder.
fn total(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| name.starts_with("out")) {
            sum += counted(&fs::read_to_string(&path)?);
        }
    }
    ensure!(sum > 0, "callgrind counted nothing");
    Ok(sum)
}

/// The instructions of a dump (Callgrind Format Specification: `totals:`).
fn counted(dump: &str) -> u64 {
    let totals = dump.lines().find_map(|line| line.strip_prefix("totals:"));
    let first = totals.and_then(|totals| totals.split_whitespace().next());
    first.and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn finding_o18_the_total_of_a_dump_is_read() {
        assert_eq!(
            counted("events: Ir\nfn=(1) main\n1 5\ntotals: 319204000\n"),
            319_204_000
        );
        assert_eq!(counted("events: Ir\n"), 0);
    }
}
