//! The calls that are passed on: those of `crates/openstack`, all of Magnum's and reads of the other
//! services. What is not in this table is refused.
use portico_domain::panel::lifecycle::ACCEPTED_ARGUMENT;
use portico_openstack::rest::Service;

/// A permitted call.
#[derive(Debug)]
pub struct Rule {
    pub service: Service,
    pub method: &'static str,
    /// Below the version of the API. `{cluster}` is a UUID, `{id}` an ID, `{project}` that of the caller.
    pub path: &'static str,
    /// The arguments that its query may have.
    pub query: &'static [&'static str],
    /// Its name in logs and metrics; of a change, also the action of the audit log and the journal.
    pub name: &'static str,
}

const fn rule(
    service: Service,
    method: &'static str,
    path: &'static str,
    query: &'static [&'static str],
    name: &'static str,
) -> Rule {
    Rule {
        service,
        method,
        path,
        query,
        name,
    }
}

const PAGE: &[&str] = &["limit", "marker"];
const PAGE_OF_PROJECT: &[&str] = &["limit", "marker", "project_id"];

#[rustfmt::skip]
pub const RULES: &[Rule] = {
    use Service::{Cinder, Glance, Magnum, Neutron, Nova, Octavia};
    &[
        rule(Magnum, "GET", "", &[], "versions"),
        rule(Magnum, "GET", "clusters/detail", PAGE, "clusters"),
        rule(Magnum, "POST", "clusters", &[], "create_cluster"),
        rule(Magnum, "GET", "clusters/{cluster}", &[], "cluster"),
        rule(Magnum, "PATCH", "clusters/{cluster}", &["rollback"], "change_cluster"),
        rule(Magnum, "DELETE", "clusters/{cluster}", &[ACCEPTED_ARGUMENT], "delete_cluster"),
        rule(Magnum, "POST", "clusters/{cluster}/actions/resize", &[], "resize_node_group"),
        rule(Magnum, "POST", "clusters/{cluster}/actions/upgrade", &[], "upgrade_cluster"),
        rule(Magnum, "GET", "clusters/{cluster}/nodegroups", PAGE, "node_groups"),
        rule(Magnum, "POST", "clusters/{cluster}/nodegroups", &[], "create_node_group"),
        rule(Magnum, "GET", "clusters/{cluster}/nodegroups/{id}", &[], "node_group"),
        rule(Magnum, "PATCH", "clusters/{cluster}/nodegroups/{id}", &[], "change_node_group"),
        rule(Magnum, "DELETE", "clusters/{cluster}/nodegroups/{id}", &[], "delete_node_group"),
        rule(Magnum, "POST", "certificates", &[], "sign_certificate"),
        rule(Magnum, "GET", "certificates/{cluster}", &["ca_cert_type"], "authority"),
        rule(Magnum, "PATCH", "certificates/{cluster}", &[], "rotate_ca"),
        rule(Magnum, "PATCH", "credentials/{cluster}", &[], "rotate_credential"),
        rule(Magnum, "GET", "clustertemplates/detail", PAGE, "templates"),
        rule(Magnum, "POST", "clustertemplates", &[], "create_template"),
        rule(Magnum, "GET", "clustertemplates/{id}", &[], "template"),
        rule(Magnum, "PATCH", "clustertemplates/{id}", &[], "change_template"),
        rule(Magnum, "DELETE", "clustertemplates/{id}", &[], "delete_template"),
        rule(Magnum, "GET", "quotas", &["all_tenants", "limit", "marker"], "quotas"),
        rule(Magnum, "POST", "quotas", &[], "create_quota"),
        rule(Magnum, "GET", "quotas/{id}/Cluster", &[], "quota"),
        rule(Magnum, "PATCH", "quotas/{id}/Cluster", &[], "change_quota"),
        rule(Magnum, "DELETE", "quotas/{id}/Cluster", &[], "delete_quota"),
        rule(Magnum, "GET", "stats", &["project_id"], "stats"),
        rule(Magnum, "GET", "mservices", &[], "conductors"),
        rule(Nova, "GET", "limits", &[], "limits"),
        rule(Nova, "GET", "flavors/detail", PAGE, "flavors"),
        rule(Nova, "GET", "os-keypairs", PAGE, "key_pairs"),
        rule(Nova, "GET", "os-availability-zone", &[], "availability_zones"),
        rule(Nova, "GET", "servers/detail", &["limit", "marker", "name"], "servers"),
        rule(Cinder, "GET", "limits", &[], "limits"),
        rule(Cinder, "GET", "volumes/detail", PAGE, "volumes"),
        rule(Cinder, "GET", "snapshots/detail", PAGE, "snapshots"),
        rule(Cinder, "GET", "types", PAGE, "volume_types"),
        rule(Cinder, "GET", "os-availability-zone", &[], "availability_zones"),
        rule(Neutron, "GET", "networks", PAGE_OF_PROJECT, "networks"),
        rule(Neutron, "GET", "subnets", PAGE_OF_PROJECT, "subnets"),
        rule(Neutron, "GET", "routers", PAGE_OF_PROJECT, "routers"),
        rule(Neutron, "GET", "ports", PAGE_OF_PROJECT, "ports"),
        rule(Neutron, "GET", "floatingips", PAGE_OF_PROJECT, "floating_ips"),
        rule(Neutron, "GET", "security-groups", PAGE_OF_PROJECT, "security_groups"),
        rule(Neutron, "GET", "quotas/{project}/details.json", &[], "quota"),
        rule(Octavia, "GET", "lbaas/loadbalancers", PAGE_OF_PROJECT, "load_balancers"),
        rule(Octavia, "GET", "lbaas/quotas/{project}", &[], "quota"),
        rule(Glance, "GET", "images", PAGE, "images"),
    ]
};
