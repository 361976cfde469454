"""etcd, kube-apiserver and kube-controller-manager of one cluster, in $PORTICO_MAGNUM_STATE/local/<uuid>."""

import fcntl
import glob
import json
import logging
import os
import shutil
import socket
import time

from magnum.common import context as magnum_context

from k8s_local import certificates, processes, webhook
from simulated.cloud import CloudError
from simulated.operations import state_directory

LOG = logging.getLogger(__name__)
PORTS = ("api", "etcd", "etcd_peer", "controllers")
MAX_CLUSTERS = 10
RESUME_SECONDS = 60
# Nodes are records without a heartbeat: what watches heartbeats would mark them as lost
CONTROLLERS = "*,-nodelifecycle,-nodeipam,-attachdetach,-ttl"


def _free(port):
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


class ControlPlane:
    """Settings (name, ports) are chosen once, with the first certificates."""

    def __init__(self, uuid, name=None):
        self.uuid = uuid
        self.root = os.path.join(state_directory(), "local")
        self.directory = os.path.join(self.root, uuid)
        self.pki = os.path.join(self.directory, "pki")
        self.programs = os.path.join(os.environ["PORTICO_KUBERNETES"], "bin")
        self.settings = self._load() or (self._choose(name) if name else None)

    def _load(self):
        try:
            with open(os.path.join(self.directory, "settings.json"), encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return None

    def _choose(self, name):
        os.makedirs(self.directory, exist_ok=True)
        with open(os.path.join(self.root, "lock"), "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            first = int(os.environ["PORTICO_LOCAL_PORTS"])
            used = set()
            for path in glob.glob(os.path.join(self.root, "*", "settings.json")):
                with open(path, encoding="utf-8") as file:
                    used.update(json.load(file)["ports"].values())
            for number in range(MAX_CLUSTERS):
                ports = range(first + number * len(PORTS), first + (number + 1) * len(PORTS))
                if used.isdisjoint(ports) and all(map(_free, ports)):
                    break
            else:
                raise CloudError(409, f"No valid host was found: this machine has room for {MAX_CLUSTERS} local clusters")
            settings = {"name": name, "ports": dict(zip(PORTS, ports, strict=True))}
            with open(os.path.join(self.directory, "settings.json"), "w", encoding="utf-8") as file:
                json.dump(settings, file)
        return settings

    @property
    def url(self):
        return f"https://127.0.0.1:{self.settings['ports']['api']}"

    def _process(self, name):
        return f"local/{self.uuid}/{name}"

    def _certificate(self, name):
        return os.path.join(self.pki, name)

    def write_certificates(self, cluster):
        os.makedirs(self.pki, exist_ok=True)
        admin = magnum_context.make_admin_context(all_tenants=True)
        certificates.write_all(cluster, admin, self.pki)

    def _launch(self, name, *arguments):
        program = os.path.join(self.programs, name)
        if not os.path.exists(program):
            raise CloudError(503, "Kubernetes is not built: run scripts/kubernetes/build.sh")
        # its start makes much garbage, and a cluster of a test lives for a minute or two
        processes.launch(self._process(name), [program, *arguments], {"GOGC": "200"})

    def start_etcd(self):
        ports = self.settings["ports"]
        client, peer = f"https://127.0.0.1:{ports['etcd']}", f"http://127.0.0.1:{ports['etcd_peer']}"
        self._launch(
            "etcd",
            f"--name={self.uuid}",
            f"--data-dir={self.directory}/etcd",
            "--logger=zap",
            "--log-level=warn",
            # nothing in it is worth a disk's wait
            "--unsafe-no-fsync",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster={self.uuid}={peer}",
            "--client-cert-auth",
            f"--trusted-ca-file={self._certificate('etcd-ca.crt')}",
            f"--cert-file={self._certificate('etcd.crt')}",
            f"--key-file={self._certificate('etcd.key')}",
        )

    def start_api_server(self):
        ports, certificate = self.settings["ports"], self._certificate
        self._launch(
            "kube-apiserver",
            "--bind-address=127.0.0.1",
            f"--secure-port={ports['api']}",
            "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none",
            "--profiling=false",
            f"--etcd-servers=https://127.0.0.1:{ports['etcd']}",
            f"--etcd-cafile={certificate('etcd-ca.crt')}",
            f"--etcd-certfile={certificate('etcd.crt')}",
            f"--etcd-keyfile={certificate('etcd.key')}",
            f"--tls-cert-file={certificate('apiserver.crt')}",
            f"--tls-private-key-file={certificate('apiserver.key')}",
            f"--client-ca-file={certificate('ca.crt')}",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={certificate('service-accounts.pub')}",
            f"--service-account-signing-key-file={certificate('service-accounts.key')}",
            f"--requestheader-client-ca-file={certificate('front-proxy-ca.crt')}",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={certificate('front-proxy-client.crt')}",
            f"--proxy-client-key-file={certificate('front-proxy-client.key')}",
            *webhook.write_files(os.path.join(self.directory, "portico"), self.uuid, self.pki),
        )

    def start_controllers(self):
        certificate, kubeconfig = self._certificate, os.path.join(self.directory, "controller-manager.kubeconfig")
        user = {"client-certificate": certificate("controller-manager.crt"), "client-key": certificate("controller-manager.key")}
        server = {"server": self.url, "certificate-authority": certificate("ca.crt")}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "local", "cluster": server}],
            "users": [{"name": "controllers", "user": user}],
            "contexts": [{"name": "local", "context": {"cluster": "local", "user": "controllers"}}],
            "current-context": "local",
        }
        certificates.write(kubeconfig, json.dumps(config))
        self._launch(
            "kube-controller-manager",
            "--bind-address=127.0.0.1",
            f"--secure-port={self.settings['ports']['controllers']}",
            "--port=0",
            "--leader-elect=false",
            "--profiling=false",
            f"--controllers={CONTROLLERS}",
            f"--tls-cert-file={certificate('controller-manager.crt')}",
            f"--tls-private-key-file={certificate('controller-manager.key')}",
            f"--kubeconfig={kubeconfig}",
            f"--authentication-kubeconfig={kubeconfig}",
            f"--authorization-kubeconfig={kubeconfig}",
            "--use-service-account-credentials=true",
            f"--service-account-private-key-file={certificate('service-accounts.key')}",
            f"--root-ca-file={certificate('ca.crt')}",
            f"--cluster-signing-cert-file={certificate('ca.crt')}",
            f"--cluster-signing-key-file={certificate('ca.key')}",
            f"--client-ca-file={certificate('ca.crt')}",
            f"--flex-volume-plugin-dir={self.directory}/volume-plugins",
        )

    def ensure_running(self):
        for name in ("etcd", "kube-apiserver"):
            if not processes.pid_of(self._process(name)):
                words = processes.last_line(self._process(name))
                raise CloudError(500, f"{name} has ended: {words}")

    def stop(self):
        processes.terminate(self._process("kube-controller-manager"), 3)
        processes.terminate(self._process("kube-apiserver"), 5)
        processes.terminate(self._process("etcd"), 5)

    def delete(self):
        self.stop()
        processes.forget(self._process(""))
        shutil.rmtree(self.directory, ignore_errors=True)

    def resume(self, is_ready):
        """Starts what ran before this machine or the stack was stopped; the controllers end without an API server."""
        if not os.path.exists(self._certificate("service-accounts.pub")):
            return
        self.start_etcd()
        self.start_api_server()
        deadline = time.monotonic() + RESUME_SECONDS
        while not is_ready(self):
            self.ensure_running()
            if time.monotonic() > deadline:
                raise CloudError(504, "the API server does not answer")
            time.sleep(0.5)
        self.start_controllers()


def resume(is_ready):
    """Starts the control planes of all clusters that were made before."""
    for path in glob.glob(os.path.join(state_directory(), "local", "*", "settings.json")):
        uuid = os.path.basename(os.path.dirname(path))
        try:
            ControlPlane(uuid).resume(is_ready)
        except (CloudError, OSError) as error:
            LOG.error("The local cluster %s could not be started: %s", uuid, error)
