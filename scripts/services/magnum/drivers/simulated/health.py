"""The health report of a simulated cluster, as the conductor polls it."""

from magnum.conductor import monitors

from simulated import operations
from simulated.cloud import CloudError
from simulated.labels import Labels


class Health(monitors.MonitorBase):
    def __init__(self, context, cluster, driver):
        super().__init__(context, cluster)
        self.driver = driver
        self.data = {}

    metrics_spec = {}

    def pull_data(self):
        pass

    def poll_health_status(self):
        """Sets `data`, which the conductor saves; nothing where the report is as before, or the labels ask for none."""
        labels = Labels(self.cluster)
        if labels.get("sim_health") in ("none", "manual"):
            return
        operation = operations.load(self.cluster.uuid)
        try:
            servers = self.driver.cloud(self.cluster).servers()
        except CloudError as error:
            status, reason = "UNKNOWN", {"api": str(error)}
        else:
            status, reason = self.driver.health(self.cluster, operation, servers)
        under_way = operation and self.cluster.status.endswith("IN_PROGRESS")
        for entry in labels.script(operation) if under_way else []:
            more = {name: text for name, text in entry.items() if name not in ("after", "api", "group", "status", "reason")}
            reason = {**reason, **more}
            status = "UNHEALTHY" if more else status
        if (status, reason) != (self.cluster.health_status, self.cluster.health_status_reason):
            self.data = {"health_status": status, "health_status_reason": reason}
