"""A driver whose clusters answer: etcd, kube-apiserver and kube-controller-manager of the stack's own Kubernetes build, with
the certificates that Magnum has made and the token webhook at this stack's kube-auth. Nodes are records: a server in the
stand-in for the cloud and a Node object, without a kubelet, so pods stay Pending.

There is one build, hence one version: clusters cannot be upgraded.
"""

from magnum.common import exception
from oslo_utils import uuidutils

from k8s_local import control_plane, nodes
from k8s_local.control_plane import ControlPlane
from simulated import operations
from simulated.driver import SimulatedDriver


def resume():
    """Starts the clusters that ran before the stack was stopped."""
    control_plane.resume(lambda plane: nodes.Api(plane).ready())


class Driver(SimulatedDriver):
    provides = [{"server_type": "vm", "os": "ubuntu", "coe": "kubernetes"}]
    CREATE_SECONDS = 5
    UPDATE_SECONDS = 5
    DELETE_SECONDS = 5

    START = ["certificates", "etcd", "api_server", "api_ready", "controllers", "node_objects"]

    def new_stack_id(self, cluster):
        return uuidutils.generate_uuid()

    def version(self, cluster):
        return "v1.20.2"

    def create_steps(self, cluster):
        servers = [["node", [group.uuid]] for group in cluster.nodegroups for _ in range(group.node_count)]
        start = [[name, []] for name in self.START]
        return [
            [0.05, "credential", []],
            [0.05, "network", []],
            *operations.spread(0.05, 0.3, servers),
            *operations.spread(0.3, 0.9, start),
        ]

    def resize_steps(self, cluster, group, named):
        return [*super().resize_steps(cluster, group, named), [0.95, "node_objects", []]]

    def create_nodegroup(self, context, cluster, nodegroup):
        self.may_raise(cluster, "update")
        nodegroup.stack_id = cluster.stack_id
        servers = operations.spread(0.1, 0.9, [["node", [nodegroup.uuid]]] * nodegroup.node_count)
        self.begin(cluster, "nodegroup", self.UPDATE_SECONDS, [*servers, [0.95, "node_objects", []]])

    def update_nodegroup(self, context, cluster, nodegroup):
        self.may_raise(cluster, "update")
        self.begin(cluster, "nodegroup", 2, [[0.5, "node_objects", []]])

    def delete_nodegroup(self, context, cluster, nodegroup):
        super().delete_nodegroup(context, cluster, nodegroup)
        with operations.locked(cluster.uuid):
            operation = operations.load(cluster.uuid)
            operation["steps"].append([0.95, "node_objects", []])
            operations.save(cluster.uuid, operation)

    def upgrade_cluster(self, *arguments, **more):
        raise exception.NotSupported("Upgrading a cluster is not supported by this driver: it has one build of Kubernetes.")

    def rotate_ca_certificate(self, context, cluster):
        """The conductor has made the new authorities already; the control plane is started again with them."""
        steps = [[name, []] for name in ["stop", *self.START]]
        self.begin(cluster, "rotate", self.UPDATE_SECONDS, operations.spread(0.1, 0.9, steps))

    def health(self, cluster, operation, servers):
        if not cluster.api_address:
            return "UNKNOWN", {"api": "The cluster is not accessible yet."}
        api = nodes.Api(ControlPlane(cluster.uuid))
        if not api.ready():
            return "UNHEALTHY", {"api": f"{cluster.api_address}/readyz does not answer."}
        return "HEALTHY", {"api": "ok", **{f"{name}.Ready": state for name, state in api.node_states().items()}}

    # -- steps

    def step_certificates(self, cluster):
        ControlPlane(cluster.uuid, cluster.name).write_certificates(cluster)

    def step_etcd(self, cluster):
        ControlPlane(cluster.uuid).start_etcd()

    def step_api_server(self, cluster):
        ControlPlane(cluster.uuid).start_api_server()

    def step_api_ready(self, cluster):
        """Returns False until the API server answers; raises when it has ended."""
        plane = ControlPlane(cluster.uuid)
        plane.ensure_running()
        if not nodes.Api(plane).ready():
            return False
        cluster.api_address = plane.url
        cluster.save()
        return True

    def step_controllers(self, cluster):
        ControlPlane(cluster.uuid).start_controllers()

    def step_node_objects(self, cluster):
        groups = {group.uuid: group for group in cluster.nodegroups}
        nodes.Api(ControlPlane(cluster.uuid)).sync(self.cloud(cluster).servers(), groups)

    def step_stop(self, cluster):
        ControlPlane(cluster.uuid).stop()

    def step_delete_nodes(self, cluster):
        ControlPlane(cluster.uuid).delete()
        super().step_delete_nodes(cluster)
