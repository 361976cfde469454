//! "Use from your terminal": the commands to paste, for each system.
use crate::ui::{CodeBlock, LocalTabs};
use leptos::prelude::*;
use portico_domain::panel::TerminalHelp;

pub fn view(help: &TerminalHelp) -> AnyView {
    let tabs = vec![
        (
            "Linux",
            steps(
                help,
                "chmod +x portico && sudo install portico /usr/local/bin/portico",
            ),
        ),
        (
            "macOS",
            steps(
                help,
                "chmod +x portico && sudo install portico /usr/local/bin/portico",
            ),
        ),
        (
            "Windows",
            steps(
                help,
                "Move-Item portico.exe \"$env:LOCALAPPDATA\\Microsoft\\WindowsApps\\\"",
            ),
        ),
    ];
    view! {
        <p class="text-muted mb-3">
            "kubectl with the same account and the same rights. No secret is written to a file."
        </p>
        <LocalTabs label="System" id="terminal-help" tabs />
    }
    .into_any()
}

fn steps(help: &TerminalHelp, install: &str) -> AnyView {
    let steps = [
        (
            "Put the portico program, which your administrators offer, on your path",
            install.to_owned(),
        ),
        (
            "Sign in, once a day",
            format!("portico login {}", help.portico_url),
        ),
        (
            "Add the cluster to your kubeconfig",
            format!("portico kubeconfig --cluster {}", help.cluster_name),
        ),
        (
            "Use it",
            format!("kubectl --context {} get pods", help.cluster_name),
        ),
    ]
    .map(|(what, command)| {
        view! {
            <li>
                <p>{what}</p>
                <CodeBlock text=command what="command" />
            </li>
        }
    })
    .collect_view();
    view! { <ol class="steps">{steps}</ol> }.into_any()
}
