//! systemd units: one process for all roles, or one each.
use super::configuration::admin_of;
use super::roles::Roles;
use super::settings::{Cluster, DEFAULT_STORE, Settings};
use std::path::Path;

/// The roles with a process of their own, in the order of their admin ports.
const ROLES: [(&str, &str); 3] = [
    ("gateway", "sign-in, sessions and reverse proxy"),
    ("panel", "pages"),
    ("kube-auth", "webhook for Kubernetes API servers"),
];
const NO_CAPABILITIES: &str = "CapabilityBoundingSet=\n";
/// Lower ports need a capability.
const FIRST_UNPRIVILEGED_PORT: u16 = 1024;

/// Returns the units, as name and text.
pub(super) fn units(settings: &Settings, program: &Path) -> Vec<(String, String)> {
    let mut units = Vec::new();
    if settings.split_roles {
        for (index, (role, what)) in ROLES.iter().enumerate() {
            // they read the same configuration, and each needs an admin port
            let admin = admin_of(settings, index);
            let environment = format!("Environment=PORTICO_ADMIN__LISTEN={admin}\n");
            let command = command(settings, program, role);
            let unit = unit(
                &format!("Portico: {what}"),
                &command,
                &environment,
                &privileges(settings),
            );
            units.push((format!("portico-{role}.service"), unit));
        }
    } else {
        let command = command(settings, program, "all");
        let what = "Portico: sign-in, panel and webhook for Kubernetes tenants";
        units.push((
            "portico.service".to_owned(),
            unit(what, &command, "", &privileges(settings)),
        ));
    }
    units
}

/// Returns the unit that binds the roles of developers and viewers in a cluster's namespaces, if
/// the roles' IDs are known.
pub(super) fn bootstrap(
    out: &Path,
    cluster: &Cluster,
    roles: &Roles,
    program: &Path,
) -> Option<(String, String)> {
    let (developer, viewer) = roles.bound()?;
    let name = &cluster.directory;
    let kubeconfig = out.join("clusters").join(name).join("bootstrap.kubeconfig");
    let command = format!(
        "{} kube-auth bootstrap --watch --kubeconfig {} \\\n    \
         --state-file /var/lib/portico/bootstrap-{name}.json \\\n    \
         --developer-role {developer} --viewer-role {viewer}",
        escaped(program),
        escaped(&kubeconfig)
    );
    let what = format!("Portico: role bindings in the namespaces of cluster {name}");
    let unit = unit(&what, &command, "", NO_CAPABILITIES);
    Some((format!("portico-bootstrap-{name}.service"), unit))
}

fn command(settings: &Settings, program: &Path, role: &str) -> String {
    format!(
        "{} --config {} {role}",
        escaped(program),
        escaped(&settings.out.join("portico.toml"))
    )
}

/// Returns the privileges of a process that listens on the configured ports and stores its state
/// where configured.
fn privileges(settings: &Settings) -> String {
    let ports = [settings.listen.port(), settings.kube_auth_listen.port()];
    let capabilities = if ports.iter().any(|port| *port < FIRST_UNPRIVILEGED_PORT) {
        "AmbientCapabilities=CAP_NET_BIND_SERVICE\nCapabilityBoundingSet=CAP_NET_BIND_SERVICE\n"
    } else {
        NO_CAPABILITIES
    };
    writable(settings) + capabilities
}

fn unit(description: &str, command: &str, environment: &str, privileges: &str) -> String {
    format!(
        "\
[Unit]
Description={description}
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
User=portico
Group=portico
ExecStart={command}
ExecReload=/bin/kill -HUP $MAINPID
{environment}Restart=on-failure
RestartSec=2s
# configuration that must be changed first
RestartPreventExitStatus=64 78
TimeoutStopSec=30s
LimitNOFILE=131072
StateDirectory=portico
StateDirectoryMode=0700
UMask=0077
{privileges}NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
RemoveIPC=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
"
    )
}

/// Returns SQLite's directory, unless it is the state directory.
fn writable(settings: &Settings) -> String {
    let file = settings.store.strip_prefix("sqlite://");
    let file = file.filter(|_| settings.store != DEFAULT_STORE);
    let directory = file
        .and_then(|file| Path::new(file.split('?').next()?).parent())
        .filter(|directory| directory.is_absolute() && *directory != Path::new("/var/lib/portico"));
    directory.map_or_else(String::new, |directory| {
        format!("ReadWritePaths={}\n", escaped(directory))
    })
}

/// Returns a path for a unit: `%` and `$` would be expanded, a blank would end it.
fn escaped(path: &Path) -> String {
    let text = path.to_string_lossy().replace('%', "%%").replace('$', "$$");
    if text.contains(char::is_whitespace) {
        format!("\"{}\"", text.replace('"', "\\\""))
    } else {
        text
    }
}
