"""A driver with the habits of the Cluster API drivers (magnum-capi-helm 1.4), without machines:

- an error never ends an operation: it is tried again, and stays IN_PROGRESS, also after `create_timeout`;
- the words for it are in health_status_reason (cluster, infrastructure, controlplane, nodegroup), not in status_reason;
- `nodes_to_remove`, `max_batch_size` and the node group of an upgrade are ignored;
- the CA cannot be rotated: Magnum replaces its record before it asks, so the record is wrong afterwards;
- the credential can be rotated, and belongs to the caller then;
- nodes have no addresses; volumes that claims have made are deleted with the cluster.
"""

import secrets
import string

from magnum.objects import fields

from simulated.driver import SimulatedDriver

WAITING = {
    "credential": ("cluster", "Waiting on ['CredentialsReady']"),
    "network": ("infrastructure", "Waiting on ['NetworkReady', 'SecurityGroupsReady']"),
    "api_load_balancer": ("infrastructure", "Waiting on ['LoadBalancerReady']"),
    "node": ("nodegroup", "Waiting on ['MachinesReady']"),
    "replace_node": ("controlplane", "RollingUpdateInProgress: Rolling 1 replicas with outdated spec"),
    "addons": ("cluster", "Waiting on ['AddonsReady']"),
}


class Driver(SimulatedDriver):
    FAILS = False
    HONOURS_TIMEOUT = False
    HONOURS_NODES_TO_REMOVE = False
    DELETES_VOLUMES = True
    UPGRADES_ALL = True

    def new_stack_id(self, cluster):
        tail = "".join(secrets.choice(string.ascii_lowercase + string.digits) for _ in range(12))
        return f"{cluster.name}-{tail}"

    def validate_master_resize(self, node_count):
        self.validate_master_size(node_count)

    def rotate_credential(self, context, cluster):
        cluster.user_id = context.user_id
        cluster.save()

    def note_addresses(self, cloud, group):
        pass

    def step_node(self, cluster, identity):
        group = self.group(cluster, identity)
        cloud = self.cloud(cluster)
        cloud.create_server(group, self.version(cluster))
        if cluster.status == fields.ClusterStatus.CREATE_IN_PROGRESS and len(cloud.servers(identity)) == group.node_count:
            group.status = fields.ClusterStatus.CREATE_COMPLETE
            group.save()

    def health(self, cluster, operation, servers):
        reason = dict.fromkeys(("cluster", "infrastructure", "controlplane", "nodegroup"), "Ready")
        if not operation or operation["done"] >= len(operation["steps"]):
            return "HEALTHY", reason
        _, step, given = operation["steps"][operation["done"]]
        part, words = WAITING.get(step, ("cluster", "Waiting on ['ClusterReady']"))
        group = self.group(cluster, given[0]) if given else None
        if group is not None and group.role == "master":
            part = "controlplane"
        reason[part] = words
        # what comes after it waits too
        if part == "infrastructure":
            reason.update(
                cluster=words, controlplane="Waiting on ['InfrastructureReady']", nodegroup="Waiting on ['ControlPlaneReady']"
            )
        if operation["blocked"]:
            reason[part] = f"ReconcileError: {operation['blocked'][1]}"
        return "UNHEALTHY", reason
