"""Node objects for the servers of a cluster: what a kubelet would have registered."""

import datetime

import requests

TIMEOUT = 5


class Api:
    """The cluster's API server, with the driver's client certificate."""

    def __init__(self, plane):
        self.url = plane.url if plane.settings else None
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.cert = (f"{plane.pki}/driver.crt", f"{plane.pki}/driver.key")
        self.session.verify = f"{plane.pki}/ca.crt"

    def ready(self):
        try:
            return self.url is not None and self.session.get(f"{self.url}/readyz", timeout=TIMEOUT).status_code == 200
        except (requests.RequestException, OSError):
            return False

    def nodes(self):
        answer = self.session.get(f"{self.url}/api/v1/nodes", timeout=TIMEOUT)
        answer.raise_for_status()
        return {node["metadata"]["name"]: node for node in answer.json()["items"]}

    def node_states(self):
        return {
            name: next((one["status"] for one in node["status"].get("conditions", []) if one["type"] == "Ready"), "Unknown")
            for name, node in self.nodes().items()
        }

    def sync(self, servers, groups):
        """Makes a Node of each server, and removes those without one."""
        existing = self.nodes()
        wanted = {server["name"].lower(): server for server in servers}
        for name in existing.keys() - wanted.keys():
            self.session.delete(f"{self.url}/api/v1/nodes/{name}", timeout=TIMEOUT)
        for name, server in wanted.items():
            group = groups.get(server["metadata"]["nodegroup"])
            if name not in existing:
                self.create(name, server, group)
            elif group is not None and not group.is_default:
                self.session.patch(
                    f"{self.url}/api/v1/nodes/{name}",
                    json={"metadata": {"labels": labels(server, group)}, "spec": {"taints": taints(group)}},
                    headers={"content-type": "application/merge-patch+json"},
                    timeout=TIMEOUT,
                )

    def create(self, name, server, group):
        node = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels(server, group)}},
            "spec": {"providerID": f"openstack:///{server['id']}", "taints": taints(group)},
        }
        created = self.session.post(f"{self.url}/api/v1/nodes", json=node, timeout=TIMEOUT)
        created.raise_for_status()
        node = created.json()
        node["status"] = status(name, server)
        # the API server adds a taint until a node is ready
        self.session.put(f"{self.url}/api/v1/nodes/{name}/status", json=node, timeout=TIMEOUT).raise_for_status()
        self.session.patch(
            f"{self.url}/api/v1/nodes/{name}",
            json={"spec": {"taints": taints(group)}},
            headers={"content-type": "application/merge-patch+json"},
            timeout=TIMEOUT,
        ).raise_for_status()


def labels(server, group):
    own = dict(group.node_labels or {}) if group is not None else {}
    role = server["metadata"]["role"]
    return {
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "node.kubernetes.io/instance-type": server["flavor"]["original_name"],
        "topology.kubernetes.io/zone": server["OS-EXT-AZ:availability_zone"],
        f"node-role.kubernetes.io/{role}": "",
        # there is no machine and no kubelet
        "portico.dev/stand-in": "true",
        **own,
    }


def taints(group):
    if group is None:
        return []
    if group.role == "master":
        return [{"key": "node-role.kubernetes.io/master", "effect": "NoSchedule"}]
    return [dict(one) for one in group.node_taints or []]


def status(name, server):
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    size = {"cpu": str(server["flavor"]["vcpus"]), "memory": f"{server['flavor']['ram']}Mi", "pods": "110"}
    address = next(iter(server["addresses"].values()))[0]["addr"]
    condition = {
        "type": "Ready",
        "status": "True",
        "reason": "StandIn",
        "message": "a record without a kubelet",
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }
    return {
        "capacity": size,
        "allocatable": size,
        "conditions": [condition],
        "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}],
        "nodeInfo": {
            "kubeletVersion": "v1.20.2",
            "kubeProxyVersion": "v1.20.2",
            "osImage": "stand-in",
            "containerRuntimeVersion": "stand-in://1",
            "kernelVersion": "0",
            "operatingSystem": "linux",
            "architecture": "amd64",
            "machineID": server["id"],
            "systemUUID": server["id"],
            "bootID": server["id"],
        },
    }
