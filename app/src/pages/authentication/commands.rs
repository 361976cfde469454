//! Commands for users and for operators, and links to the guides.
use crate::{
    context::use_session,
    pages::cluster::terminal_help,
    ui::{Card, CodeBlock, Icon, icons},
};
use leptos::prelude::*;
use portico_domain::panel::AuthenticationView;
use uuid::Uuid;

/// The guides about this page: title, and the file of the published documentation.
const GUIDES: [(&str, &str); 4] = [
    ("Cluster authentication", "guides/authentication.html"),
    ("kubectl with your cloud account", "guides/kubectl.html"),
    ("Authorization policies", "guides/authorization.html"),
    ("When something is wrong", "troubleshooting.html"),
];

pub fn cards(cluster: Uuid, page: &AuthenticationView) -> AnyView {
    let project = use_session().project.get_untracked();
    let terminal = terminal_help::view(&page.terminal, &project, cluster);
    let download = terminal_help::download(&project, cluster);
    let operators = operators(cluster, page.authorization_policy);
    // a guide without an address is of no use
    let guides = page
        .docs_url
        .as_deref()
        .map(guides)
        .map(|guides| view! { <Card title="Read more">{guides}</Card> });
    view! {
        <div class="grid-halves">
            <Card title="Use from your terminal">{terminal}{download}</Card>
            <Card title="For the cluster's operators">{operators}</Card>
        </div>
        {guides}
    }
    .into_any()
}

fn operators(cluster: Uuid, policy: bool) -> AnyView {
    let command = format!("portico kube-auth config --cluster {cluster}");
    view! {
        <div class="grid grid-cols-1 gap-3">
            <p>"On a machine with Portico's configuration, this prints what the API server \
                needs:"</p>
            <CodeBlock text=command.clone() what="authentication command" />
            <ul class="notes">
                <li>
                    "a kubeconfig for the API server, with kube-auth's address for this cluster and \
                     the authority of its certificate;"
                </li>
                <li>
                    "in a comment at the top, the flags to start it with, among them the cache TTL \
                     of 10 s that keeps revocation within 50 s;"
                </li>
                <li>
                    "the name that the API server's client certificate must hold: "
                    <code class="wrap-anywhere">{format!("portico:cluster:{cluster}")}</code>
                    "."
                </li>
            </ul>
            <p>"It holds no secret: the API server's own key stays on its machine."</p>
            {policy.then(|| view! {
                <p>"For the authorization policy, which the API server asks as well:"</p>
                <CodeBlock text=format!("{command} --authorization") what="authorization command" />
            })}
        </div>
    }
    .into_any()
}

fn guides(base: &str) -> AnyView {
    let entries = GUIDES
        .map(|(title, file)| {
            let href = guide(base, file);
            view! {
                <li>
                    <a class="inline-flex items-center gap-1.5" href=href rel="external">
                        {title}
                        <Icon icon=icons::EXTERNAL />
                    </a>
                </li>
            }
        })
        .collect_view();
    view! { <ul class="notes">{entries}</ul> }.into_any()
}

/// Returns the address of a guide in the published documentation.
fn guide(base: &str, file: &str) -> String {
    format!("{}/{file}", base.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_p15_guides_lie_below_the_published_documentation() {
        for base in [
            "https://docs.example.org/portico",
            "https://docs.example.org/portico/",
        ] {
            assert_eq!(
                guide(base, "guides/kubectl.html"),
                "https://docs.example.org/portico/guides/kubectl.html"
            );
        }
    }
}
