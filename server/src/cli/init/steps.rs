//! The remaining steps, as numbered commands.
use super::directory::group_of;
use super::roles::Roles;
use super::settings::{Cluster, DEFAULT_STORE, GatewayTls, Settings};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

/// One step: a heading, a reason, and commands to copy.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Step {
    pub title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    pub commands: Vec<String>,
}

fn step(title: impl Into<String>, note: impl Into<String>, commands: Vec<String>) -> Step {
    Step {
        title: title.into(),
        note: note.into(),
        commands,
    }
}

/// Returns the steps of a new installation.
pub(super) fn of_installation(settings: &Settings) -> Vec<Step> {
    let out = settings.out.display().to_string();
    let mut steps = Vec::new();
    steps.extend(missing_roles(&settings.roles));
    steps.push(service_user(settings));
    steps.push(step(
        "Prepare the store",
        store_note(&settings.store),
        vec![format!(
            "runuser -u portico -- portico --config {out}/portico.toml migrate"
        )],
    ));
    let roles: &[&str] = if settings.split_roles {
        &["-gateway", "-panel", "-kube-auth"]
    } else {
        &[""]
    };
    let services: Vec<String> = roles
        .iter()
        .map(|role| format!("{out}/systemd/portico{role}.service"))
        .collect();
    steps.push(step(
        "Start Portico, now and at every boot",
        "",
        vec![format!("systemctl enable --now {}", services.join(" "))],
    ));
    steps.push(names(settings));
    for cluster in &settings.clusters {
        steps.extend(of_cluster(
            &settings.out,
            cluster,
            &settings.api_server_dir,
            &settings.roles,
        ));
    }
    steps.push(doctor(&out));
    steps.push(first_user(settings));
    steps
}

/// Returns the steps after clusters were added to an installation.
pub(super) fn of_addition(
    out: &Path,
    clusters: &[Cluster],
    api_server_dir: &str,
    roles: &Roles,
) -> Vec<Step> {
    let text = out.display().to_string();
    let mut steps = Vec::new();
    if !clusters.is_empty() {
        let entries: Vec<String> = clusters
            .iter()
            .map(|one| format!("{text}/clusters/{}/cluster.toml", one.directory))
            .collect();
        steps.push(step(
            "Append the new clusters to the configuration",
            "init never changes a file that exists.",
            vec![
                format!("cat {} >> {text}/portico.toml", entries.join(" ")),
                format!("portico --config {text}/portico.toml config check"),
            ],
        ));
    }
    let mut commands = Vec::new();
    if group_of(&out.join("portico.toml")).is_none() {
        commands.push(share(&text));
    }
    commands.push("systemctl restart 'portico*'".to_owned());
    steps.push(step("Let the service read the new files", "", commands));
    for cluster in clusters {
        steps.extend(of_cluster(out, cluster, api_server_dir, roles));
    }
    steps.push(doctor(&text));
    steps
}

/// Returns the step for the user of the units and the files that it must be able to read.
fn service_user(settings: &Settings) -> Step {
    let out = settings.out.display().to_string();
    let mut commands = vec![
        "id portico >/dev/null 2>&1 || \
         useradd --system --home-dir /var/lib/portico --shell /usr/sbin/nologin portico"
            .to_owned(),
        "install -d -m 700 -o portico -g portico /var/lib/portico".to_owned(),
    ];
    let note = if settings.group.is_some() {
        format!("The group portico may read {out} already, except ca and systemd.")
    } else {
        commands.push(share(&out));
        format!("It reads {out}, except ca, with the keys of the authorities, and systemd.")
    };
    step("Create the service's user", note, commands)
}

/// Returns the commands that init runs itself if it has the permission.
fn share(out: &str) -> String {
    format!(
        "chgrp -R portico {out} && chmod -R g+rX {out} && \
         chmod -R go= {out}/ca {out}/systemd && chgrp -R root {out}/ca {out}/systemd"
    )
}

fn missing_roles(roles: &Roles) -> Option<Step> {
    let unknown: Vec<&str> = roles
        .all()
        .into_iter()
        .filter(|role| role.id.is_none())
        .map(|role| role.name.as_str())
        .collect();
    if unknown.is_empty() {
        return None;
    }
    Some(step(
        "Create the roles in Keystone, and note their IDs",
        "As an administrator of the cloud. Put the IDs into [panel.role_names] of portico.toml.",
        unknown
            .into_iter()
            .map(|name| format!("openstack role create --or-show {name} -f value -c id"))
            .collect(),
    ))
}

fn store_note(store: &str) -> String {
    if store == DEFAULT_STORE || store.starts_with("sqlite:") {
        "SQLite is for one machine. For several replicas take PostgreSQL: see docs/guides/own-cloud.md."
            .to_owned()
    } else {
        "The database and its user must exist: see docs/guides/own-cloud.md.".to_owned()
    }
}

fn names(settings: &Settings) -> Step {
    let host = settings.public_url.host_str().unwrap_or_default();
    let mut note = format!(
        "{host} and *.{} must lead to this machine.",
        settings.apps_domain
    );
    if settings.gateway_tls == GatewayTls::Made && settings.authority.is_none() {
        let _ = write!(
            note,
            " Browsers must trust {}/tls/ca.crt, or replace tls/gateway.crt and tls/gateway.key by a \
             certificate that they trust.",
            settings.out.display()
        );
    }
    step(
        "Make the names known",
        note,
        vec![format!("getent hosts {host} any.{}", settings.apps_domain)],
    )
}

fn of_cluster(out: &Path, cluster: &Cluster, api_server_dir: &str, roles: &Roles) -> Vec<Step> {
    let name = &cluster.spec.name;
    let directory = out.join("clusters").join(&cluster.directory);
    let directory = directory.display();
    let parent = Path::new(api_server_dir).parent().unwrap_or(Path::new("/"));
    let mut bind = vec![format!("kubectl apply -f {directory}/rbac.yaml")];
    if roles.admin.id.is_none() {
        bind.push(format!(
            "kubectl create clusterrolebinding portico-admin --clusterrole=cluster-admin \
             --group=\"$(openstack role show {} -f value -c id)\"",
            roles.admin.name
        ));
    }
    bind.push(format!(
        "kubectl create token portico-bootstrap -n kube-system --duration=8760h | \
         install -m 640 -g portico /dev/stdin {directory}/bootstrap.token"
    ));
    let watch = match roles.bound() {
        Some(_) => vec![format!(
            "systemctl enable --now {}/systemd/portico-bootstrap-{}.service",
            out.display(),
            cluster.directory
        )],
        None => vec![format!(
            "portico kube-auth bootstrap --watch --kubeconfig {directory}/bootstrap.kubeconfig \
             --state-file /var/lib/portico/bootstrap-{}.json \
             --developer-role \"$(openstack role show {} -f value -c id)\" \
             --viewer-role \"$(openstack role show {} -f value -c id)\"",
            cluster.directory, roles.developer.name, roles.viewer.name
        )],
    };
    vec![
        step(
            format!("Have the API server of {name} ask kube-auth"),
            format!(
                "On each machine with an API server of {name}. Then start the API servers with the \
                 flags of {directory}/apiserver.flags; for kubeadm they are in \
                 kubeadm-v1beta4.yaml and kubeadm-v1beta3.yaml beside it."
            ),
            vec![format!(
                "scp -r {directory}/api-server root@CONTROL-PLANE:{}",
                parent
                    .join(Path::new(api_server_dir).file_name().unwrap_or_default())
                    .display()
            )],
        ),
        step(
            format!("Create Portico's roles in {name}"),
            "With a kubeconfig of an administrator of the cluster. The token is good for a year; \
             write a new one over it before.",
            bind,
        ),
        step(
            format!("Bind Keystone's roles in the namespaces of {name}"),
            "It covers new namespaces within seconds, with the service account portico-bootstrap.",
            watch,
        ),
    ]
}

fn doctor(out: &str) -> Step {
    step(
        "Try everything that Portico depends on",
        "",
        vec![format!(
            "runuser -u portico -- portico --config {out}/portico.toml doctor"
        )],
    )
}

fn first_user(settings: &Settings) -> Step {
    let url = settings.public_url.as_str().trim_end_matches('/');
    let ca = match settings.gateway_tls {
        GatewayTls::Made => " --ca-file ca.crt",
        _ => "",
    };
    let note = if ca.is_empty() {
        "On a user's machine, with portico and kubectl installed."
    } else {
        "On a user's machine, with portico and kubectl installed, and tls/ca.crt of this directory as ca.crt."
    };
    let mut commands = vec![format!("portico login{ca} {url}")];
    match settings.clusters.first() {
        Some(cluster) => {
            let name = &cluster.spec.name;
            commands.push(format!("portico kubeconfig --cluster {name}"));
            commands.push(format!("kubectl --context {name} get pods"));
        }
        None => commands.push("portico kubeconfig".to_owned()),
    }
    step("Reach a cluster as a user", note, commands)
}

/// Returns the steps as Markdown.
pub(super) fn markdown(steps: &[Step]) -> String {
    let mut text = String::from(
        "# Remaining steps\n\nWritten by `portico init`. As root, unless a step names another user.\n",
    );
    for (index, step) in steps.iter().enumerate() {
        let _ = write!(text, "\n## {}. {}\n", index + 1, step.title);
        if !step.note.is_empty() {
            let _ = write!(text, "\n{}\n", step.note);
        }
        let _ = write!(text, "\n```sh\n{}\n```\n", step.commands.join("\n"));
    }
    text
}

/// Returns the steps for a terminal.
pub(super) fn plain(steps: &[Step]) -> String {
    let mut text = String::new();
    for (index, step) in steps.iter().enumerate() {
        let _ = writeln!(text, "\n{:>2}. {}", index + 1, step.title);
        if !step.note.is_empty() {
            let _ = writeln!(text, "    # {}", step.note);
        }
        for command in &step.commands {
            let _ = writeln!(text, "    {command}");
        }
    }
    text
}
