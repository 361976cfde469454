"""Certificates of a control plane, signed by the authorities that Magnum has made for the cluster."""

import datetime
import ipaddress
import os

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from magnum.conductor.handlers.common import cert_manager

USAGES = {"server": ExtendedKeyUsageOID.SERVER_AUTH, "client": ExtendedKeyUsageOID.CLIENT_AUTH}
DAYS = 800
SERVICE_ADDRESS = "10.96.0.1"
API_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")


def write(path, data):
    if isinstance(data, str):
        data = data.encode()
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)


def _pem(key):
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


class Authority:
    """A certificate and key, as PEM."""

    def __init__(self, certificate, key):
        self.certificate_pem = certificate if isinstance(certificate, bytes) else certificate.encode()
        key = key if isinstance(key, bytes) else key.encode()
        self.certificate = x509.load_pem_x509_certificate(self.certificate_pem)
        self.key = serialization.load_pem_private_key(key, password=None)

    def leaf(self, directory, name, subject, usages, alternatives=()):
        """Writes NAME.crt and NAME.key. Subject: pairs of an OID and text."""
        key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(oid, text) for oid, text in subject]))
            .issuer_name(self.certificate.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(minutes=5))
            .not_valid_after(now + datetime.timedelta(days=DAYS))
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([USAGES[usage] for usage in usages]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
        )
        if alternatives:
            builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        certificate = builder.sign(self.key, hashes.SHA256())
        write(os.path.join(directory, f"{name}.crt"), certificate.public_bytes(serialization.Encoding.PEM))
        write(os.path.join(directory, f"{name}.key"), _pem(key))


def _authority(cluster, context, kind):
    found = cert_manager.get_cluster_ca_certificate(cluster, context=context, ca_cert_type=kind)
    return Authority(found.get_certificate(), found.get_decrypted_private_key())


def write_all(cluster, context, directory):
    """Writes the authorities of Magnum's record, and what the control plane needs of them."""
    local = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    api = [x509.DNSName(name) for name in API_NAMES]
    api += [x509.IPAddress(ipaddress.ip_address(address)) for address in ("127.0.0.1", SERVICE_ADDRESS)]
    name, group = NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME
    kubernetes = _authority(cluster, context, "kubernetes")
    etcd = _authority(cluster, context, "etcd")
    front_proxy = _authority(cluster, context, "front-proxy")
    write(os.path.join(directory, "ca.crt"), kubernetes.certificate_pem)
    write(os.path.join(directory, "ca.key"), _pem(kubernetes.key))
    write(os.path.join(directory, "etcd-ca.crt"), etcd.certificate_pem)
    write(os.path.join(directory, "front-proxy-ca.crt"), front_proxy.certificate_pem)
    etcd.leaf(directory, "etcd", [(name, "etcd")], ["server", "client"], local)
    kubernetes.leaf(directory, "apiserver", [(name, "kube-apiserver")], ["server"], api)
    controllers = "system:kube-controller-manager"
    kubernetes.leaf(directory, "controller-manager", [(name, controllers)], ["server", "client"], local)
    kubernetes.leaf(directory, "driver", [(group, "system:masters"), (name, "magnum-driver")], ["client"])
    front_proxy.leaf(directory, "front-proxy-client", [(name, "front-proxy-client")], ["client"])
    accounts = os.path.join(directory, "service-accounts.key")
    if not os.path.exists(accounts):
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        write(accounts, _pem(key))
        public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        write(os.path.join(directory, "service-accounts.pub"), public)
