"""A driver with the habits of Magnum's former Heat driver (up to 22), without Heat and machines: `cluster_id` is the UUID of a
stack, `create_timeout` ends a creation, reasons have Heat's form, and clusters cannot be upgraded.
"""

from magnum.common import exception
from oslo_utils import uuidutils

from simulated import operations
from simulated.driver import SimulatedDriver
from simulated.labels import Labels

RESOURCES = {
    "credential": "trust",
    "network": "network",
    "api_load_balancer": "api_lb",
    "addons": "kube_cluster_deploy",
}


class Driver(SimulatedDriver):
    def new_stack_id(self, cluster):
        return Labels(cluster).get("sim_stack") or uuidutils.generate_uuid()

    def upgrade_cluster(self, *arguments, **more):
        raise exception.NotSupported("Upgrading a cluster is not supported by this driver.")

    def rotate_ca_certificate(self, context, cluster):
        nodes = len(self.cloud(cluster).servers())
        self.begin(cluster, "rotate", self.UPDATE_SECONDS, operations.spread(0.1, 0.9, [["restart_node", []]] * nodes))

    def step_restart_node(self, cluster):
        pass

    def failure(self, cluster, step, given, reason):
        if step == "timeout":
            return "Timed out"
        group = self.group(cluster, given[0]) if given else None
        resource = RESOURCES.get(step) or ("kube_masters" if group is not None and group.role == "master" else "kube_minions")
        return f"Resource CREATE failed: Forbidden: resources.{resource}: {reason} (HTTP 403)"
