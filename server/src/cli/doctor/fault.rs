//! The faults that doctor knows, each with a stable ID, its cause and its remedy.
//!
//! An ID is never reused for another fault. `docs/reference/doctor.md` lists the same faults; a
//! test compares the two.
use super::finding::Status;

macro_rules! faults {
    ($($variant:ident, $id:literal, $status:ident, $cause:literal, $remedy:literal;)*) => {
        /// A fault that doctor can find.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(super) enum Fault {
            $(#[doc = $cause] $variant,)*
        }

        impl Fault {
            /// Every fault, in the order of the documentation.
            #[cfg(test)]
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the stable ID.
            pub fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)* }
            }

            /// Returns its severity.
            pub fn status(self) -> Status {
                match self { $(Self::$variant => Status::$status,)* }
            }

            /// Returns the cause, as a sentence without a full stop.
            pub fn cause(self) -> &'static str {
                match self { $(Self::$variant => $cause,)* }
            }

            /// Returns what to do, as an imperative.
            pub fn remedy(self) -> &'static str {
                match self { $(Self::$variant => $remedy,)* }
            }
        }
    };
}

faults! {
    ConfigurationInvalid, "configuration-invalid", Error,
        "The configuration cannot be used",
        "correct the key that the message names; `portico config schema` describes every key";
    ConfigurationEmpty, "configuration-empty", Warning,
        "No role has a section in the configuration",
        "name the file with --config, or add [gateway], [panel] or [kube_auth]";
    ConfigurationReadable, "configuration-readable", Warning,
        "A configuration file with a password can be read by every user of the machine",
        "run `chmod 640` on the file, or put the URL into PORTICO_STORE__URL";
    KeyFileUnusable, "key-file-unusable", Error,
        "A key file is missing or does not hold such a key",
        "run `portico keys generate --out DIR`, which makes what is missing, and name its files";
    KeyFilePermissions, "key-file-permissions", Error,
        "Every user of the machine can read a private key or a secret",
        "run `chmod 600` on the file; in Kubernetes mount it with `defaultMode: 0440`";
    SecretFileUnusable, "secret-file-unusable", Error,
        "A file with a password, a token or a client's secret is missing, empty, too short or not text",
        "write the secret into the file, readable by Portico's user only";
    PanelKeyMismatch, "panel-key-mismatch", Error,
        "gateway.panel_sealing_key_file is not the public half of panel.private_key_file",
        "name the two halves of one pair (panel.pub and panel.key)";
    AssertionKeyMismatch, "assertion-key-mismatch", Error,
        "panel.assertion_public_key_files lacks the public half of gateway.assertion_key_file",
        "add the gateway's assertion.pub to the list";
    ClusterKeyMismatch, "cluster-key-mismatch", Error,
        "kube-auth has no private half of a cluster's sealing_key_file",
        "put the private half into kube_auth.key_files, or name the public half of one of those";
    ClusterListStateUnusable, "cluster-list-state-unusable", Error,
        "kube-auth cannot read or replace the file with the last cluster list",
        "check that the directory of kube_auth.cluster_list.state_file exists and that Portico's user may write to it";
    CertificateUnusable, "certificate-unusable", Error,
        "A certificate or an authority is missing or not in PEM form",
        "name a certificate chain (PEM), its private key and, for kube-auth, the client authority";
    CertificateKeyMismatch, "certificate-key-mismatch", Error,
        "A private key does not belong to its certificate",
        "name the key that the certificate was requested with";
    CertificateExpired, "certificate-expired", Error,
        "A certificate has expired",
        "renew it; running processes read the new files within seconds";
    CertificateExpiresSoon, "certificate-expires-soon", Warning,
        "A certificate expires soon",
        "renew it, and look at the job that should have";
    CertificateNotYetValid, "certificate-not-yet-valid", Error,
        "A certificate is not valid yet",
        "set this machine's clock (NTP), or issue the certificate with an earlier start";
    CertificateWrongName, "certificate-wrong-name", Error,
        "No certificate is for a host that browsers ask for",
        "issue one with this subject alternative name, or add it to gateway.tls_certificates";
    CertificateChainBroken, "certificate-chain-broken", Error,
        "A certificate of the chain is not signed by the next one",
        "write the leaf first, then each intermediate that signs the one before it";
    StoreUnreachable, "store-unreachable", Error,
        "The database cannot be reached",
        "check store.url, and that the database runs";
    StoreCredentials, "store-credentials", Error,
        "The database refuses the user, the password or a permission",
        "correct user and password in store.url (percent-encoded), and pg_hba.conf or the ACL";
    StoreDatabaseMissing, "store-database-missing", Error,
        "The server has no database of this name",
        "create it (`createdb -O portico portico`), or correct its name in store.url";
    StoreDamaged, "store-damaged", Error,
        "The database file is damaged, or is not a database",
        "restore it from a backup, or move it away and run `portico migrate`: all users are signed out";
    StoreFileUnusable, "store-file-unusable", Error,
        "The database file cannot be opened or made",
        "check that its directory exists and that Portico's user may write to it";
    StoreUnusable, "store-unusable", Error,
        "The store answers with an error",
        "look at the database's log";
    StoreReadOnly, "store-read-only", Error,
        "The database is read-only",
        "name the primary's address in store.url, or make the file writable";
    StoreFull, "store-full", Error,
        "The database has no space left",
        "make room on its disk, or give Redis more memory";
    DiskFull, "disk-full", Error,
        "The disk of the database file is almost full",
        "make room on the disk";
    StoreNotMigrated, "store-not-migrated", Warning,
        "The store has not been prepared for this version",
        "run `portico migrate` before single roles start; `portico all` does so by itself";
    StoreTooNew, "store-too-new", Error,
        "The store was migrated by a newer version of Portico",
        "use that version or a newer one";
    StoreOtherKeys, "store-other-keys", Error,
        "The store was written with another installation's key",
        "put the right key into store.key_files, or name this installation's own store";
    StorePlainText, "store-plain-text", Warning,
        "The connection to the database's machine may be without TLS",
        "use sslmode=verify-full with PostgreSQL, rediss:// with Redis";
    RedisEvicts, "redis-evicts", Warning,
        "Redis drops sessions when its memory is short",
        "set maxmemory-policy noeviction";
    RedisNotPersistent, "redis-not-persistent", Warning,
        "Redis loses its data on a restart",
        "set appendonly yes";
    KeystoneUnreachable, "keystone-unreachable", Error,
        "Keystone cannot be reached",
        "check keystone.url, and that this machine may reach it";
    KeystoneCertificate, "keystone-certificate", Error,
        "Keystone's certificate is not accepted",
        "name its authority in keystone.ca_file, and use a name that the certificate has";
    KeystoneWrongPath, "keystone-wrong-path", Error,
        "The address answers, but not as Keystone's identity API v3",
        "check the path of keystone.url: `curl URL` shows the API's version";
    KeystoneTooOld, "keystone-too-old", Warning,
        "Keystone is older than Train (API 3.13): application credentials have no access rules",
        "upgrade Keystone";
    KeystonePlainText, "keystone-plain-text", Warning,
        "Keystone is asked over plain HTTP on another machine",
        "use https:// in keystone.url, and take keystone.allow_plain_http out";
    ClockSkew, "clock-skew", Error,
        "This machine's clock and Keystone's differ",
        "set both by NTP (`timedatectl`)";
    ServiceAccountRefused, "service-account-refused", Error,
        "Keystone refuses the service account's sign-in",
        "check [keystone.service_account]: the name, the file of the secret and the scope";
    ServiceAccountAdmin, "service-account-admin", Error,
        "The service account has the role admin",
        "give Portico a user with the role reader alone";
    ClusterUnreachable, "cluster-unreachable", Error,
        "A cluster's API server cannot be reached",
        "check clusters.api_url, and that this machine may reach it";
    ClusterCertificate, "cluster-certificate", Error,
        "An API server's certificate is not accepted",
        "name the authority that signs it in clusters.ca_file, and use a name that it has in clusters.api_url";
    ClusterUnhealthy, "cluster-unhealthy", Error,
        "The address of a cluster answers, but not as a healthy API server",
        "check clusters.api_url, and look at the API server's log";
    ClusterNotAsking, "cluster-not-asking", Error,
        "An API server does not ask kube-auth about tokens",
        "configure its webhook (`portico kube-auth config --cluster ID`); it must reach kube_auth.listen";
    ClusterUnobserved, "cluster-unobserved", Warning,
        "It is unknown whether an API server asks kube-auth",
        "start kube-auth, and set panel.kube_auth_metrics_url where it runs elsewhere";
    ClusterOwnerOnly, "cluster-owner-only", Warning,
        "A cluster accepts tokens of its owner project only",
        "name accepted_projects if users have their roles in other projects";
    RevocationSlow, "revocation-slow", Error,
        "A revoked token works for longer than promised, or that could not be measured",
        "start the API server with --authentication-token-webhook-cache-ttl=10s, and set OS_* of a user whom the cluster accepts";
    ProviderUnreachable, "provider-unreachable", Error,
        "An OpenID provider cannot be reached",
        "check gateway.providers.issuer and ca_file, and that this machine may reach it";
    ProviderDiscovery, "provider-discovery", Error,
        "An OpenID provider's discovery document cannot be used",
        "write the issuer exactly as the provider's /.well-known/openid-configuration does";
    PanelSiteMissing, "panel-site-missing", Error,
        "panel.site_root has no browser half of the panel",
        "run `cargo xtask site --release`, or name the directory of the package in panel.site_root";
    RulesInvalid, "rules-invalid", Error,
        "The rules of an app cannot be used, or fail their own tests",
        "run `portico policy lint` and `portico policy test`; a running gateway keeps the last good rules";
    RulesWarning, "rules-warning", Warning,
        "A rule of an app opens more than it seems to, or has no effect",
        "run `portico policy explain` for the request in question";
    DemoUsers, "demo-users", Warning,
        "The sign-in page lists users and their password",
        "remove [gateway.demo] unless this is a demonstration";
    NotListening, "not-listening", Warning,
        "Nothing listens on an address of this installation",
        "start the role, if it should run: `portico all`, or each role by itself";
    PortForeign, "port-foreign", Error,
        "Another program, or another installation, listens on an address of this one",
        "stop it (`ss -ltnp` names it), or choose another address";
    PublicUrlUnresolved, "public-url-unresolved", Warning,
        "The host of public_url does not resolve on this machine",
        "add a DNS record for it";
    PublicUrlUnreachable, "public-url-unreachable", Warning,
        "Nothing answers at public_url from this machine",
        "start the gateway and the proxy in front of it, and check the firewall";
    PublicUrlCertificate, "public-url-certificate", Error,
        "The certificate at public_url has expired or is for another name",
        "renew it, or issue it for the host of public_url";
    PublicUrlUntrusted, "public-url-untrusted", Warning,
        "The certificate at public_url is signed by a private authority",
        "make sure that your users' browsers trust this authority";
    PublicUrlForeign, "public-url-foreign", Error,
        "Something else than this gateway answers at public_url",
        "point the name, or the proxy behind it, to this gateway; it must pass the Host header on";
    AppsDomainUnresolved, "apps-domain-unresolved", Warning,
        "Host names below gateway.apps_domain do not resolve on this machine",
        "add a wildcard DNS record for *.apps_domain";
    OpenFilesLow, "open-files-low", Warning,
        "This process may open few files, and each connection is one",
        "set LimitNOFILE=65536 in the systemd unit";
    CheckTimedOut, "check-timed-out", Error,
        "A check did not end in time",
        "run doctor again; if it lasts, look at the server that the subject names";
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const PAGE: &str = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../docs/reference/doctor.md"
    ));

    #[test]
    fn doctor_faults_are_the_table_of_the_documentation() {
        let documented: Vec<&str> = PAGE
            .lines()
            .filter(|line| line.starts_with("| <a id="))
            .collect();
        let known: Vec<String> = Fault::ALL
            .iter()
            .map(|fault| {
                format!(
                    "| <a id=\"{id}\"></a>`{id}` | {status} | {} | {} |",
                    fault.cause(),
                    fault.remedy(),
                    id = fault.id(),
                    status = fault.status().word(),
                )
            })
            .collect();
        assert_eq!(documented, known, "docs/reference/doctor.md");
    }

    #[test]
    fn doctor_has_an_id_of_its_own_for_each_of_more_than_thirty_faults() {
        let ids: HashSet<&str> = Fault::ALL.iter().map(|fault| fault.id()).collect();
        assert_eq!(ids.len(), Fault::ALL.len());
        assert!(ids.len() > 30);
        for fault in Fault::ALL {
            let id = fault.id();
            assert!(
                id.chars().all(|c| c.is_ascii_lowercase() || c == '-'),
                "{id}"
            );
            assert!(!fault.remedy().ends_with('.') && !fault.cause().ends_with('.'));
        }
    }
}
