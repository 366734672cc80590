"""Certificates and keys for trying TLS with node authentication on one machine.

An authority signs the certificate of a server at 127.0.0.1; each node gets a key pair. Between real
machines use certificates of your own authority, made for the server's name; node keys are made the same way.
"""

import os
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_DAYS = 365
_USES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)


def make_keys(folder: Path, nodes: int) -> None:
    """Write ca.crt, server.pem, server.key and a key pair node0, node0.pub, ... for each node.

    Existing keys are never overwritten: the folder must be new or empty.
    """
    if nodes < 1:
        raise ValueError(f"--nodes must be at least 1, got {nodes}.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{str(folder)!r} is there already and not empty; name a new folder for the keys.")
    folder.mkdir(parents=True, exist_ok=True)
    authority, server = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    _write(folder / "ca.crt", _authority(authority).public_bytes(Encoding.PEM))
    _write(folder / "server.pem", _server(server.public_key(), authority).public_bytes(Encoding.PEM))
    _write(folder / "server.key", _secret(server, PrivateFormat.PKCS8), mode=0o600)
    for k in range(nodes):
        key = ec.generate_private_key(ec.SECP384R1())
        public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
        _write(folder / f"node{k}", _secret(key, PrivateFormat.OpenSSH), mode=0o600)
        _write(folder / f"node{k}.pub", public + b"\n")


def _authority(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    """Return the certificate of an authority that signs itself and no other authority."""
    uses = {use: use in ("key_cert_sign", "crl_sign") for use in _USES}
    draft = (
        _draft("tether test authority", key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.KeyUsage(**uses), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    return draft.sign(key, hashes.SHA256())


def _server(public: ec.EllipticCurvePublicKey, authority: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    """Return the certificate of a server on this machine."""
    names = [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key())
    draft = (
        _draft("127.0.0.1", public)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(issuer, critical=False)
    )
    return draft.sign(authority, hashes.SHA256())


def _draft(subject: str, public: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name("tether test authority"))
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(days=_DAYS))
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _secret(key: ec.EllipticCurvePrivateKey, form: PrivateFormat) -> bytes:
    return key.private_bytes(Encoding.PEM, form, NoEncryption())


def _write(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write a new file; a secret one is never readable by others, not even for a moment."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(data)
