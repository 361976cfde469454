"""The token webhook's files for one API server, as those of a cluster that users enrol: a kubeconfig of kube-auth's address for
this cluster, and a client certificate of the cluster's own authority (docs/adr/0022-enrolment.md). kube-auth refuses it until the
cluster is enrolled.
"""

import base64
import json
import os

from cryptography.x509.oid import NameOID

from k8s_local.certificates import Authority, write

INSTALLATION = os.environ.get("PORTICO_INSTALLATION", "")
URL = os.environ.get("PORTICO_KUBE_AUTH_URL", "")


def _read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def write_files(directory, uuid, pki):
    """Writes the files again if kube-auth's authority, or the cluster's, has changed. `pki` is the directory with the cluster's
    authority. Returns the API server's flags: none when this stack has no installation of Portico."""
    try:
        servers_ca = _read(INSTALLATION, "tls", "ca.crt")
    except OSError:
        return []
    authority = Authority(_read(pki, "ca.crt"), _read(pki, "ca.key"))
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, "webhook.kubeconfig")
    signed_by = os.path.join(directory, "signed-by.crt")
    wanted = servers_ca + authority.certificate_pem + URL.encode()
    try:
        with open(signed_by, "rb") as file:
            current = file.read() == wanted
    except FileNotFoundError:
        current = False
    if not current:
        # nothing that it names counts, only who issued it
        authority.leaf(directory, "portico-webhook", [(NameOID.COMMON_NAME, "kube-apiserver-portico")], ["client"])
        # JSON is YAML
        write(path, json.dumps(_kubeconfig(uuid, servers_ca), indent=2))
        write(signed_by, wanted)
    return [
        f"--authentication-token-webhook-config-file={path}",
        "--authentication-token-webhook-version=v1",
        "--authentication-token-webhook-cache-ttl=10s",
    ]


def _kubeconfig(uuid, servers_ca):
    server = {
        "server": f"{URL}/clusters/{uuid}/tokenreview",
        "certificate-authority-data": base64.b64encode(servers_ca).decode(),
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "portico", "cluster": server}],
        "users": [
            {
                "name": "kube-apiserver",
                "user": {"client-certificate": "portico-webhook.crt", "client-key": "portico-webhook.key"},
            }
        ],
        "contexts": [{"name": "portico", "context": {"cluster": "portico", "user": "kube-apiserver"}}],
        "current-context": "portico",
    }
