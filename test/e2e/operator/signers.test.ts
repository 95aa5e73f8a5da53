// Issuers as signers of Kubernetes: CertificateSigningRequests, PodCertificateRequests and ClusterTrustBundles. No kubelet runs here: the
// requests are those that a kubelet of Kubernetes 1.36 makes, and the API server validates what the operator answers.
import { describe, expect, test } from "vitest"
import {
  type PrivateKey,
  signedRequest,
  writePem,
  subjectAltName,
  oids,
  parseCertificate,
  readPem,
} from "../../../engine/src/x509/index.ts"
import { openssl } from "../../../engine/testing/openssl.ts"
import { keysOfThisProcess } from "../../../operator/src/controllers/certificate/keys.ts"
import {
  api,
  apply,
  cluster,
  dayMs,
  hourMs,
  programs,
  setUp,
  testEngine,
  useCertificateFixture,
} from "./certificates-fixture.ts"
import { eventually } from "./fixture.ts"

interface Requested {
  readonly metadata: { readonly name: string }
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly reason: string; readonly message: string }[]
    readonly certificate?: string
    readonly certificateChain?: string
    readonly notBefore?: string
    readonly beginRefreshAt?: string
    readonly notAfter?: string
  }
}

const read = async (kind: string, name: string, namespace?: string): Promise<Requested> =>
  JSON.parse(
    await cluster.kubectl(["get", kind, name, ...(namespace === undefined ? [] : ["-n", namespace]), "-o", "json"]),
  ) as Requested

const newKey = (): Promise<PrivateKey> => keysOfThisProcess.generate({ type: "ec", bits: 256 })

async function csrFor(dnsName: string): Promise<string> {
  const extensions = [subjectAltName([{ kind: "dns", value: dnsName }], { critical: false })]
  const der = await signedRequest(await newKey(), {
    subject: [[{ type: oids.commonName, value: dnsName }]],
    extensions,
  })
  return Buffer.from(writePem("CERTIFICATE REQUEST", der)).toString("base64")
}

const signingRequest = async (name: string, signerName: string, spec: object = {}) => ({
  apiVersion: "certificates.k8s.io/v1",
  kind: "CertificateSigningRequest",
  metadata: { name },
  spec: {
    signerName,
    request: await csrFor(`${name}.example.com`),
    usages: ["digital signature", "server auth"],
    ...spec,
  },
})

const approve = (name: string) => cluster.kubectl(["certificate", "approve", name])

const answered = (name: string) =>
  eventually(
    () => read("csr", name),
    ({ status }) =>
      status?.certificate !== undefined || status?.conditions?.some(({ type }) => type === "Failed") === true,
  )

const events = async (name: string): Promise<readonly string[]> => {
  const { items } = JSON.parse(
    await cluster.kubectl([
      "get",
      "events.events.k8s.io",
      "-A",
      "-o",
      "json",
      "--field-selector",
      `regarding.name=${name}`,
    ]),
  ) as { items: readonly { reason: string }[] }
  return items.map(({ reason }) => reason)
}

describe.skipIf(programs === undefined)("an issuer as a signer", () => {
  useCertificateFixture({ answered: ["csr", "pods"] })

  test("signs an approved CertificateSigningRequest, and leaves one alone that is not approved or is denied", async () => {
    await setUp("signing")
    for (const name of ["approved", "waiting", "denied"])
      await apply(await signingRequest(name, "chancery.dev/signing.ca", { expirationSeconds: 7_200 }))
    await cluster.kubectl(["certificate", "deny", "denied"])
    await approve("approved")
    const { status } = await answered("approved")
    const chain = Buffer.from(status?.certificate ?? "", "base64").toString()
    const shown = openssl(["x509", "-in", "tls.crt", "-noout", "-ext", "subjectAltName", "-subject"], {
      "tls.crt": chain,
    })
    expect(shown).toContain("DNS:approved.example.com")
    const [leaf] = readPem(chain, 65_536)
    const { notAfter } = parseCertificate(leaf!.bytes)
    expect(Math.abs(notAfter - Date.now() - 2 * hourMs)).toBeLessThan(hourMs / 10)
    for (const name of ["waiting", "denied"]) expect((await read("csr", name)).status?.certificate).toBeUndefined()
  })

  test("fails a CertificateSigningRequest that exceeds its role, with the difference, and issues nothing", async () => {
    await setUp("exceeding")
    const before = await issued("exceeding")
    const usages = ["digital signature", "cert sign", "code signing"]
    await apply(
      await signingRequest("usages", "chancery.dev/exceeding.ca", { usages }),
      await signingRequest("long", "chancery.dev/exceeding.ca", { expirationSeconds: (500 * dayMs) / 1_000 }),
    )
    for (const name of ["usages", "long"]) await approve(name)
    expect((await answered("usages")).status?.conditions).toContainEqual(
      expect.objectContaining({
        type: "Failed",
        reason: "RequestExceedsRole",
        message: "The request exceeds the role any: usages: the role does not give cert sign, code signing.",
      }),
    )
    expect((await answered("long")).status?.conditions).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining("duration: 43200000s is longer") }),
    )
    expect(await issued("exceeding")).toBe(before)
  })

  test("waits for an issuer that does not exist yet, and says so in an event", async () => {
    await apply(await signingRequest("early", "chancery.dev/later.ca"))
    await approve("early")
    await expect.poll(() => events("early"), { timeout: 20_000 }).toContain("IssuerMissing")
    await setUp("later")
    expect((await answered("early")).status?.certificate).toBeDefined()
  })

  test("confused deputy: a user without the verb reference for an Issuer gets no certificate of it", async () => {
    await setUp("guarded")
    const author = ["--as=mallory", "--as-group=system:authenticated"]
    await cluster.kubectl(["create", "clusterrole", "author", "--verb=create", "--resource=certificatesigningrequests"])
    await cluster.kubectl(["create", "clusterrolebinding", "author", "--clusterrole=author", "--user=mallory"])
    const create = async (name: string, signerName: string) =>
      cluster.kubectl([...author, "create", "-f", "-"], JSON.stringify(await signingRequest(name, signerName)))
    await create("foreign", "chancery.dev/guarded.ca")
    await approve("foreign")
    const failed = (await answered("foreign")).status
    expect(failed?.certificate).toBeUndefined()
    expect(failed?.conditions).toContainEqual(expect.objectContaining({ type: "Failed", reason: "IssuerNotPermitted" }))

    await cluster.kubectl([
      "create",
      "role",
      "user",
      "-n",
      "guarded",
      "--verb=reference",
      "--resource=issuers.chancery.dev",
      "--resource-name=ca",
    ])
    await cluster.kubectl(["create", "rolebinding", "user", "-n", "guarded", "--role=user", "--user=mallory"])
    await create("permitted", "chancery.dev/guarded.ca")
    await approve("permitted")
    expect((await answered("permitted")).status?.certificate).toBeDefined()
  })

  const podRequest = async (name: string, namespace: string, signerName: string, spec: object = {}) => {
    const der = await signedRequest(await newKey(), { subject: [], extensions: [] })
    return {
      apiVersion: "certificates.k8s.io/v1beta1",
      kind: "PodCertificateRequest",
      metadata: { name, namespace },
      spec: {
        signerName,
        podName: "web-0",
        podUID: crypto.randomUUID(),
        serviceAccountName: "web",
        serviceAccountUID: crypto.randomUUID(),
        nodeName: "node",
        nodeUID: crypto.randomUUID(),
        stubPKCS10Request: Buffer.from(der).toString("base64"),
        ...spec,
      },
    }
  }

  const podAnswered = (name: string, namespace: string) =>
    eventually(
      () => read("podcertificaterequests", name, namespace),
      ({ status }) => (status?.conditions ?? []).length > 0,
    )

  /** Creates an issuer `pods` with a role for pods. */
  async function setUpPods(namespace: string, role: object = {}) {
    const actions = await setUp(namespace)
    await testEngine.engine.pki(namespace).roles.save("pods", {
      useCsrSans: false,
      useCsrCommonName: false,
      requireCn: false,
      allowedUriSans: [`spiffe://cluster.local/ns/*`],
      allowedDomains: ["svc"],
      allowSubdomains: true,
      keyType: "ec",
      keyBits: 256,
      ttlMs: dayMs,
      ...role,
    })
    await apply(
      actions.issuer("pods", {
        defaultRole: "pods",
        podCertificates: { trustDomain: "cluster.local", dnsNames: ["$(serviceAccountName).$(namespace).svc"] },
      }),
    )
    return actions
  }

  test("signs a PodCertificateRequest with the names of its service account, and tells when to refresh", async () => {
    await setUpPods("pods")
    await apply(
      await podRequest("day", "pods", "chancery.dev/pods.pods"),
      await podRequest("hour", "pods", "chancery.dev/pods.pods", { maxExpirationSeconds: 3_600 }),
    )
    for (const [name, lifetimeMs] of [
      ["day", dayMs],
      ["hour", hourMs],
    ] as const) {
      const { status } = await podAnswered(name, "pods")
      expect(status?.conditions).toMatchObject([{ type: "Issued", reason: "Issued" }])
      const chain = status?.certificateChain ?? ""
      const shown = openssl(["x509", "-in", "tls.crt", "-noout", "-ext", "subjectAltName"], { "tls.crt": chain })
      expect(shown).toContain("URI:spiffe://cluster.local/ns/pods/sa/web")
      expect(shown).toContain("DNS:web.pods.svc")
      const [from, refresh, to] = [status?.notBefore, status?.beginRefreshAt, status?.notAfter].map((time) =>
        Date.parse(time ?? ""),
      )
      expect(to! - from!).toBe(lifetimeMs)
      expect(refresh! - from!).toBeCloseTo((lifetimeMs * 2) / 3, -4)
    }
  })

  test("denies a PodCertificateRequest that it cannot sign, with a documented reason", async () => {
    await setUpPods("denying", { keyType: "rsa", keyBits: 3_072 })
    await apply(
      await podRequest("key", "denying", "chancery.dev/denying.pods"),
      await podRequest("annotated", "denying", "chancery.dev/denying.pods", {
        unverifiedUserAnnotations: { "example.com/role": "admin" },
      }),
      await podRequest("plain", "denying", "chancery.dev/denying.ca"),
    )
    const denied = async (name: string) => (await podAnswered(name, "denying")).status?.conditions
    expect(await denied("key")).toMatchObject([
      { type: "Denied", reason: "UnsupportedKeyType", message: expect.stringContaining("RSA3072") },
    ])
    expect(await denied("annotated")).toMatchObject([{ type: "Denied", reason: "InvalidUnverifiedUserAnnotations" }])
    expect(await denied("plain")).toMatchObject([{ type: "Denied", reason: "PodCertificatesMissing" }])
  })

  test("confused deputy: a PodCertificateRequest of another namespace gets no certificate of an Issuer", async () => {
    await setUpPods("victim")
    await setUpPods("attacker")
    await apply(await podRequest("foreign", "attacker", "chancery.dev/victim.pods"))
    expect((await podAnswered("foreign", "attacker")).status).toMatchObject({
      conditions: [{ type: "Denied", reason: "NamespaceNotAllowed" }],
    })
  })

  test("publishes its roots as a ClusterTrustBundle, restores it, and removes it with the Issuer", async () => {
    const { kubectl } = await setUp("trusting")
    const bundle = "chancery.dev:trusting.ca:roots"
    const readBundle = async () =>
      JSON.parse(await kubectl(["get", "clustertrustbundles", bundle, "-o", "json"])) as {
        spec: { signerName: string; trustBundle: string }
      }
    const { spec } = await eventually(readBundle, () => true)
    expect(spec.signerName).toBe("chancery.dev/trusting.ca")
    expect(openssl(["x509", "-in", "ca.crt", "-noout", "-subject"], { "ca.crt": spec.trustBundle })).toContain(
      "trusting root",
    )
    await kubectl(["delete", "clustertrustbundles", bundle])
    await expect
      .poll(async () => (await readBundle().catch(() => undefined))?.spec.trustBundle, { timeout: 20_000 })
      .toBe(spec.trustBundle)
    await kubectl(["delete", "issuers.chancery.dev", "ca", "-n", "trusting", "--timeout=30s"])
    await expect(readBundle()).rejects.toThrow("not found")
  })

  test("of a ClusterIssuer signs for the namespaces that its connection allows, with a bundle that it owns", async () => {
    await setUpPods("inside")
    await setUp("outside")
    await apply(
      {
        apiVersion: api,
        kind: "ClusterConnection",
        metadata: { name: "narrow" },
        spec: { ...(await connectionSpec()), allowedNamespaces: { matchNames: ["inside"] } },
      },
      {
        apiVersion: api,
        kind: "ClusterIssuer",
        metadata: { name: "web.pods" },
        spec: {
          connectionRef: { kind: "ClusterConnection", name: "narrow" },
          mount: "inside",
          defaultRole: "pods",
          podCertificates: { trustDomain: "cluster.local" },
        },
      },
    )
    const signerName = "clusterissuers.chancery.dev/web.pods"
    await apply(await podRequest("one", "inside", signerName), await podRequest("one", "outside", signerName))
    expect((await podAnswered("one", "inside")).status?.conditions).toMatchObject([{ type: "Issued" }])
    expect((await podAnswered("one", "outside")).status?.conditions).toMatchObject([
      { type: "Denied", reason: "NamespaceNotAllowed" },
    ])
    const shown = JSON.parse(
      await cluster.kubectl(["get", "clustertrustbundles", "clusterissuers.chancery.dev:web.pods:roots", "-o", "json"]),
    ) as { metadata: object }
    expect(shown.metadata).toMatchObject({ ownerReferences: [{ kind: "ClusterIssuer", name: "web.pods" }] })
  })
})

/** Returns the number of certificates that a mount has. */
const issued = async (mount: string): Promise<number> => (await testEngine.engine.pki(mount).certificates.list()).length

async function connectionSpec(): Promise<{ readonly baseURL: string; readonly tokenSecretRef: object }> {
  const shown = await cluster.kubectl(["get", "clusterconnections.chancery.dev", "engine", "-o", "json"])
  const { spec } = JSON.parse(shown) as { spec: { baseURL: string; tokenSecretRef: object } }
  return { baseURL: spec.baseURL, tokenSecretRef: spec.tokenSecretRef }
}
