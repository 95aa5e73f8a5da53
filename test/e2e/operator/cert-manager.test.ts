// Certificates of cert-manager, issued and renewed by cert-manager's own controllers through Issuers of `chancery.dev`. The controllers are
// built from cert-manager's module. Its webhook does not run, since its command cannot be fetched as a module: the tests cover neither its
// defaults nor its check of who may approve requests.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import {
  actor,
  api,
  apply,
  certManager,
  cluster,
  conditions,
  crt,
  decoded,
  describeCertificate,
  issued,
  messageOf,
  request,
  setUp,
  type Shown,
  startEngineServer,
  stopEngineServer,
  testEngine,
  url,
  useCertManagerFixture,
  verifies,
} from "./cert-manager-fixture.ts"
import { approver, certificateControllers, shimControllers, startCertManager } from "./cert-manager-program.ts"

const chain = ({ data }: Shown) => decoded(data?.["tls.crt"])

describe.skipIf(certManager === undefined)("Certificates of cert-manager", () => {
  useCertManagerFixture()
  const closing = new AsyncDisposableStack()
  beforeAll(async () => {
    const backoff = [
      "--certificate-request-minimum-backoff-duration=3s",
      "--certificate-request-maximum-backoff-duration=6s",
      "--enable-gateway-api",
    ]
    closing.use(await startCertManager(certManager!, cluster, [...certificateControllers, ...shimControllers], backoff))
  })
  afterAll(() => closing.disposeAsync())

  describe("without an approver", () => {
    test("wait when their request is neither approved nor denied, and are issued after an approval", async () => {
      const { certificate, all, shown, decide, wait } = await setUp("waiting")
      await apply(certificate("web"))
      await expect.poll(async () => (await all(request)).length).toBe(1)
      const [{ metadata }] = (await all(request)) as [Shown]
      const sibling = await setUp("sibling")
      await apply(sibling.request("other", "no CSR"))
      await sibling.decide("other")
      // The answer to a later request shows that the operator has seen the earlier one.
      await expect.poll(async () => conditions(await sibling.shown(request, "other"))).toContain("Ready=False Failed")
      expect(conditions(await shown(request, metadata.name))).toEqual([])
      expect(await issued("waiting")).toEqual([])
      await decide(metadata.name)
      await wait(crt, "web")
      expect(await issued("waiting")).toHaveLength(1)
    })

    test("fail when an approver denies their request", async () => {
      const { certificate, all, shown, decide, delete: remove } = await setUp("denied")
      await apply(certificate("web"))
      await expect.poll(async () => (await all(request)).length).toBe(1)
      const [{ metadata }] = (await all(request)) as [Shown]
      await decide(metadata.name, "Denied")
      await expect.poll(async () => (await shown(crt, "web")).status?.["failedIssuanceAttempts"]).toBe(1)
      // cert-manager replaces the request after its backoff, and the new one waits for a decision.
      await expect
        .poll(async () => (await all(request)).filter((one) => one.metadata.uid !== metadata.uid).length)
        .toBe(1)
      expect(await issued("denied")).toEqual([])
      await remove(crt, "web")
    })
  })

  describe("with its approver", () => {
    const approving = new AsyncDisposableStack()
    beforeAll(async () => void approving.use(await startCertManager(certManager!, cluster, [approver])))
    afterAll(() => approving.disposeAsync())

    test("become ready with a Secret that OpenSSL verifies when an Issuer signs them", async () => {
      const { certificate, wait, shown, root } = await setUp("issuing")
      await apply(
        certificate("web", { duration: "720h", usages: ["digital signature", "key encipherment", "server auth"] }),
        certificate("named", { commonName: "named.example.com", privateKey: { algorithm: "ECDSA", size: 384 } }),
        certificate("plain", { usages: [], privateKey: { algorithm: "Ed25519" } }),
      )
      for (const name of ["web", "named", "plain"]) {
        await wait(crt, name)
        const secret = await shown("secret", `${name}-tls`)
        expect(decoded(secret.data?.["ca.crt"])).toBe(root)
        expect(verifies(chain(secret), root)).toBe(true)
        expect(describeCertificate(chain(secret), "-ext", "subjectAltName")).toContain(`DNS:${name}.example.com`)
        expect(decoded(secret.data?.["tls.key"])).toContain("PRIVATE KEY")
      }
      const [one] = (await issued("issuing")).filter(({ commonName }) => commonName === "named.example.com")
      expect(one).toBeDefined()
      const [{ status }] = (await actor("issuing").all(request)) as [Shown]
      expect(status?.conditions?.map(({ type }) => type).toSorted()).toEqual(["Approved", "Ready"])
    })

    test("become ready when a ClusterIssuer signs them where its connection permits", async () => {
      const { certificate, wait, shown, root } = await setUp("clustered")
      await setUp("excluded")
      await apply(
        {
          apiVersion: api,
          kind: "ClusterConnection",
          metadata: { name: "narrow" },
          spec: { baseURL: url, tokenSecretRef: { name: "engine" }, allowedNamespaces: { matchNames: ["clustered"] } },
        },
        {
          apiVersion: api,
          kind: "ClusterIssuer",
          metadata: { name: "shared" },
          spec: {
            connectionRef: { kind: "ClusterConnection", name: "narrow" },
            mount: "clustered",
            defaultRole: "web",
          },
        },
      )
      const issuerRef = { group: "chancery.dev", kind: "ClusterIssuer", name: "shared" }
      const excluded = actor("excluded")
      await apply(certificate("web", { issuerRef }), excluded.certificate("web", { issuerRef }))
      await wait(crt, "web")
      expect(verifies(chain(await shown("secret", "web-tls")), root)).toBe(true)
      await expect.poll(async () => conditions(await excluded.shown(crt, "web"))).toContain("Issuing=False Failed")
      expect(messageOf(await excluded.shown(crt, "web"), "Issuing")).toMatch(/excluded/)
      await excluded.delete(crt, "web")
      expect(await issued("clustered")).toHaveLength(1)
    })

    test("are issued for Ingresses and Gateways that name an Issuer", async () => {
      const { wait, shown, root } = await setUp("shims")
      const annotations = {
        "cert-manager.io/issuer": "ca",
        "cert-manager.io/issuer-kind": "Issuer",
        "cert-manager.io/issuer-group": "chancery.dev",
      }
      const backend = { service: { name: "web", port: { number: 80 } } }
      await apply(
        {
          apiVersion: "networking.k8s.io/v1",
          kind: "Ingress",
          metadata: { name: "web", namespace: "shims", annotations },
          spec: {
            tls: [{ hosts: ["ingress.example.com"], secretName: "ingress-tls" }],
            rules: [{ host: "ingress.example.com", http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }],
          },
        },
        {
          apiVersion: "gateway.networking.k8s.io/v1",
          kind: "Gateway",
          metadata: { name: "web", namespace: "shims", annotations },
          spec: {
            gatewayClassName: "any",
            listeners: [
              {
                name: "https",
                hostname: "gateway.example.com",
                port: 443,
                protocol: "HTTPS",
                tls: { mode: "Terminate", certificateRefs: [{ name: "gateway-tls" }] },
              },
            ],
          },
        },
      )
      for (const name of ["ingress-tls", "gateway-tls"]) {
        await expect
          .poll(async () => (await actor("shims").all(crt)).map(({ metadata }) => metadata.name))
          .toContain(name)
        await wait(crt, name)
        expect(verifies(chain(await shown("secret", name)), root)).toBe(true)
      }
    })

    test("are renewed before they expire, and when the command line of cert-manager requests it", async () => {
      const { certificate, wait, shown, kubectl, root, delete: remove } = await setUp("renewing")
      // Due ten seconds after issuance.
      await apply(certificate("often", { duration: "1h", renewBefore: "59m50s" }), certificate("once"))
      await wait(crt, "often")
      await wait(crt, "once")
      const first = chain(await shown("secret", "once-tls"))
      // The condition that `cmctl renew` sets.
      const condition = { type: "Issuing", status: "True", reason: "ManuallyTriggered", message: "Requested." }
      await kubectl(
        ["apply", "--server-side", "--subresource=status", "--field-manager=cmctl", "-f", "-"],
        JSON.stringify({
          apiVersion: "cert-manager.io/v1",
          kind: "Certificate",
          metadata: { name: "once", namespace: "renewing" },
          status: { conditions: [condition] },
        }),
      )
      await expect.poll(async () => (await shown(crt, "once")).status?.["revision"]).toBe(2)
      const second = chain(await shown("secret", "once-tls"))
      expect(second).not.toBe(first)
      expect(verifies(second, root)).toBe(true)
      await expect.poll(async () => Number((await shown(crt, "often")).status?.["revision"])).toBeGreaterThan(1)
      expect(verifies(chain(await shown("secret", "often-tls")), root)).toBe(true)
      await remove(crt, "often")
    })

    test.each([
      { name: "authority", spec: { isCA: true }, message: /isCA: a role issues no certificates of authorities/ },
      { name: "client", spec: { usages: ["client auth"] }, message: /usages: the role does not give client auth/ },
      { name: "long", spec: { duration: "2401h" }, message: /duration: 8643600s is longer than .* 8640000s/ },
      { name: "foreign", spec: { dnsNames: ["www.example.net"] }, message: /www\.example\.net/ },
    ])("fail with the difference and without a certificate when their role refuses them: $name", async (one) => {
      const { certificate, shown, all, delete: remove } = await setUp(`refused-${one.name}`)
      await apply(certificate("web", one.spec))
      await expect.poll(async () => conditions(await shown(crt, "web"))).toContain("Issuing=False Failed")
      expect(messageOf(await shown(crt, "web"), "Issuing")).toMatch(one.message)
      const [refused] = (await all(request)).filter((found) => conditions(found).includes("Ready=False Failed"))
      expect(messageOf(refused!, "Ready")).toMatch(one.message)
      expect(refused?.status?.["failureTime"]).toBeDefined()
      expect(await issued(`refused-${one.name}`)).toEqual([])
      await remove(crt, "web")
    })

    test("are requested again by cert-manager's backoff after a failure, and issued when the role allows them", async () => {
      const { certificate, wait, shown } = await setUp("retried")
      await apply(certificate("web", { dnsNames: ["www.example.net"] }))
      await expect
        .poll(async () => Number((await shown(crt, "web")).status?.["failedIssuanceAttempts"]))
        .toBeGreaterThan(1)
      await testEngine.engine.pki("retried").roles.update("web", { allowedDomains: ["example.net"] })
      await wait(crt, "web")
      expect(await issued("retried")).toHaveLength(1)
    })

    test("wait when their Issuer is missing, and are issued after its creation", async () => {
      const { certificate, issuer, wait, all } = await setUp("early")
      const issuerRef = { group: "chancery.dev", kind: "Issuer", name: "later" }
      await apply(certificate("web", { issuerRef }))
      await expect.poll(async () => (await all(request)).map(conditions).flat()).toContain("Ready=False Pending")
      await apply(issuer("later"))
      await wait(crt, "web")
      expect(await issued("early")).toHaveLength(1)
    })

    test("wait when the engine is away, and are issued once after its return", async () => {
      const { certificate, wait, all } = await setUp("away")
      await stopEngineServer()
      try {
        await apply(certificate("web"))
        await expect.poll(async () => (await all(request)).map(conditions).flat()).toContain("Ready=False Pending")
      } finally {
        await startEngineServer()
      }
      await wait(crt, "web")
      expect(await issued("away")).toHaveLength(1)
      expect(await all(request)).toHaveLength(1)
    })
  })
})
