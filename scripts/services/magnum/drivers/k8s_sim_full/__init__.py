"""A driver that can do all that Magnum offers, without machines: failures end in *_FAILED, named nodes are removed, the CA is
rotated, masters are resized, single node groups are upgraded.
"""

from oslo_utils import uuidutils

from simulated import operations
from simulated.driver import SimulatedDriver


class Driver(SimulatedDriver):
    def new_stack_id(self, cluster):
        return uuidutils.generate_uuid()

    def validate_master_resize(self, node_count):
        self.validate_master_size(node_count)

    def rotate_ca_certificate(self, context, cluster):
        """The conductor has made the new certificates already."""
        nodes = len(self.cloud(cluster).servers())
        self.begin(cluster, "rotate", self.UPDATE_SECONDS, operations.spread(0.1, 0.9, [["restart_node", []]] * nodes))

    def step_restart_node(self, cluster):
        pass
