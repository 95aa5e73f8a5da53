// A ClusterConnection with policies, used as a namespace would that wants the rights of another one. Each test names the way.
import { describe, expect, test } from "vitest"
import {
  actor,
  api,
  apply,
  cluster,
  programs,
  reasons,
  setUp,
  testEngine,
  url,
  useCertificateFixture,
} from "./certificates-fixture.ts"

const connectionRef = { kind: "ClusterConnection", name: "limited" }
const attacker = "mallory"
const stalled = "Stalled=True UseNotPermitted"

const object = (kind: string, name: string, spec: object, namespace: string | undefined = attacker) => ({
  apiVersion: api,
  kind,
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  spec: { connectionRef, ...spec },
})

/** Applies the object, and returns its conditions after it has stalled. */
async function stalling(kind: string, name: string, spec: object): Promise<readonly string[]> {
  await apply(object(kind, name, spec))
  const plural = kind === "CertificateAuthority" ? "certificateauthorities" : `${kind.toLowerCase()}s`
  const { wait, shown } = actor(attacker)
  await wait(`${plural}.chancery.dev`, name, "Stalled")
  return reasons(await shown(`${plural}.chancery.dev`, name))
}

describe.skipIf(programs === undefined)("a connection with policies", () => {
  useCertificateFixture()

  test("serves the uses that an entry permits to the namespace", async () => {
    const { engine } = testEngine
    for (const name of ["victim", attacker]) await setUp(name)
    await engine.pki(attacker).roles.save("db", { allowAnyName: true, keyType: "any" })
    for (const name of ["acme", "evil"]) await engine.organizations.create({ name, email: `${name}@example.com` })
    for (const name of ["shop", "bank"]) await engine.projects.create("acme", { name })
    await apply({
      apiVersion: api,
      kind: "ClusterConnection",
      metadata: { name: "limited" },
      spec: {
        baseURL: url,
        tokenSecretRef: { name: "engine" },
        allowedNamespaces: { matchNames: ["*"] },
        policies: [
          { namespaces: { matchNames: [attacker] }, mounts: [attacker], roles: ["any", "own-*"] },
          { namespaces: { matchNames: [attacker] }, organizations: ["acme"], projects: ["shop"] },
          { namespaces: { matchNames: ["victim"] }, mounts: ["*"], organizations: ["*"] },
        ],
      },
    })
    const { certificate, wait } = actor(attacker)
    await apply(
      object("Issuer", "permitted", { mount: attacker, defaultRole: "any" }),
      certificate("permitted", { issuerRef: { name: "permitted" } }),
      object("CertificateRole", "own-web", { mount: attacker, allowAnyName: true }),
      object("Workspace", "permitted", { organization: "acme", project: { name: "shop" } }),
    )
    for (const [kind, name] of [
      ["certificates.chancery.dev", "permitted"],
      ["certificateroles.chancery.dev", "own-web"],
      ["workspaces.chancery.dev", "permitted"],
    ] as const)
      expect(await wait(kind, name, "Ready")).toContain("condition met")
  })

  test("confused deputy: an Issuer for the mount of another namespace", async () => {
    expect(await stalling("Issuer", "foreign", { mount: "victim", defaultRole: "any" })).toContain(stalled)
  })

  test("confused deputy: a Certificate by a role that the namespace may not use", async () => {
    const { certificate, wait, crt } = actor(attacker)
    await apply(certificate("db", { issuerRef: { name: "permitted" }, role: "db" }))
    await wait("certificates.chancery.dev", "db", "Stalled")
    expect(reasons(await crt("db"))).toContain(stalled)
  })

  test("confused deputy: a Certificate by a ClusterIssuer for the mount of another namespace", async () => {
    await apply(object("ClusterIssuer", "wide", { mount: "victim", defaultRole: "any" }, undefined))
    const { certificate, wait, crt } = actor(attacker)
    await apply(certificate("wide", { issuerRef: { kind: "ClusterIssuer", name: "wide" } }))
    await wait("certificates.chancery.dev", "wide", "Stalled")
    expect(reasons(await crt("wide"))).toContain(stalled)
    expect(await testEngine.engine.pki("victim").certificates.list()).toHaveLength(1)
  })

  test("confused deputy: a certificate authority below a mount of which only roles are permitted", async () => {
    await apply(
      object("Issuer", "authorities", { mount: attacker, defaultRole: "any", allowCertificateAuthorities: true }),
    )
    const { certificate, wait, crt } = actor(attacker)
    const spec = { issuerRef: { name: "authorities" }, isCA: true, commonName: "Mallory CA", dnsNames: undefined }
    await apply(certificate("authority", spec))
    await wait("certificates.chancery.dev", "authority", "Stalled")
    expect(reasons(await crt("authority"))).toContain(stalled)
  })

  test("confused deputy: a CertificateRole that changes a role of another team", async () => {
    expect(await stalling("CertificateRole", "db", { mount: attacker, adoptionPolicy: "IfExists" })).toContain(stalled)
    expect(await stalling("CertificateRole", "own-x", { mount: "victim" })).toContain(stalled)
  })

  test("confused deputy: a Mount and a CertificateAuthority of a mount that is permitted by roles only", async () => {
    expect(await stalling("Mount", "own", { path: attacker })).toContain(stalled)
    const authority = { mount: attacker, type: "Root", commonName: "Mallory Root", duration: "8760h" }
    expect(await stalling("CertificateAuthority", "own", authority)).toContain(stalled)
  })

  test("confused deputy: a Workspace in another organization, in another project, or without one", async () => {
    expect(await stalling("Workspace", "abroad", { organization: "evil", project: { name: "shop" } })).toContain(
      stalled,
    )
    expect(await stalling("Workspace", "bank", { organization: "acme", project: { name: "bank" } })).toContain(stalled)
    expect(await stalling("Workspace", "none", { organization: "acme" })).toContain(stalled)
    expect(await stalling("Project", "bank", { organization: "acme" })).toContain(stalled)
  })

  test("confused deputy: a Workspace that takes over one of another project, by name or by id", async () => {
    const { engine } = testEngine
    const { items } = await engine.projects.list("acme", { names: ["bank"] }, { number: 1, size: 1 })
    const vault = await engine.workspaces.create("acme", { name: "vault", projectId: items[0]!.id })
    const spec = { organization: "acme", project: { name: "shop" }, adoptionPolicy: "IfExists" }
    expect(await stalling("Workspace", "by-name", { ...spec, name: "vault" })).toContain(stalled)
    expect(await stalling("Workspace", "by-id", { ...spec, name: "vault", externalID: vault.id })).toContain(stalled)
    expect(await engine.workspaces.get({ id: vault.id })).toMatchObject({
      projectId: items[0]!.id,
      sourceName: vault.sourceName,
    })
  })

  test("rejects entries that it cannot match at admission", async () => {
    const manifest = (policies: readonly object[]) => {
      const spec = { baseURL: url, tokenSecretRef: { name: "engine" }, policies }
      return JSON.stringify({ apiVersion: api, kind: "ClusterConnection", metadata: { name: "refused" }, spec })
    }
    for (const policy of [{ mounts: [] }, { mounts: ["pki?"] }, { roles: [""] }, { mount: ["pki"] }])
      await expect(cluster.kubectl(["create", "--validate=strict", "-f", "-"], manifest([policy]))).rejects.toThrow(
        /policies/,
      )
  })
})
