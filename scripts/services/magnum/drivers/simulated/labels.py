"""Labels of a cluster that steer a simulated driver:

sim_seconds    how long an operation takes (default: CREATE_SECONDS … of the driver); sim_seconds_create and the like, of the
               kinds create, update, nodegroup, upgrade, rotate and delete, are for that operation only
sim_fail       operations that end in *_FAILED, such as create,delete
sim_raise      operations at which the driver raises at once, in the conductor
sim_stall      a step that is never finished, such as api_load_balancer or delete_network; with a kind
               before it, such as upgrade:replace_node, in that operation only
sim_script     JSON: [{"after": 3, "infrastructure": "Waiting on ..."}, {"after": 5, "group": "gpu",
               "status": "CREATE_FAILED", "reason": "..."}, {"after": 4, "api": true}]: words of the health report, states
               of node groups, and the address, at seconds after the start of an operation, until its end
sim_health     none: no health is reported; manual: what a client has set remains
sim_api        the api_address to report
sim_stack      the UUID of a Heat stack that a test has made, whose events belong to the cluster; k8s_sim_heat only
sim_workload   what Services and claims in the cluster have made by then: lbs,volumes
sim_leave      what a deletion leaves, whatever the driver would do: lbs,volumes
"""

import json
import time


class Labels:
    def __init__(self, cluster):
        self.values = cluster.labels or {}

    def get(self, name, default=None):
        return self.values.get(name, default)

    def set_of(self, name):
        return {part.strip() for part in self.values.get(name, "").split(",") if part.strip()}

    def seconds(self, kind, default):
        return float(self.values.get(f"sim_seconds_{kind}", self.values.get("sim_seconds", default)))

    def stalls_at(self, kind, step):
        return bool({step, f"{kind}:{step}"} & self.set_of("sim_stall"))

    def script(self, operation):
        """Returns the entries of sim_script whose time has come."""
        elapsed = time.time() - operation["started"]
        return [one for one in json.loads(self.values.get("sim_script") or "[]") if one.get("after", 0) <= elapsed]
