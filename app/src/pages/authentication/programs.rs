//! The program `portico` to download, with the digest of each file.
use crate::{
    api::authentication::get_programs,
    components::InlineError,
    context::use_session,
    format,
    hooks::{refresh_quietly, use_poll},
    routes,
    ui::{Badge, Card, CopyButton, Icon, SkeletonLines, TableRegion, Tone, icons, suspended},
};
use leptos::prelude::*;
use portico_domain::panel::{ProgramFile, ProgramsView, System};
use std::time::Duration;

/// How often digests that are still computed are asked for again.
const REFRESH_INTERVAL: Duration = Duration::from_secs(3);

#[component]
pub fn ProgramsCard() -> impl IntoView {
    let session = use_session();
    let data = Resource::new(move || session.project.get(), |_| get_programs());
    let outdated = RwSignal::new(false);
    use_poll(REFRESH_INTERVAL, move || {
        let is_pending = data.try_with_untracked(|data| match data {
            Some(Ok(view)) => view.files.iter().any(|file| file.sha256.is_none()),
            _ => false,
        });
        if is_pending == Some(true) {
            refresh_quietly(data, outdated, get_programs());
        }
    });
    view! {
        <div id="programs">
            <Card title="The portico program">
                <Suspense fallback=|| view! { <SkeletonLines /> }>
                    {move || suspended(async move {
                        match data.await {
                            Ok(view) => shown(&view, &session.project.get_untracked()),
                            Err(error) => view! { <InlineError error /> }.into_any(),
                        }
                    })}
                </Suspense>
            </Card>
        </div>
    }
    .into_any()
}

fn shown(view: &ProgramsView, project: &str) -> AnyView {
    let Some(first) = view.files.first() else {
        return view! {
            <p>
                "This installation offers no program. Its operators can set "
                <code>"panel.downloads"</code>
                " to a directory with the programs for your systems."
            </p>
        }
        .into_any();
    };
    let is_for_viewer = first.is_for_viewer;
    let check = match first.system {
        System::Linux => "sha256sum portico",
        System::Darwin => "shasum -a 256 portico",
        System::Windows => "Get-FileHash portico.exe",
    };
    let rows = view
        .files
        .iter()
        .map(|file| row(file, project))
        .collect_view();
    view! {
        <div class="grid grid-cols-1 gap-3">
            <p>
                "The program signs you in from a terminal and gives kubectl its tokens. The \
                 commands to install and to use it are in the card above."
            </p>
            {(!is_for_viewer).then(|| view! {
                <p class="text-muted">
                    "None of the files is for the system that your browser names. The operators of \
                     this installation can add one."
                </p>
            })}
            <TableRegion label="Programs to download">
                <thead>
                    <tr>
                        <th scope="col">"System"</th>
                        <th scope="col">"Size"</th>
                        <th scope="col">"SHA-256"</th>
                        <th scope="col"><span class="visually-hidden">"Download"</span></th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </TableRegion>
            <p class="text-muted">
                "Compare the digest with the output of "<code>{check}</code>" before you run the \
                 file."
            </p>
        </div>
    }
    .into_any()
}

fn row(file: &ProgramFile, project: &str) -> AnyView {
    let platform = file.platform();
    let label = format!("Download for {platform}");
    let href = routes::program(project, &file.file);
    let digest = match file.sha256.clone() {
        Some(digest) => {
            let text = digest.clone();
            view! {
                <span class="inline-flex items-center gap-1.5">
                    <code class="wrap-anywhere" data-sha256="">{digest}</code>
                    <CopyButton text what=format!("digest for {platform}") />
                </span>
            }
            .into_any()
        }
        None => view! { <span class="text-muted">"Being computed…"</span> }.into_any(),
    };
    let badge = file
        .is_for_viewer
        .then(|| view! { " "<Badge tone=Tone::Info text="Your system" /> });
    view! {
        <tr data-program=file.file.clone()>
            <th scope="row" class="cell-name">{platform}{badge}</th>
            <td class="cell-short">{format::bytes(file.bytes)}</td>
            <td class="cell-detail">{digest}</td>
            <td class="cell-end">
                <a
                    class="btn btn-small"
                    href=href
                    download=file.system.program()
                    rel="external"
                    aria-label=label
                >
                    <Icon icon=icons::DOWNLOAD />
                    "Download"
                </a>
            </td>
        </tr>
    }
    .into_any()
}
