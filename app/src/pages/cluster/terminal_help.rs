//! "Use from your terminal": the commands to paste, for each system.
use crate::{
    routes,
    ui::{CodeBlock, Icon, LocalTabs, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{System, TerminalHelp};
use uuid::Uuid;

pub fn view(help: &TerminalHelp, project: &str, cluster: Uuid) -> AnyView {
    let programs = routes::programs(project, cluster);
    let mut tabs = Vec::from(System::ALL.map(|system| {
        let install = match system {
            System::Linux => "chmod +x portico && sudo install portico /usr/local/bin/portico",
            // a browser marks what it downloads
            System::Darwin => {
                "xattr -c portico && chmod +x portico && \
                 sudo install portico /usr/local/bin/portico"
            }
            System::Windows => {
                "Move-Item portico.exe \"$env:LOCALAPPDATA\\Microsoft\\WindowsApps\\\""
            }
        };
        (system.title(), steps(help, &programs, install))
    }));
    // the viewer's own system first
    tabs.rotate_left(help.system as usize);
    view! {
        <p class="text-muted mb-3">
            "kubectl with the same account and the same rights. No secret is written to a file."
        </p>
        <LocalTabs label="System" id="terminal-help" tabs />
    }
    .into_any()
}

/// Returns a download of the kubeconfig, for users without the command line.
pub fn download(project: &str, cluster: Uuid) -> AnyView {
    let button = kubeconfig(project, cluster, "Download a kubeconfig");
    view! {
        <p class="text-muted mt-4 mb-2">
            "Instead of the third step, or for a tool that needs a file of its own:"
        </p>
        {button}
    }
    .into_any()
}

/// Returns a link that downloads the cluster's kubeconfig.
pub fn kubeconfig(project: &str, cluster: Uuid, label: &'static str) -> AnyView {
    let href = routes::kubeconfig(project, cluster);
    view! {
        <a class="btn" href=href download="" rel="external">
            <Icon icon=icons::DOWNLOAD />
            {label}
        </a>
    }
    .into_any()
}

fn steps(help: &TerminalHelp, programs: &str, install: &str) -> AnyView {
    let download = view! {
        <a href=programs.to_owned() rel="external">"Download the portico program"</a>
        " and put it on your path"
    };
    let steps = [
        (download.into_any(), "install command", install.to_owned()),
        (
            "Sign in, once a day".into_any(),
            "sign-in command",
            format!("portico login {}", help.portico_url),
        ),
        (
            "Add the cluster to your kubeconfig".into_any(),
            "kubeconfig command",
            format!("portico kubeconfig --cluster {}", help.cluster_name),
        ),
        (
            "Use it".into_any(),
            "kubectl command",
            format!("kubectl --context {} get pods", help.cluster_name),
        ),
    ]
    .map(|(step, what, command)| {
        view! {
            <li>
                <p>{step}</p>
                <CodeBlock text=command what />
            </li>
        }
    })
    .collect_view();
    view! { <ol class="steps">{steps}</ol> }.into_any()
}
