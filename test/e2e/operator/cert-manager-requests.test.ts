// CertificateRequests of cert-manager that no controller of cert-manager touches: attempts to use the rights of others, malformed requests,
// and an operator or an engine that fails while it signs.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { readPem, writePem } from "../../../engine/src/x509/pem.ts"
import {
  type Actor,
  api,
  apply,
  certManager,
  cluster,
  conditions,
  config,
  csrOf,
  decoded,
  describeCertificate,
  isFor,
  issued,
  messageOf,
  request,
  setUp,
  startOperator,
  stopOperator,
  testEngine,
  url,
  useCertManagerFixture,
  verifies,
} from "./cert-manager-fixture.ts"
import { installCertManagerDefinitions } from "./cert-manager-program.ts"
import { startHoldingEngine } from "./faults.ts"
import { startOperatorProcess } from "./operator-process.ts"

const ours = (kind: string, name: string) => ({ issuerRef: { group: "chancery.dev", kind, name } })

/** Waits until the operator has answered a request that is newer than all others. */
async function caughtUp({ request: requestFor, decide, wait }: Actor): Promise<void> {
  const name = `latest-${crypto.randomUUID()}`
  await apply(requestFor(name, csrOf("latest.example.com")))
  await decide(name)
  await wait(request, name)
}

async function approved({ request: requestFor, decide }: Actor, name: string, csr: string, spec = {}) {
  await apply(requestFor(name, csr, spec))
  await decide(name)
}

const failed = async ({ shown }: Actor, name: string) => {
  await expect.poll(async () => conditions(await shown(request, name))).toContain("Ready=False Failed")
  const found = await shown(request, name)
  expect(found.status?.["certificate"]).toBeUndefined()
  expect(found.status?.["failureTime"]).toBeDefined()
  return messageOf(found, "Ready")
}

/** Creates an Issuer `held` whose engine's messages about signatures are held. */
async function holding({ issuer, wait }: Actor, namespace: string, message: "request" | "answer") {
  const engine = await startHoldingEngine(url, /\/sign\//, message)
  onTestFinished(() => engine[Symbol.asyncDispose]())
  const name = `held-${namespace}`
  await apply(
    {
      apiVersion: api,
      kind: "ClusterConnection",
      metadata: { name },
      spec: { baseURL: engine.url, tokenSecretRef: { name: "engine" }, allowedNamespaces: { matchNames: [namespace] } },
    },
    issuer("held", { connectionRef: { kind: "ClusterConnection", name } }),
  )
  await wait("issuers.chancery.dev", "held")
  return engine
}

describe.skipIf(certManager === undefined)("CertificateRequests of cert-manager", () => {
  useCertManagerFixture()

  // The fixture installs the definitions of cert-manager while the operator runs.
  test("have the certificate, its chain and its root in their status when cert-manager was installed after the operator", async () => {
    const one = await setUp("whole")
    const csr = csrOf("web.example.com")
    await approved(one, "web", csr, { duration: "2h", usages: ["digital signature", "server auth"] })
    await one.wait(request, "web")
    const { status } = await one.shown(request, "web")
    const chain = decoded(status?.["certificate"])
    expect(isFor(chain, csr)).toBe(true)
    expect(decoded(status?.["ca"])).toBe(one.root)
    expect(verifies(chain, one.root)).toBe(true)
    expect(chain.match(/BEGIN CERTIFICATE/g)).toHaveLength(2)
    const notAfter = Date.parse(describeCertificate(chain, "-enddate").replace("notAfter=", ""))
    expect(notAfter - Date.now()).toBeLessThan(7_300_000)
    expect(await issued("whole")).toHaveLength(1)
  })

  test.each([
    { what: "no PEM", csr: () => "web", message: /request/ },
    {
      what: "two CSRs",
      csr: () => csrOf("a.example.com") + csrOf("b.example.com"),
      message: /^request: must be one PEM block with the label CERTIFICATE REQUEST$/,
    },
    { what: "a forged signature", csr: () => forged(csrOf("web.example.com")), message: /signature/ },
    { what: "a name beyond the role", csr: () => csrOf("web.example.net"), message: /web\.example\.net/ },
    { what: "an authority", spec: { isCA: true }, message: /isCA/ },
    {
      what: "usages beyond the role",
      spec: { usages: ["client auth", "cert sign"] },
      message: /client auth, cert sign/,
    },
    { what: "a longer validity", spec: { duration: "2401h" }, message: /duration: 8643600s/ },
    { what: "no validity", spec: { duration: "soon" }, message: /duration/ },
  ])(
    "fail once and for all when they ask for $what",
    async ({ what, csr = () => csrOf("web.example.com"), spec = {}, message }) => {
      const namespace = `fails-${what.replaceAll(" ", "-").toLowerCase()}`
      const one = await setUp(namespace)
      await approved(one, "web", csr(), spec)
      expect(await failed(one, "web")).toMatch(message)
      expect(await issued(namespace)).toEqual([])
    },
  )

  test("are not answered when an approver denies them, also after an approval", async () => {
    const one = await setUp("denied")
    await apply(one.request("web", csrOf("web.example.com")))
    await one.decide("web", "Denied")
    await expect.poll(async () => conditions(await one.shown(request, "web"))).toContain("Ready=False Denied")
    await one.decide("web")
    await caughtUp(one)
    expect((await one.shown(request, "web")).status?.["certificate"]).toBeUndefined()
    expect(await issued("denied")).toHaveLength(1)
  })

  // The engine cannot tell that a second signature is for the same request.
  test.each([
    { when: "before", held: "request", certificates: 1 },
    { when: "after", held: "answer", certificates: 2 },
  ] as const)("are answered when the operator is killed $when the engine has signed", async (one) => {
    const namespace = `killed-${one.when}`
    const actions = await setUp(namespace)
    const engine = await holding(actions, namespace, one.held)
    const folder = await mkdtemp(join(tmpdir(), "chancery-killed-"))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await stopOperator()
    try {
      await using operator = await startOperatorProcess({
        config,
        kubeconfig: join(folder, "kubeconfig"),
        namespace: "operator",
        identity: namespace,
        args: ["--answer", "cert-manager"],
      })
      await approved(actions, "web", csrOf("web.example.com"), ours("Issuer", "held"))
      await engine.held
      await operator.kill()
      await engine.clientGone
    } finally {
      startOperator()
    }
    engine.release()
    await actions.wait(request, "web")
    expect(await issued(namespace)).toHaveLength(one.certificates)
  })

  describe("confused deputy:", () => {
    test("an Issuer of another namespace is not used when a request names it", async () => {
      const [victim, attacker] = [await setUp("payments"), await setUp("guest")]
      await apply(victim.issuer("payments"))
      await victim.wait("issuers.chancery.dev", "payments")
      const references = [
        ours("Issuer", "payments"),
        ours("Issuer", "payments/payments"),
        ours("Issuer", "../payments/payments"),
        ours("ClusterIssuer", "payments/payments"),
      ]
      for (const [index, reference] of references.entries())
        await approved(attacker, `web-${index}`, csrOf("web.example.com"), reference)
      for (const index of references.keys())
        await expect
          .poll(async () => conditions(await attacker.shown(request, `web-${index}`)))
          .toContain("Ready=False Pending")
      await caughtUp(attacker)
      expect(await issued("payments")).toEqual([])
    })

    test("a ClusterIssuer is not used when its ClusterConnection does not allow the namespace", async () => {
      const [, attacker] = [await setUp("allowed"), await setUp("forbidden")]
      await apply(
        {
          apiVersion: api,
          kind: "ClusterConnection",
          metadata: { name: "narrow" },
          spec: { baseURL: url, tokenSecretRef: { name: "engine" }, allowedNamespaces: { matchNames: ["allowed"] } },
        },
        clusterIssuer("narrow", "narrow", "allowed"),
        // The namespace's own Issuer may not use the connection either.
        attacker.issuer("own", { mount: "allowed", connectionRef: { kind: "ClusterConnection", name: "narrow" } }),
      )
      await attacker.kubectl(["wait", "--for=condition=Ready", "clusterissuers.chancery.dev/narrow", "--timeout=60s"])
      await approved(attacker, "shared", csrOf("web.example.com"), ours("ClusterIssuer", "narrow"))
      await approved(attacker, "own", csrOf("web.example.com"), ours("Issuer", "own"))
      expect(await failed(attacker, "shared")).toMatch(/forbidden/)
      await expect.poll(async () => conditions(await attacker.shown(request, "own"))).toContain("Ready=False Pending")
      expect(await issued("allowed")).toEqual([])
    })

    test("a CertificateRole of the requesting namespace is not used when a ClusterIssuer signs", async () => {
      const [, attacker] = [await setUp("platform"), await setUp("tenant")]
      await testEngine.engine.pki("platform").roles.save("anything", { allowAnyName: true, keyType: "any" })
      await apply(clusterIssuer("platform", "engine", "platform"), {
        apiVersion: api,
        kind: "CertificateRole",
        metadata: { name: "web", namespace: "tenant" },
        spec: {
          connectionRef: { kind: "ClusterConnection", name: "engine" },
          mount: "platform",
          name: "anything",
          adoptionPolicy: "IfExists",
        },
      })
      await attacker.wait("certificateroles.chancery.dev", "web")
      await attacker.kubectl(["wait", "--for=condition=Ready", "clusterissuers.chancery.dev/platform", "--timeout=60s"])
      await approved(attacker, "beyond", csrOf("www.example.net"), ours("ClusterIssuer", "platform"))
      await approved(attacker, "within", csrOf("www.example.com"), ours("ClusterIssuer", "platform"))
      expect(await failed(attacker, "beyond")).toMatch(/www\.example\.net/)
      await attacker.wait(request, "within")
      expect(await issued("platform", "anything")).toEqual([])
      expect(await issued("platform")).toHaveLength(1)
    })

    test("a request is ignored when its issuer is of another group or kind", async () => {
      const attacker = await setUp("others")
      const references = [
        { group: "cert-manager.io", kind: "Issuer", name: "ca" },
        { kind: "Issuer", name: "ca" },
        { group: "chancery.dev.example.com", kind: "Issuer", name: "ca" },
        { group: "chancery.dev", kind: "issuer", name: "ca" },
        { group: "chancery.dev", kind: "Certificate", name: "ca" },
      ]
      for (const [index, issuerRef] of references.entries())
        await approved(attacker, `web-${index}`, csrOf("web.example.com"), { issuerRef })
      await caughtUp(attacker)
      for (const index of references.keys())
        expect(conditions(await attacker.shown(request, `web-${index}`))).toEqual(["Approved=True policy.example.com"])
      expect(await issued("others")).toHaveLength(1)
    })

    // The status is a subresource: its rights decide here. cert-manager's webhook, which does not run here, rejects an approval by an
    // account with these rights but without the verb `approve` for the signer. The operator trusts the condition.
    test("an approval has no effect when it comes from an account without rights to the status", async () => {
      const attacker = await setUp("approvals")
      const rules = [{ apiGroups: ["cert-manager.io"], resources: ["certificaterequests"], verbs: ["*"] }]
      const about = { name: "developer", namespace: "approvals" }
      await apply(
        { apiVersion: "v1", kind: "ServiceAccount", metadata: about },
        { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata: about, rules },
        {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "RoleBinding",
          metadata: about,
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "developer" },
          subjects: [{ kind: "ServiceAccount", ...about }],
        },
      )
      const as = "--as=system:serviceaccount:approvals:developer"
      const status = { conditions: [{ type: "Approved", status: "True", reason: "me", message: "Mine." }] }
      const object = { ...attacker.request("web", csrOf("web.example.com")), status }
      await attacker.kubectl(["create", as, "-f", "-"], JSON.stringify(object))
      const patch = ["patch", as, request, "web", "-n", "approvals", "--type=merge", "-p", JSON.stringify({ status })]
      await attacker.kubectl(patch)
      await expect(attacker.kubectl([...patch, "--subresource=status"])).rejects.toThrow(/forbidden/)
      await caughtUp(attacker)
      expect(conditions(await attacker.shown(request, "web"))).toEqual([])
      expect(await issued("approvals")).toHaveLength(1)
    })

    test("the operator's own account cannot change the spec of a request, and cannot create one", async () => {
      const one = await setUp("account")
      await apply(one.request("web", csrOf("web.example.com")))
      const can = (...words: readonly string[]) =>
        one
          .kubectl([
            "auth",
            "can-i",
            "--as=system:serviceaccount:operator:chancery-operator",
            "-n",
            "account",
            ...words,
          ])
          .then(
            (answer) => answer.trim(),
            () => "no",
          )
      for (const verb of ["create", "update", "patch", "delete"]) expect(await can(verb, request)).toBe("no")
      expect(await can("approve", "signers.cert-manager.io")).toBe("no")
      expect(await can("patch", request, "--subresource=status")).toBe("yes")
    })

    test("a certificate is not given to a new request of the same name when the old one is deleted during the signature", async () => {
      const one = await setUp("replaced")
      const engine = await holding(one, "replaced", "answer")
      const [first, second] = [csrOf("first.example.com"), csrOf("second.example.com")]
      await approved(one, "web", first, ours("Issuer", "held"))
      await engine.held
      await one.delete(request, "web")
      await apply(one.request("web", second, ours("Issuer", "held")))
      engine.release()
      await caughtUp(one)
      expect(conditions(await one.shown(request, "web"))).toEqual([])
      await one.decide("web")
      await one.wait(request, "web")
      const { status } = await one.shown(request, "web")
      expect(isFor(decoded(status?.["certificate"]), second)).toBe(true)
    })

    test("extensions of a CSR give no rights when they ask for more than its spec", async () => {
      const one = await setUp("extended")
      const extensions = ["basicConstraints=critical,CA:TRUE", "keyUsage=keyCertSign", "extendedKeyUsage=clientAuth"]
      await approved(one, "web", csrOf("web.example.com", ...extensions))
      await one.wait(request, "web")
      const chain = decoded((await one.shown(request, "web")).status?.["certificate"])
      const text = describeCertificate(chain, "-text")
      expect(text).not.toMatch(/CA:TRUE|Certificate Sign|Client Authentication/)
      expect(text).toContain("TLS Web Server Authentication")
    })
  })

  test("are answered again when cert-manager was removed and installed again", async () => {
    const one = await setUp("again")
    await approved(one, "web", csrOf("web.example.com"))
    await one.wait(request, "web")
    await cluster.kubectl(["delete", "crd", request, "--timeout=60s"])
    await installCertManagerDefinitions(cluster)
    await approved(one, "web", csrOf("web.example.com"))
    await one.wait(request, "web")
    expect(await issued("again")).toHaveLength(2)
  })
})

const clusterIssuer = (name: string, connection: string, mount: string) => ({
  apiVersion: api,
  kind: "ClusterIssuer",
  metadata: { name },
  spec: { connectionRef: { kind: "ClusterConnection", name: connection }, mount, defaultRole: "web" },
})

/** Returns the CSR with another signature. */
function forged(csr: string): string {
  const der = Uint8Array.from(readPem(csr, csr.length)[0]?.bytes ?? [])
  const last = der.length - 1
  der[last] = (der[last] ?? 0) ^ 1
  return writePem("CERTIFICATE REQUEST", der)
}
