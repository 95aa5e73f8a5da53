// Issuers, ClusterIssuers, roles and mounts in a cluster: the namespaces that may use them, and their ACME, EST and role settings.
import { describe, expect, test } from "vitest"
import {
  actor,
  api,
  apply,
  crt,
  dayMs,
  programs,
  reasons,
  setUp,
  useCertificateFixture,
  text,
  url,
  testEngine,
} from "./certificates-fixture.ts"

describe.skipIf(programs === undefined)("issuers in a cluster", () => {
  useCertificateFixture()

  test("of a ClusterIssuer are issued where its connection permits", async () => {
    const { certificate, wait, crt: shown } = await setUp("allowed")
    await setUp("elsewhere")
    await apply(
      {
        apiVersion: api,
        kind: "ClusterConnection",
        metadata: { name: "narrow" },
        spec: { baseURL: url, tokenSecretRef: { name: "engine" }, allowedNamespaces: { matchNames: ["allowed"] } },
      },
      {
        apiVersion: api,
        kind: "ClusterIssuer",
        metadata: { name: "shared" },
        spec: {
          connectionRef: { kind: "ClusterConnection", name: "narrow" },
          mount: "allowed",
          defaultRole: "any",
          pathMode: "PathOverride",
        },
      },
    )
    const issuerRef = { kind: "ClusterIssuer", name: "shared" }
    await apply(certificate("web", { issuerRef }), actor("elsewhere").certificate("web", { issuerRef }))
    await wait(crt, "web", "Ready")
    expect(reasons(await shown("web"))).toEqual(["Ready=True Issued"])
    await actor("elsewhere").wait(crt, "web", "Stalled")
    expect(reasons(await actor("elsewhere").crt("web"))).toContain("Stalled=True NamespaceNotAllowed")
  })

  test("serve ACME clients when an Issuer enables it, with a binding token in a Secret that is recreated after deletion", async () => {
    const { issuer, wait, shown, secret, kubectl } = await setUp("offering")
    await apply(issuer("ca", { acme: { eabPolicy: "NewAccountRequired", eabSecretName: "eab" } }))
    await wait("issuers.chancery.dev", "ca", "AcmeOffered=False")
    expect(reasons(await shown("issuers.chancery.dev", "ca"))).toEqual([
      "Ready=True AuthorityFound",
      "AcmeOffered=False EngineRefused",
    ])
    const config = { allowedResponseHeaders: ["Location", "Replay-Nonce", "Link"] }
    await testEngine.engine.mounts.tune("offering", { config })
    await testEngine.engine.pki("offering").settings.changeCluster({ path: "https://ca.example.com/v1/offering" })
    await actor("offering").ask("issuers.chancery.dev", "ca")
    await wait("issuers.chancery.dev", "ca", "AcmeOffered")
    const directory = "https://ca.example.com/v1/offering/acme/directory"
    expect((await shown("issuers.chancery.dev", "ca")).status["acmeDirectory"]).toBe(directory)
    const token = await secret("eab")
    expect(text(token, "directory")).toBe(directory)
    const answer = await fetch(`${url}/v1/offering/acme/directory`)
    const { meta } = (await answer.json()) as { meta: { externalAccountRequired: boolean } }
    expect(meta.externalAccountRequired).toBe(true)
    const waiting = async () => (await testEngine.engine.acme("offering").eab.list()).map(({ id }) => id)
    expect(await waiting()).toEqual([text(token, "kid")])
    await kubectl(["delete", "secret", "eab", "-n", "offering"])
    await expect.poll(async () => (await waiting()).length).toBe(2)
    await expect.poll(() => kubectl(["get", "secrets", "-n", "offering", "-o", "name"])).toContain("secret/eab")
    expect(text(await secret("eab"), "kid")).not.toBe(text(token, "kid"))
  })

  test("serve devices when a Mount enables EST, also after another client turned EST off", async () => {
    const { wait, shown, ask } = await setUp("devices")
    const { engine } = testEngine
    await engine.authMethods.enable({ path: "devices", type: "userpass" })
    const { accessor } = await engine.authMethods.get("devices")
    const kind = "mounts.chancery.dev"
    const object = (enabled: boolean) => ({
      apiVersion: api,
      kind: "Mount",
      metadata: { name: "devices", namespace: "devices" },
      spec: {
        connectionRef: { kind: "ClusterConnection", name: "engine" },
        path: "devices",
        adoptionPolicy: "IfExists",
        delegatedAuthAccessors: [accessor],
        est: { enabled, labelToPathPolicy: { devices: "role:printers" }, authenticators: { userpass: { accessor } } },
      },
    })
    const answer = async () => (await fetch(`${url}/.well-known/est/devices/cacerts`)).status
    await apply(object(true))
    await wait(kind, "devices", "Stalled")
    expect(reasons(await shown(kind, "devices"))).toContain("Stalled=True RoleMissing")
    await engine.pki("devices").roles.save("printers", { requireCn: false })
    await ask(kind, "devices")
    await wait(kind, "devices", "Ready")
    expect(await answer()).toBe(200)

    const { settings } = engine.pki("devices")
    await settings.changeEst({ enabled: false })
    expect(await answer()).toBe(404)
    await ask(kind, "devices")
    await expect.poll(answer).toBe(200)
    await apply(object(false))
    await expect.poll(answer).toBe(404)
    expect(await settings.est()).toMatchObject({ authenticators: { userpass: { accessor } } })
  })

  test("of a CertificateRole wait for it; it is created, corrected or reported, adopted only if configured, and deleted", async () => {
    const { certificate, wait, waitAll, crt: shown, kubectl, ask } = await setUp("roles")
    const roles = testEngine.engine.pki("roles").roles
    const role = (name: string, spec: object) => ({
      apiVersion: api,
      kind: "CertificateRole",
      metadata: { name, namespace: "roles" },
      spec: { connectionRef: { kind: "ClusterConnection", name: "engine" }, mount: "roles", ...spec },
    })
    const kind = "certificateroles.chancery.dev"
    await roles.save("taken", { allowedDomains: ["example.net"] })
    const allowed = { allowedDomains: ["example.com"], allowSubdomains: true, keyType: "ec", ttl: "240h" }
    await apply(
      role("web", allowed),
      role("reported", { ...allowed, driftPolicy: "Report" }),
      role("taken", allowed),
      role("kept", { ...allowed, deletionPolicy: "Retain" }),
      certificate("web", { role: "web" }),
    )
    await waitAll(kind, ["web", "reported", "kept"])
    await wait(crt, "web", "Ready")
    expect((await roles.get("web")).allowedDomains).toEqual(["example.com"])
    const life =
      Date.parse(String((await shown("web")).status["notAfter"])) -
      Date.parse(String((await shown("web")).status["notBefore"]))
    expect(life).toBeLessThan(11 * dayMs)

    await wait(kind, "taken", "Stalled")
    expect(reasons(await actor("roles").shown(kind, "taken"))).toContain("Stalled=True NameTaken")
    expect((await roles.get("taken")).allowedDomains).toEqual(["example.net"])
    await apply(role("taken", { ...allowed, adoptionPolicy: "IfExists" }))
    await wait(kind, "taken", "Ready")
    expect((await roles.get("taken")).allowedDomains).toEqual(["example.com"])

    for (const name of ["web", "reported"]) {
      await roles.update(name, { allowedDomains: ["example.org"], allowIpSans: false })
      await ask(kind, name)
    }
    await expect.poll(async () => (await roles.get("web")).allowedDomains).toEqual(["example.com"])
    // Fields that the manifest does not name are left unchanged.
    expect((await roles.get("web")).allowIpSans).toBe(false)
    await wait(kind, "reported", "Synced=false")
    expect((await actor("roles").shown(kind, "reported")).status["drift"]).toEqual([
      { field: "allowedDomains", desired: '["example.com"]', observed: '["example.org"]' },
    ])
    expect((await roles.get("reported")).allowedDomains).toEqual(["example.org"])

    await kubectl(["delete", kind, "web", "kept", "-n", "roles", "--timeout=60s"])
    await expect(roles.get("web")).rejects.toThrow(/does not exist/)
    expect((await roles.get("kept")).allowedDomains).toEqual(["example.com"])
  })
})
