//! `portico cluster create`.
use super::apply;
use super::arguments::CreateArgs;
use super::connection::Connection;
use super::console::Console;
use super::creation::{AttemptFile, Attempts, accepted, create_once};
use super::error::ClusterError;
use super::exit_code;
use super::follow::{Following, follow};
use super::protection;
use super::review;
use super::running::PorticoView;
use super::specification::Specification;
use super::views::{ClusterView, print_list};
use portico_lifecycle::progress::Followed;
use portico_lifecycle::review::Review;
use portico_lifecycle::spec::DEFAULT_CREATE_TIMEOUT_MINUTES;
use std::time::Duration;
use uuid::Uuid;

/// Creates a cluster; see [`create_once`].
///
/// # Errors
/// [`ClusterError::Blocked`] if a check does not permit it; Magnum's refusal; how the creation ended.
pub async fn create(
    connection: &mut Connection,
    console: &mut Console,
    args: &CreateArgs,
    specification: &Specification,
    attempts: &Attempts,
) -> Result<(), ClusterError> {
    for notice in &specification.notices {
        console.say(notice);
    }
    protection::ensure_supported(connection, &specification.document)?;
    let review = review::read(connection, &specification.document).await?;
    if args.dry_run.is_on() {
        review::print(&review, console, args.shared.output)?;
        return review::ensure_permitted(&review);
    }
    review::ensure_permitted(&review)?;
    let has_further_steps = review.plan.steps.len() > 1;
    let waits = args
        .waiting
        .is_wanted(console.is_terminal || has_further_steps);
    if has_further_steps && !waits {
        return Err(ClusterError::Usage(
            "node groups beyond default-worker, and bounds and labels of groups, are made after the cluster: \
             leave out --no-wait"
                .to_owned(),
        ));
    }
    review::warn(&review, console);
    let attempt = AttemptFile::of(attempts, connection, &review.document.metadata.name)?;
    if args.new_attempt {
        attempt.forget().await?;
    }
    let uuid = send(connection, console, &review, &attempt).await?;
    let sent = Sent {
        args,
        specification,
        review: &review,
        uuid,
        waits,
    };
    let finished = finish(connection, console, &sent).await;
    // the same command is likely to follow, and must not make a second cluster
    if let Err(error) = &finished
        && matches!(
            error.exit_code(),
            exit_code::UNAVAILABLE | exit_code::SIGN_IN
        )
    {
        attempt.keep(&review.document.metadata.name, uuid).await?;
        console.say(accepted(uuid));
    }
    finished
}

/// A cluster that Magnum has accepted and recorded.
struct Sent<'a> {
    args: &'a CreateArgs,
    specification: &'a Specification,
    review: &'a Review,
    uuid: Uuid,
    waits: bool,
}

/// Waits for a new cluster, carries out what follows its creation, and prints it.
async fn finish(
    connection: &mut Connection,
    console: &mut Console,
    sent: &Sent<'_>,
) -> Result<(), ClusterError> {
    let (args, uuid) = (sent.args, sent.uuid);
    let timeout = args.waiting.timeout;
    let document = &sent.specification.document;
    // before the wait, which may end early
    protection::carry_out_for_new(connection, console, document, uuid).await?;
    if sent.waits {
        wait(connection, console, sent.review, uuid, timeout).await?;
    }
    if sent.review.plan.steps.len() > 1 {
        apply::finish(connection, console, document, uuid, timeout).await?;
    }
    let created = connection
        .clients
        .magnum
        .cluster(&connection.token, uuid)
        .await?;
    if !sent.waits {
        console.say(format!(
            "Magnum has accepted the cluster. Watch it with `portico cluster watch {uuid}`."
        ));
    } else if let Some(page) = connection.page(uuid) {
        let cloud = &connection.cloud;
        console.say(match connection.is_through_gateway() {
            true => format!(
                "To use it with kubectl, run `portico cluster import {uuid}`, or open its page in the panel, \
                 which enrols it:\n  {page}\nThen run `portico kubeconfig --gateway {cloud} --cluster {uuid}`."
            ),
            false => format!(
                "To use it with kubectl, enrol it on its page in the panel:\n  {page}\nThen run `portico login \
                 --cloud {cloud}` and `portico kubeconfig --cloud {cloud} --cluster {uuid}`."
            ),
        });
    }
    let portico = PorticoView::new(
        &connection.model(&created, None),
        None,
        connection.clock.now(),
    );
    let view = ClusterView::new(&created, portico);
    print_list(console, args.shared.output, &[view], |row| {
        (&row.name, &row.uuid)
    })
}

/// Sends the request of a review once.
///
/// # Errors
/// As [`create_once`].
pub async fn send(
    connection: &Connection,
    console: &mut Console,
    review: &Review,
    attempt: &AttemptFile,
) -> Result<Uuid, ClusterError> {
    let name = &review.document.metadata.name;
    create_once(connection, console, attempt, name, &review.request).await
}

/// Waits until a new cluster is ready.
///
/// # Errors
/// As [`follow`].
pub async fn wait(
    connection: &mut Connection,
    console: &mut Console,
    review: &Review,
    uuid: Uuid,
    timeout: Duration,
) -> Result<(), ClusterError> {
    let timeout_minutes = review.document.spec.create_timeout;
    let following = Following {
        uuid,
        name: review.document.metadata.name.clone(),
        family: review.template.driver.family,
        versions: None,
        followed: Followed::Creation {
            timeout_minutes: timeout_minutes.unwrap_or(DEFAULT_CREATE_TIMEOUT_MINUTES),
        },
        since: connection.clock.now(),
        timeout,
        has_json_lines: false,
    };
    follow(connection, console, following).await
}
