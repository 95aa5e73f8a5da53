"""Walks through the certificate API with the public Python client, as programs that import it do.

Prints one line of JSON for each step, and ends with status 0 when every step could be tried, whatever became of it: the reader
judges the lines. CHANCERY_ADDRESS and CHANCERY_TOKEN (of a site administrator) name the server.
"""

import json
import os
import secrets

import hvac
from hvac import exceptions

ADDRESS = os.environ["CHANCERY_ADDRESS"]
TOKEN = os.environ["CHANCERY_TOKEN"]


class Broken(Exception):
    """Thrown by a check that does not hold, and caught by the step it stands in."""


def connect(token=None):
    return hvac.Client(url=ADDRESS, token=token)


root = connect(TOKEN)
pki = root.secrets.pki


def equal(what, got, want):
    if got != want:
        raise Broken(f"{what} is {got!r} instead of {want!r}")


def is_true(what, holds):
    if not holds:
        raise Broken(f"not so: {what}")


def fails_with(kind, sentence, attempt):
    """With the client's own exception, and the sentences of the answer in it."""
    try:
        attempt()
    except exceptions.VaultError as error:
        equal("the exception", type(error), kind)
        is_true(f"{error.errors} has {sentence!r}", any(sentence in each for each in error.errors))
        return
    raise Broken(f"it did not end with {kind.__name__}")


def new_mount():
    path = f"pki-{secrets.token_hex(6)}"
    root.sys.enable_secrets_engine("pki", path=path, config={"max_lease_ttl": "87600h"})
    return path


def new_authority():
    """A mount whose root signs whatever is asked by the role "any"."""
    path = new_mount()
    pki.generate_root("internal", "Scenario Root", {"key_type": "ec", "ttl": "8760h"}, mount_point=path)
    pki.create_or_update_role("any", {"allow_any_name": True, "key_type": "ec"}, mount_point=path)
    return path


def blocks(text):
    return text.count("-----BEGIN ")


def connection():
    unnamed = connect()

    def health():
        equal("the status of HEAD", unnamed.sys.read_health_status().status_code, 200)
        equal("sealed", unnamed.sys.read_health_status(method="GET")["sealed"], False)
        equal("initialized", unnamed.sys.is_initialized(), True)
        equal("sealed", unnamed.sys.is_sealed(), False)
        equal("the seal", unnamed.seal_status["sealed"], False)

    def authenticated():
        equal("with a token", root.is_authenticated(), True)
        equal("without one", unnamed.is_authenticated(), False)
        equal("with a wrong one", connect("hvs.wrong").is_authenticated(), False)

    yield "asks for health, seal and whether it has been initialized", health
    yield "asks whether its token is good", authenticated


def mounts():
    path = new_mount()

    def listed():
        listing = root.sys.list_mounted_secrets_engines()
        equal("the type", listing["data"][f"{path}/"]["type"], "pki")

    def tuned():
        root.sys.tune_mount_configuration(path, default_lease_ttl="24h", description="tuned")
        data = root.sys.read_mount_configuration(path)["data"]
        equal("the usual time", data["default_lease_ttl"], 86_400)
        equal("the longest time", data["max_lease_ttl"], 315_360_000)
        equal("the description", data["description"], "tuned")

    def moved():
        root.sys.move_backend(path, f"{path}-moved")
        is_true("it is there", f"{path}-moved/" in root.sys.list_mounted_secrets_engines()["data"])
        root.sys.disable_secrets_engine(f"{path}-moved")
        is_true("it is gone", f"{path}-moved/" not in root.sys.list_mounted_secrets_engines()["data"])

    yield "mounts, and lists mounts", listed
    yield "tunes, and reads what holds", tuned
    yield "moves and unmounts", moved


def authorities():
    above, below = new_authority(), new_mount()

    def signed():
        request = pki.generate_intermediate("internal", "Scenario Intermediate", {"key_type": "ec"}, mount_point=below)
        answer = pki.sign_intermediate(
            request["data"]["csr"], "Scenario Intermediate", {"ttl": "4380h"}, mount_point=above
        )["data"]
        pki.set_signed_intermediate(f"{answer['certificate']}\n{answer['issuing_ca']}", mount_point=below)
        equal("how many issuers", len(pki.list_issuers(mount_point=below)["data"]["keys"]), 2)
        equal("how long the chain is", blocks(pki.read_ca_certificate_chain(mount_point=below)), 2)
        equal("the issuer", pki.read_ca_certificate(mount_point=below).strip(), answer["certificate"].strip())

    def settled():
        name = pki.read_issuer("default", mount_point=above)["data"]["issuer_id"]
        updated = pki.update_issuer(name, {"issuer_name": "renamed"}, mount_point=above)["data"]
        equal("the name", updated["issuer_name"], "renamed")
        pki.set_urls({"crl_distribution_points": [f"{ADDRESS}/v1/{above}/crl"]}, mount_point=above)
        urls = pki.read_urls(mount_point=above)["data"]
        equal("the lists", urls["crl_distribution_points"], [f"{ADDRESS}/v1/{above}/crl"])
        pki.set_crl_configuration(expiry="48h", disable=False, mount_point=above)
        equal("the time", pki.read_crl_configuration(mount_point=above)["data"]["expiry"], "48h")

    yield "has a root sign what another mount asks for, and sets it there", signed
    yield "names an issuer, and says where its lists are and how long they hold", settled


def certificates():
    mount = new_authority()

    def roles():
        role = {"allowed_domains": "example.com,example.net", "allow_subdomains": "true", "max_ttl": "72h", "key_type": "ec"}
        pki.create_or_update_role("web", role, mount_point=mount)
        data = pki.read_role("web", mount_point=mount)["data"]
        equal("the domains", data["allowed_domains"], ["example.com", "example.net"])
        equal("the longest time", data["max_ttl"], 259_200)
        equal("the roles", sorted(pki.list_roles(mount_point=mount)["data"]["keys"]), ["any", "web"])
        pki.delete_role("web", mount_point=mount)
        is_absent(lambda: pki.read_role("web", mount_point=mount))

    def issued():
        answer = pki.generate_certificate("any", "web.example.com", {"ttl": "24h"}, mount_point=mount)
        data = answer["data"]
        equal("the lease", answer["lease_id"], "")
        is_true("it ends", isinstance(data["expiration"], int))
        equal("the key", data["private_key_type"], "ec")
        serial = data["serial_number"]
        read = pki.read_certificate(serial, mount_point=mount)["data"]["certificate"]
        equal("the certificate", read.strip(), data["certificate"].strip())
        is_true("it is listed", serial in pki.list_certificates(mount_point=mount)["data"]["keys"])
        revoked = pki.revoke_certificate(serial, mount_point=mount)["data"]
        is_true("it tells when", revoked["revocation_time"] > 0)
        equal("rotated", pki.rotate_crl(mount_point=mount)["data"]["success"], True)
        is_true("there is a list", pki.read_crl(mount_point=mount).startswith("-----BEGIN X509 CRL-----"))

    def refused():
        role = {"allowed_domains": "example.com", "allow_subdomains": True, "key_type": "ec"}
        pki.create_or_update_role("strict", role, mount_point=mount)
        fails_with(
            exceptions.InvalidRequest,
            "common name web.example.org not allowed by this role",
            lambda: pki.generate_certificate("strict", "web.example.org", mount_point=mount),
        )
        fails_with(
            exceptions.Forbidden,
            "permission denied",
            lambda: connect().secrets.pki.list_certificates(mount_point=mount),
        )
        equal("what is read where nothing is", root.read(f"{mount}/roles/absent"), None)
        equal("what is listed where nothing is", root.list(f"{new_mount()}/roles"), None)

    yield "writes, reads, lists and deletes roles", roles
    yield "issues, reads, lists and revokes", issued
    yield "is refused by its own exceptions, and reads nothing where nothing is", refused


def is_absent(attempt):
    try:
        attempt()
    except exceptions.InvalidPath:
        return
    raise Broken("there is something")


def leases():
    mount = new_authority()
    role = {"allow_any_name": True, "key_type": "ec", "generate_lease": True, "ttl": "1h"}
    pki.create_or_update_role("leased", role, mount_point=mount)

    def issue():
        return pki.generate_certificate("leased", "leased.example.com", mount_point=mount)

    def one():
        lease = issue()["lease_id"]
        looked = root.sys.read_lease(lease)["data"]
        equal("the id", looked["id"], lease)
        equal("renewable", looked["renewable"], False)
        fails_with(exceptions.InvalidRequest, "lease is not renewable", lambda: root.sys.renew_lease(lease, 60))
        root.sys.revoke_lease(lease)
        fails_with(exceptions.InvalidRequest, "invalid lease", lambda: root.sys.read_lease(lease))

    def many():
        issue(), issue()
        equal("how many", len(root.sys.list_leases(f"{mount}/issue/leased")["data"]["keys"]), 2)
        root.sys.revoke_prefix(f"{mount}/issue/leased")
        issue()
        root.sys.revoke_force(f"{mount}/issue/leased")

    yield "looks at a lease, cannot renew it, and revokes it", one
    yield "lists leases, and asks that all of a role be revoked", many


def access():
    token = root.auth.token
    rules = {"path": {"pki/issue/*": {"capabilities": ["create", "update"]}}}
    name = f"policy-{secrets.token_hex(6)}"

    def policies():
        root.sys.create_or_update_policy(name, rules)
        equal("the policy", json.loads(root.sys.read_policy(name)["data"]["rules"]), rules)
        root.sys.create_or_update_acl_policy(name, rules)
        equal("the policy", json.loads(root.sys.read_acl_policy(name)["data"]["policy"]), rules)
        is_true("it is listed", name in root.sys.list_policies()["data"]["policies"])
        is_true("it is listed", name in root.sys.list_acl_policies()["data"]["keys"])

    def tokens():
        auth = token.create(policies=[name], ttl="30m", meta={"host": "web-1"})["auth"]
        own = connect(auth["client_token"])
        looked = own.auth.token.lookup_self()["data"]
        equal("the policies", looked["policies"], sorted(["default", name]))
        equal("the metadata", looked["meta"], {"host": "web-1"})
        granted = own.sys.get_capabilities(["pki/issue/web", "pki/roles/web"])["data"]
        equal("what is granted", granted["pki/issue/web"], ["create", "update"])
        equal("what is not", granted["pki/roles/web"], ["deny"])
        by_accessor = root.sys.get_capabilities(["pki/issue/web"], accessor=auth["accessor"])["data"]
        equal("the same by its accessor", by_accessor["pki/issue/web"], ["create", "update"])
        renewed = own.auth.token.renew_self(increment="2h")["auth"]
        is_true("it lasts longer", renewed["lease_duration"] > 7_100)
        equal("by accessor", token.lookup_accessor(auth["accessor"])["data"]["accessor"], auth["accessor"])
        is_true("it is listed", auth["accessor"] in token.list_accessors()["data"]["keys"])
        own.logout(revoke_token=True)
        equal("afterwards", connect(auth["client_token"]).is_authenticated(), False)

    def orphans():
        auth = token.create_orphan(ttl="10m")["auth"]
        equal("orphan", auth["orphan"], True)
        token.revoke_accessor(auth["accessor"])
        fails_with(exceptions.Forbidden, "bad token", lambda: token.lookup(auth["client_token"]))
        root.sys.delete_policy(name)
        is_absent(lambda: root.sys.read_acl_policy(name))

    yield "writes policies at both of their addresses", policies
    yield "has a token that looks at itself, is renewed and logs out", tokens
    yield "makes an orphan, ends it, and deletes the policy", orphans


def userpass():
    path = f"users-{secrets.token_hex(6)}"
    name = f"policy-{secrets.token_hex(6)}"
    method = root.auth.userpass

    def users():
        root.sys.create_or_update_policy(name, {"path": {"pki/issue/*": {"capabilities": ["update"]}}})
        root.sys.enable_auth_method("userpass", path=path)
        method.create_or_update_user("Web", password="first", policies=[name], mount_point=path)
        equal("the names", method.list_user(mount_point=path)["data"]["keys"], ["web"])
        user = method.read_user("web", mount_point=path)["data"]
        equal("the policies", user["token_policies"], [name])
        is_true("no password", not any("password" in member for member in user))

    def logins():
        client = connect()
        auth = client.auth.userpass.login("web", "first", mount_point=path)["auth"]
        equal("the policies", auth["policies"], sorted(["default", name]))
        equal("the metadata", auth["metadata"], {"username": "web"})
        is_true("the client has the token", client.is_authenticated())
        method.update_password_on_user("web", "second", mount_point=path)
        sentence = "invalid username or password"
        login = connect().auth.userpass.login
        fails_with(exceptions.InvalidRequest, sentence, lambda: login("web", "first", mount_point=path))
        fails_with(exceptions.InvalidRequest, sentence, lambda: login("other", "second", mount_point=path))
        login("web", "second", mount_point=path)

    def lockout():
        login = connect().auth.userpass.login
        for _ in range(5):
            fails_with(exceptions.InvalidRequest, "invalid", lambda: login("web", "third", mount_point=path))
        fails_with(exceptions.Forbidden, "permission denied", lambda: login("web", "second", mount_point=path))
        accessor = root.sys.list_auth_methods()["data"][f"{path}/"]["accessor"]
        root.write(f"sys/locked-users/{accessor}/unlock/web")
        login("web", "second", mount_point=path)
        method.delete_user("web", mount_point=path)
        is_absent(lambda: method.read_user("web", mount_point=path))
        root.sys.disable_auth_method(path)

    yield "creates a user and reads it without the password", users
    yield "logs in until the password is changed", logins
    yield "is locked after failures, unlocked and deleted", lockout


STORIES = {
    "connection": connection,
    "mounts": mounts,
    "authorities": authorities,
    "certificates": certificates,
    "leases": leases,
    "access": access,
    "userpass": userpass,
}


def attempt(act):
    try:
        act()
    except Exception as error:  # Whatever became of it is written down, and the scenario goes on.
        return f"{type(error).__name__}: {error}"
    return ""


def tell(scenario, steps):
    def step(name, act):
        detail = attempt(act)
        print(json.dumps({"scenario": scenario, "name": name, "ok": detail == "", "detail": detail}))

    def whole():
        for name, act in steps():
            step(name, act)

    # What stands outside of the steps is a step as well.
    step("is told to its end", whole)


for title, told in STORIES.items():
    tell(title, told)
