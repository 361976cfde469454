"""The records of the stand-in, in a JSON file that is written after each change, and the quotas of projects."""

import json
import os
import threading
import uuid

COLLECTIONS = (
    "servers",
    "networks",
    "subnets",
    "routers",
    "security_groups",
    "ports",
    "floating_ips",
    "load_balancers",
    "volumes",
    "snapshots",
)

# what a project may have, unless an administrator has set something else
DEFAULT_QUOTA = {
    "instances": 20,
    "cores": 32,
    "ram": 98304,
    "key_pairs": 100,
    "server_groups": 10,
    "server_group_members": 10,
    "network": 10,
    "subnet": 10,
    "router": 10,
    "port": 100,
    "floatingip": 10,
    "security_group": 20,
    "security_group_rule": 200,
    "volumes": 20,
    "gigabytes": 1000,
    "snapshots": 10,
    "per_volume_gigabytes": -1,
    "loadbalancer": 8,
    "listener": 40,
    "member": 100,
    "pool": 40,
    "healthmonitor": 40,
}


class State:
    """Collections of records by ID. All of it under one lock, which the server takes for each request."""

    def __init__(self, path):
        self.path = path
        self.lock = threading.RLock()
        self.faults = []
        self.data = {name: {} for name in COLLECTIONS}
        self.data.update(quotas={}, keypairs={}, next_address=10)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.data.update(json.load(file))

    def save(self):
        with open(os.open(self.path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(self.data, file)
        os.replace(self.path + ".new", self.path)

    def of(self, collection, project=None):
        """Returns the records of a collection: those of a project, or all."""
        records = self.data[collection].values()
        return [one for one in records if project is None or one["project_id"] == project]

    def find(self, collection, identity, project=None):
        """Returns a record by ID, or None; a record of another project is not found."""
        record = self.data[collection].get(identity)
        return record if record and (project is None or record["project_id"] == project) else None

    def add(self, collection, record):
        record.setdefault("id", str(uuid.uuid4()))
        self.data[collection][record["id"]] = record
        self.save()
        return record

    def remove(self, collection, identity):
        self.data[collection].pop(identity, None)
        self.save()

    def address(self, network):
        """Returns the next address of a /16 that is never routed: 198.18 (RFC 2544) public, 10.0 inside."""
        self.data["next_address"] += 1
        number = self.data["next_address"]
        return f"{network}.{number // 250 % 250}.{number % 250 + 1}"

    def quota(self, project):
        return {**DEFAULT_QUOTA, **self.data["quotas"].get(project, {})}

    def set_quota(self, project, values):
        self.data["quotas"].setdefault(project, {}).update(values)
        self.save()

    def usage(self, project, flavors):
        """Returns what a project uses now, by the names of DEFAULT_QUOTA."""
        servers = self.of("servers", project)
        volumes = self.of("volumes", project)
        sizes = [flavors[one["flavor"]] for one in servers]
        return {
            **dict.fromkeys(DEFAULT_QUOTA, 0),
            "instances": len(servers),
            "cores": sum(one["vcpus"] for one in sizes),
            "ram": sum(one["ram"] for one in sizes),
            "network": len(self.of("networks", project)),
            "subnet": len(self.of("subnets", project)),
            "router": len(self.of("routers", project)),
            "port": len(self.of("ports", project)) + len(servers),
            "floatingip": len(self.of("floating_ips", project)),
            "security_group": len(self.of("security_groups", project)) + 1,
            "volumes": len(volumes),
            "gigabytes": sum(one["size"] for one in volumes),
            "snapshots": len(self.of("snapshots", project)),
            "loadbalancer": len(self.of("load_balancers", project)),
        }
