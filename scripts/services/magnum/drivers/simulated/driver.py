"""The driver that the simulated ones are made from: a cluster's operation is a list of steps with a time each, taken as the
conductor asks for the status. A step makes or removes records in the stand-in for the cloud, so that quotas are real limits.
"""

import time

from magnum.common import exception
from magnum.drivers.common import driver
from magnum.objects import fields

from simulated import operations
from simulated.cloud import Cloud, CloudError
from simulated.health import Health
from simulated.labels import Labels

STATUS = fields.ClusterStatus
PREFIX = {"create": "CREATE", "delete": "DELETE"}  # of a status; everything else is an update


class SimulatedDriver(driver.Driver):
    provides = [{"server_type": "vm", "os": os, "coe": "kubernetes"} for os in ("ubuntu", "fedora-coreos")]

    CREATE_SECONDS = 60
    UPDATE_SECONDS = 30
    DELETE_SECONDS = 15
    # whether an error ends the operation; else the step is tried again, without end
    FAILS = True
    # whether `create_timeout` ends a creation
    HONOURS_TIMEOUT = True
    HONOURS_NODES_TO_REMOVE = True
    # what happens to volumes that claims have made
    DELETES_VOLUMES = False
    # only the whole cluster is upgraded
    UPGRADES_ALL = False

    # -- what the conductor calls

    def create_cluster(self, context, cluster, cluster_create_timeout):
        self.may_raise(cluster, "create")
        cluster.stack_id = self.new_stack_id(cluster)
        steps = self.create_steps(cluster)
        self.begin(cluster, "create", self.CREATE_SECONDS, steps, timeout=60 * (cluster_create_timeout or 0))

    def update_cluster(self, context, cluster, scale_manager=None, rollback=False):
        self.may_raise(cluster, "update")
        group = cluster.default_ng_worker
        group.status = STATUS.UPDATE_IN_PROGRESS
        group.save()
        self.begin(cluster, "update", self.UPDATE_SECONDS, self.resize_steps(cluster, group, []))

    def resize_cluster(self, context, cluster, resize_manager, node_count, nodes_to_remove, nodegroup=None):
        self.may_raise(cluster, "update")
        group = nodegroup or cluster.default_ng_worker
        named = list(nodes_to_remove or []) if self.HONOURS_NODES_TO_REMOVE else []
        self.begin(cluster, "update", self.UPDATE_SECONDS, self.resize_steps(cluster, group, named))

    def upgrade_cluster(self, context, cluster, cluster_template, max_batch_size, nodegroup, scale_manager=None, rollback=False):
        self.may_raise(cluster, "update")
        version = (cluster_template.labels or {}).get("kube_tag") or self.version(cluster)
        groups = [one for one in cluster.nodegroups if self.UPGRADES_ALL or nodegroup.is_default or one.uuid == nodegroup.uuid]
        cluster.cluster_template_id = cluster_template.uuid
        cluster.labels = {**(cluster.labels or {}), "kube_tag": version}
        nodes = [
            ["replace_node", [group.uuid, server["id"], version]]
            for group in sorted(groups, key=lambda one: one.role != "master")
            for server in self.cloud(cluster).servers(group.uuid)
        ]
        for group in groups:
            if group.uuid != nodegroup.uuid:
                group.status = STATUS.UPDATE_IN_PROGRESS
                group.save()
        self.begin(cluster, "upgrade", self.UPDATE_SECONDS, operations.spread(0.05, 0.95, nodes))

    def delete_cluster(self, context, cluster):
        self.may_raise(cluster, "delete")
        for group in cluster.nodegroups:
            group.status = STATUS.DELETE_IN_PROGRESS
            group.save()
        names = ["delete_workload", "delete_nodes", "delete_api_load_balancer", "delete_network"]
        self.begin(cluster, "delete", self.DELETE_SECONDS, operations.spread(0.1, 0.9, [[name, []] for name in names]))

    def create_nodegroup(self, context, cluster, nodegroup):
        self.may_raise(cluster, "update")
        nodegroup.stack_id = cluster.stack_id
        steps = operations.spread(0.1, 0.9, [["node", [nodegroup.uuid]]] * nodegroup.node_count)
        self.begin(cluster, "nodegroup", self.UPDATE_SECONDS, steps)

    def update_nodegroup(self, context, cluster, nodegroup):
        self.may_raise(cluster, "update")
        self.begin(cluster, "nodegroup", 2, [])

    def delete_nodegroup(self, context, cluster, nodegroup):
        self.may_raise(cluster, "update")
        nodegroup.status = STATUS.DELETE_IN_PROGRESS
        nodegroup.save()
        nodes = [["remove_node", [nodegroup.uuid, one["id"]]] for one in self.cloud(cluster).servers(nodegroup.uuid)]
        self.begin(cluster, "nodegroup", self.UPDATE_SECONDS, operations.spread(0.1, 0.9, nodes))

    def create_federation(self, context, federation):
        raise exception.NotSupported("Federations are not supported by this driver.")

    update_federation = delete_federation = create_federation

    def get_monitor(self, context, cluster):
        return Health(context, cluster, self)

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        with operations.locked(cluster.uuid, wait=False) as taken:
            if not taken:
                return
            operation = operations.load(cluster.uuid)
            prefix = operation and PREFIX.get(operation["kind"], "UPDATE")
            # an operation may be recorded before or after the conductor has saved its status
            if operation and cluster.status == f"{prefix}_IN_PROGRESS":
                self.advance(cluster, operation, prefix)

    # -- operations

    def begin(self, cluster, kind, seconds, steps, **more):
        with operations.locked(cluster.uuid):
            recorded = operations.load(cluster.uuid)
            # the conductor takes a deletion while the cluster's creation is on the way here, which would replace it for good
            if kind == "create" and recorded and recorded["kind"] == "delete":
                return
            operations.begin(cluster.uuid, kind, Labels(cluster).seconds(kind, seconds), steps, **more)

    def may_raise(self, cluster, kind):
        if kind in Labels(cluster).set_of("sim_raise"):
            raise exception.MagnumException(message=f"The driver failed at once: {kind} (asked for by label sim_raise)")

    def advance(self, cluster, operation, prefix):
        elapsed = time.time() - operation["started"]
        labels = Labels(cluster)
        self.play_script(cluster, operation, labels)
        while operation["done"] < len(operation["steps"]):
            part, name, given = operation["steps"][operation["done"]]
            if elapsed < part * operation["seconds"] or labels.stalls_at(operation["kind"], name):
                break
            try:
                if getattr(self, f"step_{name}")(cluster, *given) is False:
                    # it waits for something; the step is tried again
                    break
            except CloudError as error:
                if self.FAILS:
                    self.fail(cluster, operation, prefix, name, given, str(error))
                    return
                operation["blocked"] = [name, str(error)]
                operations.save(cluster.uuid, operation)
                break
            operation["done"] += 1
            operation["blocked"] = None
            operations.save(cluster.uuid, operation)
        if self.HONOURS_TIMEOUT and 0 < operation.get("timeout", 0) < elapsed:
            self.fail(cluster, operation, prefix, "timeout", [], "Timed out")
        elif operation["done"] == len(operation["steps"]) and elapsed >= operation["seconds"]:
            self.finish(cluster, operation, prefix, labels)

    def finish(self, cluster, operation, prefix, labels):
        if operation["kind"] in labels.set_of("sim_fail") or prefix.lower() in labels.set_of("sim_fail"):
            reason = "Quota exceeded for cores: Requested 2, but already used 20 of 20 cores (asked for by label sim_fail)"
            if not self.FAILS:
                return
            self.fail(cluster, operation, prefix, "sim_fail", [cluster.default_ng_worker.uuid], reason)
            return
        failed = [one for one in cluster.nodegroups if one.status and one.status.endswith("FAILED")]
        if failed and prefix == "CREATE" and self.FAILS:
            self.fail(cluster, operation, prefix, "nodegroup", [], failed[0].status_reason or "A node group failed")
            return
        for group in cluster.nodegroups:
            self.finish_group(cluster, group, prefix)
        cluster.status = f"{prefix}_COMPLETE"
        cluster.status_reason = None
        if prefix != "DELETE":
            cluster.coe_version = self.version(cluster)
            cluster.container_version = "1.7.22"
        cluster.save()
        # the conductor can save UPDATE_IN_PROGRESS before the next operation is recorded, which this one would end at once
        operations.remove(cluster.uuid)

    def finish_group(self, cluster, group, prefix):
        if group.status == STATUS.DELETE_IN_PROGRESS and prefix != "DELETE":
            group.destroy()
            return
        if group.status is None or group.status.endswith("IN_PROGRESS"):
            group.status = f"{(group.status or prefix).split('_')[0]}_COMPLETE"
            group.status_reason = None
            group.save()

    def fail(self, cluster, operation, prefix, step, given, reason):
        """Ends an operation: of its node groups, the one that the step was for fails with the reason."""
        reason = self.failure(cluster, step, given, reason)
        for group in cluster.nodegroups:
            own = given and given[0] == group.uuid
            if own or (group.status and group.status.endswith("IN_PROGRESS")):
                own = own or not given
                group.status = f"{group.status.split('_')[0]}_{'FAILED' if own else 'COMPLETE'}"
                group.status_reason = reason if own else None
                group.save()
        operation["steps"] = operation["steps"][: operation["done"]]
        operations.save(cluster.uuid, operation)
        cluster.status = f"{prefix}_FAILED"
        cluster.status_reason = reason
        cluster.save()

    def play_script(self, cluster, operation, labels):
        for entry in labels.script(operation):
            if entry.get("api") and not cluster.api_address:
                cluster.api_address = labels.get("sim_api", "https://192.0.2.10:6443")
                cluster.save()
            for group in cluster.nodegroups:
                if entry.get("group") == group.name and group.status != entry["status"]:
                    group.status, group.status_reason = entry["status"], entry.get("reason")
                    group.save()

    # -- what differs between drivers

    def new_stack_id(self, cluster):
        raise NotImplementedError

    def failure(self, cluster, step, given, reason):
        """Returns the reason in the driver's form."""
        return reason

    def version(self, cluster):
        return (cluster.labels or {}).get("kube_tag") or "v1.31.4"

    def health(self, cluster, operation, servers):
        """Returns status and reasons."""
        unfinished = operation and operation["kind"] == "create" and operation["done"] < len(operation["steps"])
        if unfinished or not cluster.api_address or cluster.status == STATUS.CREATE_FAILED:
            return "UNKNOWN", {"api": "The cluster is not accessible."}
        return "HEALTHY", {"api": "ok", **{f"{one['name']}.Ready": "True" for one in servers}}

    # -- steps

    def cloud(self, cluster):
        return Cloud(cluster)

    def create_steps(self, cluster):
        masters, workers = [], []
        for group in cluster.nodegroups:
            nodes = masters if group.role == "master" else workers
            nodes += [["node", [group.uuid]]] * group.node_count
        return [
            [0.05, "credential", []],
            [0.15, "network", []],
            [0.3, "api_load_balancer", []],
            *operations.spread(0.4, 0.65, masters),
            *operations.spread(0.65, 0.9, workers),
            [0.92, "addons", []],
        ]

    def resize_steps(self, cluster, group, named):
        """Adds what is missing, or removes the named servers and then the newest."""
        servers = self.cloud(cluster).servers(group.uuid)
        missing = group.node_count - len(servers)
        if missing >= 0:
            nodes = [["node", [group.uuid]]] * missing
        else:
            last = [one for one in servers if one["id"] in named]
            servers = [one for one in servers if one not in last] + last
            nodes = [["remove_node", [group.uuid, one["id"]]] for one in servers[missing:]]
        return operations.spread(0.2, 0.9, nodes)

    def step_credential(self, cluster):
        pass

    def step_network(self, cluster):
        self.cloud(cluster).create_network()

    def step_api_load_balancer(self, cluster):
        if cluster.api_address:
            return
        cloud = self.cloud(cluster)
        if cluster.master_lb_enabled:
            address = cloud.create_balancer(f"{cloud.prefix}-api", cloud.mark)
        else:
            address = cloud.create_address()
        cluster.api_address = Labels(cluster).get("sim_api", f"https://{address}:6443")
        cluster.save()

    def group(self, cluster, identity):
        return next((one for one in cluster.nodegroups if one.uuid == identity), None)

    def step_node(self, cluster, identity):
        group = self.group(cluster, identity)
        cloud = self.cloud(cluster)
        cloud.create_server(group, self.version(cluster))
        self.note_addresses(cloud, group)
        if cluster.status == STATUS.CREATE_IN_PROGRESS and len(group.node_addresses) == group.node_count:
            group.status = STATUS.CREATE_COMPLETE
            group.save()

    def step_remove_node(self, cluster, identity, server):
        cloud = self.cloud(cluster)
        cloud.delete_server(server)
        self.note_addresses(cloud, self.group(cluster, identity))

    def step_replace_node(self, cluster, identity, server, version):
        """Adds a node of the new version, and then removes the old one: for a moment both count against the quota."""
        cloud, group = self.cloud(cluster), self.group(cluster, identity)
        cloud.create_server(group, version)
        cloud.delete_server(server)
        group.version = version
        group.save()
        self.note_addresses(cloud, group)

    def note_addresses(self, cloud, group):
        group.node_addresses = [next(iter(one["addresses"].values()))[0]["addr"] for one in cloud.servers(group.uuid)]
        group.save()

    def step_addons(self, cluster):
        self.cloud(cluster).create_workload(Labels(cluster).set_of("sim_workload"))

    def step_delete_workload(self, cluster):
        cloud, leave = self.cloud(cluster), Labels(cluster).set_of("sim_leave")
        cloud.delete_balancers(keep=lambda name: "lbs" in leave or not name.startswith("kube_service_"))
        if self.DELETES_VOLUMES and "volumes" not in leave:
            cloud.delete_volumes()

    def step_delete_nodes(self, cluster):
        cloud = self.cloud(cluster)
        for one in cloud.servers():
            cloud.delete_server(one["id"])

    def step_delete_api_load_balancer(self, cluster):
        self.cloud(cluster).delete_balancers(keep=lambda name: name.startswith("kube_service_"))

    def step_delete_network(self, cluster):
        self.cloud(cluster).delete_network()
