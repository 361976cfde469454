"""A cluster's records in the stand-in for the cloud, through the APIs that a driver would use."""

import json
import os
import urllib.error
import urllib.request


class CloudError(Exception):
    """A refusal by a service, with its own words."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def _message(body):
    """Returns the text of an error: each service has its own form."""
    try:
        about = json.loads(body)
    except ValueError:
        return body.decode(errors="replace")[:300]
    if "faultstring" in about:
        return about["faultstring"]
    inner = next(iter(about.values()), {}) if isinstance(about, dict) else {}
    return inner.get("message", str(about)) if isinstance(inner, dict) else str(about)


class Cloud:
    """The resources of one cluster: they carry its UUID, as `cluster` in metadata or in the description."""

    def __init__(self, cluster):
        self.url = os.environ["PORTICO_CLOUD_URL"]
        with open(os.environ["PORTICO_CLOUD_KEY_FILE"], encoding="utf-8") as file:
            self.key = file.read().strip()
        self.cluster = cluster
        self.mark = f"Kubernetes cluster {cluster.uuid}"
        self.prefix = f"{cluster.name}-{cluster.uuid[:8]}"

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, method=method, data=data)
        request.add_header("content-type", "application/json")
        request.add_header("x-stand-in-key", self.key)
        request.add_header("x-stand-in-project", self.cluster.project_id)
        request.add_header("x-stand-in-user", self.cluster.user_id)
        try:
            with urllib.request.urlopen(request, timeout=20) as response:
                answer = response.read()
                return json.loads(answer) if answer else None
        except urllib.error.HTTPError as error:
            raise CloudError(error.code, _message(error.read())) from None
        except OSError as error:
            raise CloudError(503, f"the cloud does not answer: {error}") from None

    # -- servers

    def servers(self, group=None):
        """Returns the cluster's servers, or those of a node group, the oldest first."""
        found = [
            one
            for one in self.call("GET", "/compute/v2.1/servers/detail")["servers"]
            if one["metadata"].get("cluster") == self.cluster.uuid and group in (None, one["metadata"].get("nodegroup"))
        ]
        return sorted(found, key=lambda one: int(one["metadata"]["number"]))

    def create_server(self, group, version):
        number = 1 + max((int(one["metadata"]["number"]) for one in self.servers(group.uuid)), default=-1)
        metadata = {"cluster": self.cluster.uuid, "nodegroup": group.uuid, "role": group.role, "number": str(number)}
        body = {
            "name": f"{self.prefix}-{group.name}-{number}",
            "flavorRef": group.flavor_id,
            "imageRef": group.image_id,
            "key_name": self.cluster.keypair,
            "metadata": {**metadata, "kube_version": version},
            "availability_zone": (self.cluster.labels or {}).get("availability_zone"),
            "network": self.prefix,
        }
        return self.call("POST", "/compute/v2.1/servers", {"server": body})["server"]

    def delete_server(self, identity):
        self.delete(f"/compute/v2.1/servers/{identity}")

    def delete(self, path):
        """Deletes what may be gone already."""
        try:
            self.call("DELETE", path)
        except CloudError as error:
            if error.status != 404:
                raise

    # -- network

    def own(self, kind, collection):
        found = self.call("GET", f"/network/v2.0/{kind}")[collection]
        return [one for one in found if one.get("description") == self.mark]

    def create_network(self):
        if self.cluster.fixed_network or self.own("networks", "networks"):
            return
        about = {"name": self.prefix, "description": self.mark}
        network = self.call("POST", "/network/v2.0/networks", {"network": about})["network"]
        subnet = {"name": self.prefix, "network_id": network["id"], "cidr": "10.0.0.0/24", "ip_version": 4}
        self.call("POST", "/network/v2.0/subnets", {"subnet": subnet})
        self.call("POST", "/network/v2.0/routers", {"router": about})
        self.call("POST", "/network/v2.0/security-groups", {"security_group": about})

    def delete_network(self):
        for kind, collection in (("security-groups", "security_groups"), ("routers", "routers"), ("networks", "networks")):
            for one in self.own(kind, collection):
                self.delete(f"/network/v2.0/{kind}/{one['id']}")

    # -- load balancers and addresses

    def balancers(self):
        """Returns the cluster's load balancers: the API's, and those of its Services."""
        found = self.call("GET", "/load-balancer/v2/lbaas/loadbalancers")["loadbalancers"]
        return [one for one in found if self.cluster.uuid in one["name"] + one["description"]]

    def create_balancer(self, name, description):
        """Returns the public address of a new load balancer."""
        body = {"loadbalancer": {"name": name, "description": description}}
        balancer = self.call("POST", "/load-balancer/v2/lbaas/loadbalancers", body)["loadbalancer"]
        address = {"description": description, "port_id": balancer["vip_port_id"], "fixed_ip_address": balancer["vip_address"]}
        return self.call("POST", "/network/v2.0/floatingips", {"floatingip": address})["floatingip"]["floating_ip_address"]

    def create_address(self):
        body = {"description": self.mark}
        return self.call("POST", "/network/v2.0/floatingips", {"floatingip": body})["floatingip"]["floating_ip_address"]

    def delete_balancers(self, keep):
        """Deletes load balancers and their floating IPs, except those of which `keep(name)` holds."""
        addresses = self.call("GET", "/network/v2.0/floatingips")["floatingips"]
        for balancer in self.balancers():
            if keep(balancer["name"]):
                continue
            for one in addresses:
                if one.get("port_id") == balancer["vip_port_id"]:
                    self.delete(f"/network/v2.0/floatingips/{one['id']}")
            self.delete(f"/load-balancer/v2/lbaas/loadbalancers/{balancer['id']}")
        for one in addresses:
            if one.get("description") == self.mark and not one.get("port_id"):
                self.delete(f"/network/v2.0/floatingips/{one['id']}")

    # -- what workloads in the cluster would have made

    def volumes(self):
        found = self.call("GET", f"/volume/v3/{self.cluster.project_id}/volumes/detail")["volumes"]
        return [one for one in found if one["metadata"].get("cinder.csi.openstack.org/cluster") == self.cluster.uuid]

    def create_workload(self, kinds):
        """Makes what a Service of type LoadBalancer and two PersistentVolumeClaims would have made."""
        if "lbs" in kinds:
            name = f"kube_service_{self.cluster.uuid}_shop_storefront"
            self.create_balancer(name, f"Kubernetes external service shop/storefront from cluster {self.cluster.uuid}")
        if "volumes" in kinds:
            for claim, size in (("data-postgres-0", 20), ("uploads", 50)):
                metadata = {"cinder.csi.openstack.org/cluster": self.cluster.uuid}
                metadata.update({"csi.storage.k8s.io/pvc/namespace": "shop", "csi.storage.k8s.io/pvc/name": claim})
                name = f"pvc-{self.cluster.uuid[:8]}-{claim}"
                volume = {
                    "name": name,
                    "size": size,
                    "metadata": metadata,
                    "description": "Created by OpenStack Cinder CSI driver",
                }
                self.call("POST", f"/volume/v3/{self.cluster.project_id}/volumes", {"volume": volume})

    def delete_volumes(self):
        for one in self.volumes():
            self.delete(f"/volume/v3/{self.cluster.project_id}/volumes/{one['id']}")
