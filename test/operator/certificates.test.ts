// Issuers, roles and certificates on a real apiserver and a real engine, with just the rights that `operator/deploy/rbac.yaml`
// gives. The clock of both is put forward by the tests.
import { request } from "undici"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { systemRuntime as engineRuntime } from "../../engine/src/core/runtime.ts"
import { startServer } from "../../engine/src/server.ts"
import { openssl } from "../../engine/src/testing/openssl.ts"
import { openWorld, type World } from "../../engine/src/testing/world.ts"
import { writePem } from "../../engine/src/x509/pem.ts"
import { ApiClient } from "../../operator/src/api-client.ts"
import { certificate as certificateKind } from "../../operator/src/kinds/certificate.ts"
import { KubernetesCluster } from "../../operator/src/kubernetes-cluster.ts"
import type { KubernetesObject } from "../../operator/src/kubernetes-object.ts"
import { ObjectStore } from "../../operator/src/object-store.ts"
import { runOperator } from "../../operator/src/operator.ts"
import { systemRuntime } from "../../operator/src/runtime.ts"
import { findKubernetes } from "../toolchain/kubernetes.ts"
import { argoHealth } from "./argo-cd.ts"
import { type Cluster, openCluster, sharedCluster } from "./cluster.ts"
import { startControlPlane } from "./control-plane.ts"
import { kstatus } from "./kstatus.ts"

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const dayMs = 86_400_000
const hourMs = 3_600_000

interface Shown {
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly generation: number
    readonly resourceVersion: string
    readonly finalizers?: readonly string[]
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly ownerReferences?: readonly { readonly uid: string }[]
  }
  readonly type?: string
  readonly data?: Readonly<Record<string, string>>
  readonly status: {
    readonly observedGeneration: number
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly reason: string
      readonly message: string
    }[]
    readonly [member: string]: unknown
  }
}

const closing = new AsyncDisposableStack()
afterAll(() => closing.disposeAsync())

let cluster: Cluster
let world: World
let url: string
let operatorUrl: string
let watcher: KubernetesCluster
/** By which the clocks of the operator and of the engine are ahead. */
let aheadMs = 0

/** A mount of its own with a root that issues, and a role that allows everything. */
async function authority(mount: string): Promise<Uint8Array> {
  const { engine } = world
  await engine.mounts.create({ path: mount, config: { maxLeaseTtlMs: 3_650 * dayMs } })
  const pki = engine.pki(mount)
  const root = await pki.issuers.generateRoot({ commonName: `${mount} root`, keyType: "ec", ttlMs: 3_000 * dayMs })
  await pki.roles.save("any", {
    allowAnyName: true,
    enforceHostnames: false,
    allowIpSans: true,
    keyType: "any",
    allowedUriSans: ["*"],
    allowedOtherSans: ["*"],
    allowedUserIds: ["*"],
    ttlMs: 90 * dayMs,
    maxTtlMs: 400 * dayMs,
  })
  return root.certificate
}

const apply = (...objects: readonly object[]) =>
  cluster.kubectl(
    ["apply", "--server-side", "--force-conflicts", "-f", "-"],
    JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }),
  )

const api = "chancery.dev/v1alpha1"
/** What one does in a namespace that has an Issuer `ca` for the mount of the namespace's name. */
const actor = (namespace: string) => {
  const { kubectl } = cluster
  const shown = async (kind: string, name: string) =>
    JSON.parse(await kubectl(["get", kind, name, "-n", namespace, "-o", "json"])) as Shown
  const certificate = (name: string, spec: object = {}, metadata: object = {}) => ({
    apiVersion: api,
    kind: "Certificate",
    metadata: { name, namespace, ...metadata },
    spec: { secretName: `${name}-tls`, issuerRef: { name: "ca" }, dnsNames: [`${name}.example.com`], ...spec },
  })
  const issuer = (name: string, spec: object = {}) => ({
    apiVersion: api,
    kind: "Issuer",
    metadata: { name, namespace },
    spec: {
      connectionRef: { kind: "ClusterConnection", name: "engine" },
      mount: namespace,
      defaultRole: "any",
      ...spec,
    },
  })
  const askAll = (kind: string, names: readonly string[]) =>
    kubectl([
      "annotate",
      kind,
      ...names,
      "-n",
      namespace,
      "--overwrite",
      `chancery.dev/reconcile-requested-at=${crypto.randomUUID()}`,
    ])
  return {
    kubectl,
    certificate,
    issuer,
    shown,
    crt: (name: string) => shown("certificates.chancery.dev", name),
    secret: (name: string) => shown("secret", name),
    wait: (kind: string, name: string, condition: string) =>
      kubectl(["wait", `--for=condition=${condition}`, `${kind}/${name}`, "-n", namespace, "--timeout=60s"]),
    /** All of them, in one go. */
    waitAll: (kind: string, names: readonly string[]) =>
      kubectl([
        "wait",
        "--for=condition=Ready",
        ...names.map((name) => `${kind}/${name}`),
        "-n",
        namespace,
        "--timeout=60s",
      ]),
    /** To look again, as an engine tells nobody what has changed in it. */
    ask: (kind: string, name: string) => askAll(kind, [name]),
    askAll,
    annotate: (name: string, ...annotations: readonly string[]) =>
      kubectl(["annotate", "certificates.chancery.dev", name, "-n", namespace, "--overwrite", ...annotations]),
  }
}

const crt = "certificates.chancery.dev"
const reasons = ({ status }: Shown) =>
  (status.conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`)
const text = ({ data }: Shown, key: string) => Buffer.from(data?.[key] ?? "", "base64").toString()
const describeCertificate = (secret: Shown, ...args: readonly string[]) =>
  openssl(["x509", "-in", "tls.crt", "-noout", ...args], { "tls.crt": text(secret, "tls.crt") })

async function setUp(namespace: string) {
  const actions = actor(namespace)
  await authority(namespace)
  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } })
  await apply(actions.issuer("ca"))
  return actions
}

const programs = sharedCluster() === undefined ? undefined : await findKubernetes()

describe.skipIf(programs === undefined)("certificates in a cluster", () => {
  beforeAll(async () => {
    const plane = closing.use(await startControlPlane(programs!))
    cluster = openCluster(plane)
    await cluster.installDefinitions()
    const namespace = "operator"
    const config = await cluster.operatorAccess(namespace)
    const runtime = systemRuntime(silent)
    watcher = new KubernetesCluster({ api: closing.use(new ApiClient(config, runtime)), runtime })
    const clock = { now: () => Date.now() + aheadMs }
    world = closing.use(await openWorld({ jobs: false, runtime: { ...engineRuntime(), clock } }))
    const server = await startServer({ engine: world.engine })
    closing.defer(async () => void (await server.close()))
    url = server.url
    await apply(
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "engine", namespace },
        stringData: { token: world.rootToken },
      },
      {
        apiVersion: api,
        kind: "ClusterConnection",
        metadata: { name: "engine" },
        spec: { baseURL: url, tokenSecretRef: { name: "engine" }, allowedNamespaces: { matchNames: ["*"] } },
      },
    )
    const ending = new AbortController()
    const listening = Promise.withResolvers<string>()
    const running = runOperator(
      {
        config,
        namespace,
        identity: "one",
        runtime: { ...runtime, clock },
        listen: { host: "127.0.0.1", port: 0 },
        listening: listening.resolve,
      },
      ending.signal,
    )
    running.catch(listening.reject)
    closing.defer(async () => {
      ending.abort()
      await running
    })
    operatorUrl = await listening.promise
  })

  /** Every version of every Certificate of a namespace, as the operator sees them. */
  function follow(namespace: string, store: ObjectStore, changed: (key: string) => void) {
    return watcher.follow({ resource: certificateKind, namespace }, store, changed)
  }

  /** Of the operator, but for its Lease. */
  async function writes(): Promise<number> {
    const metrics = await (await request(`${operatorUrl}/metrics`)).body.text()
    const counts = metrics.matchAll(/rest_client_requests_total\{code="2\d\d",method="(?:POST|PATCH|DELETE)"\} (\d+)/g)
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
  }

  test("become ready with at most five writes each, and OpenSSL takes what is in the Secret", async () => {
    const { certificate, wait, waitAll, secret, crt: shown, kubectl } = await setUp("first")
    await wait("issuers.chancery.dev", "ca", "Ready")
    const before = await writes()
    const names = Array.from({ length: 5 }, (_, index) => `web-${index}`)
    await apply(...names.map((name) => certificate(name)))
    await waitAll(crt, names)
    expect(await writes()).toBeLessThanOrEqual(before + 5 * names.length)

    const [found, held] = [await shown("web-0"), await secret("web-0-tls")]
    expect(reasons(found)).toEqual(["Ready=True Issued"])
    const { status, metadata } = found
    expect(status).toMatchObject({ revision: 1, observedGeneration: metadata.generation })
    expect(describeCertificate(held, "-serial").toLowerCase()).toBe(
      `serial=${String(status["serialNumber"]).replaceAll(":", "")}\n`,
    )
    expect(held.type).toBe("kubernetes.io/tls")
    expect(held.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual([metadata.uid])
    const files = { "chain.pem": text(held, "tls.crt"), "ca.pem": text(held, "ca.crt") }
    expect(openssl(["verify", "-x509_strict", "-CAfile", "ca.pem", "chain.pem"], files)).toBe("chain.pem: OK\n")
    expect(openssl(["pkey", "-in", "key.pem", "-pubout"], { "key.pem": text(held, "tls.key") })).toBe(
      describeCertificate(held, "-pubkey"),
    )
    const renewal = Date.parse(String(status["renewalTime"]))
    const notAfter = Date.parse(String(status["notAfter"]))
    expect(renewal).toBeLessThanOrEqual(notAfter - 30 * dayMs)
    expect(renewal).toBeGreaterThanOrEqual(notAfter - 38 * dayMs)
    const metrics = await (await request(`${operatorUrl}/metrics`)).body.text()
    const labels = '{namespace="first",name="web-0"}'
    expect(metrics).toContain(`chancery_operator_certificate_ready_status${labels} 1\n`)
    expect(metrics).toContain(
      `chancery_operator_certificate_expiration_timestamp_seconds${labels} ${notAfter / 1_000}\n`,
    )
    expect(metrics).toContain(`chancery_operator_certificate_renewal_timestamp_seconds${labels} ${renewal / 1_000}\n`)
    // Keys are put down only until they are certified.
    const left = await kubectl(["get", "secrets", "-n", "first", "-o", "name"])
    expect(left).not.toContain("-next-")
    const columns = await kubectl(["get", "ecrt", "web-0", "-n", "first"])
    expect(columns.replaceAll(/ +/g, " ")).toMatch(/^NAME SECRET READY REASON AGE\nweb-0 web-0-tls True Issued /)
    const selected = await kubectl([
      "get",
      crt,
      "-n",
      "first",
      "--field-selector",
      "spec.secretName=web-3-tls",
      "-o",
      "name",
    ])
    expect(selected).toBe("certificate.chancery.dev/web-3\n")
  })

  describe("say what their specs ask for", () => {
    const cases: Readonly<
      Record<string, { readonly spec: object; readonly args: readonly string[]; readonly says: RegExp }>
    > = {
      "common-name": { spec: { commonName: "Web Server" }, args: ["-subject"], says: /CN ?= ?Web Server/ },
      "common-name-out": {
        spec: { commonName: "cn.example.com", excludeCNFromSANs: true },
        args: ["-ext", "subjectAltName"],
        says: /^(?!.*DNS:cn\.example\.com)/s,
      },
      names: {
        spec: { dnsNames: ["b.example.com", "*.example.com"] },
        args: ["-ext", "subjectAltName"],
        says: /DNS:\*\.example\.com/,
      },
      addresses: {
        spec: { ipAddresses: ["10.1.2.3", "2001:db8::1"] },
        args: ["-ext", "subjectAltName"],
        says: /IP Address:10\.1\.2\.3/,
      },
      uris: {
        spec: { uris: ["spiffe://example.com/web"] },
        args: ["-ext", "subjectAltName"],
        says: /URI:spiffe:\/\/example\.com\/web/,
      },
      mailboxes: {
        spec: { emailAddresses: ["ops@example.com"] },
        args: ["-ext", "subjectAltName"],
        says: /email:ops@example\.com/,
      },
      "user-ids": { spec: { userIDs: ["alice"] }, args: ["-subject"], says: /UID ?= ?alice/ },
      "other-names": {
        spec: { otherNames: [{ oid: "1.3.6.1.4.1.311.20.2.3", utf8Value: "alice@example.com" }] },
        args: ["-ext", "subjectAltName"],
        says: /othername: ?(?:UPN:)?(?::?alice@example\.com|<unsupported>)/i,
      },
      rsa: {
        spec: { privateKey: { algorithm: "RSA", size: 3072 } },
        args: ["-text"],
        says: /Public-Key: \(3072 bit\)/,
      },
      "p-384": { spec: { privateKey: { size: 384 } }, args: ["-text"], says: /ASN1 OID: secp384r1/ },
      ed25519: {
        spec: { privateKey: { algorithm: "Ed25519" } },
        args: ["-text"],
        says: /Public Key Algorithm: ED25519/,
      },
      "engine-key": {
        spec: { keySource: "Engine", privateKey: { algorithm: "ECDSA", size: 256 } },
        args: ["-text"],
        says: /Public-Key: \(256 bit\)/,
      },
      usages: {
        spec: { usages: ["digitalSignature", "serverAuth"] },
        args: ["-ext", "keyUsage,extendedKeyUsage"],
        says: /TLS Web Server Authentication/,
      },
      duration: { spec: { duration: "48h" }, args: ["-checkend", String(49 * 3_600)], says: /will expire/ },
      "long-duration": {
        spec: { duration: "2400h" },
        args: ["-checkend", String(99 * 86_400)],
        says: /will not expire/,
      },
    }

    test("each of them", async () => {
      const { certificate, waitAll, kubectl } = await setUp("fields")
      await apply(...Object.entries(cases).map(([name, { spec }]) => certificate(name, spec)))
      await waitAll(crt, Object.keys(cases))
      const list = await kubectl(["get", "secrets", "-n", "fields", "-o", "json"])
      const { items } = JSON.parse(list) as { readonly items: readonly Shown[] }
      const said = (name: string, args: readonly string[]) => {
        const held = items.find(({ metadata }) => metadata.name === `${name}-tls`)!
        // It answers with an exit code as well.
        if (args[0] === "-checkend") {
          try {
            return describeCertificate(held, ...args)
          } catch {
            return "Certificate will expire"
          }
        }
        return describeCertificate(held, ...args)
      }
      const wrong: string[] = []
      for (const [name, { args, says }] of Object.entries(cases)) if (!says.test(said(name, args))) wrong.push(name)
      expect(wrong).toEqual([])
    })

    test("and put it where they say, in every form", async () => {
      const { certificate, wait, secret } = await setUp("forms")
      const additionalOutputFormats = [
        { type: "DER" },
        { type: "CombinedPEM" },
        { type: "FullChain" },
        { type: "PKCS12", password: "hunter2" },
      ]
      const secretTemplate = { labels: { app: "web" }, annotations: { "example.com/note": "x" } }
      await apply(
        certificate("plain", { secretDeletionPolicy: "Retain" }),
        certificate("forms", { additionalOutputFormats, secretTemplate, privateKey: { encoding: "PKCS1" } }),
      )
      await wait(crt, "plain", "Ready")
      await wait(crt, "forms", "Ready")
      const [plain, forms] = [await secret("plain-tls"), await secret("forms-tls")]
      expect(Object.keys(plain.data ?? {}).toSorted()).toEqual(["ca.crt", "tls.crt", "tls.key"])
      expect(plain.metadata.ownerReferences).toBeUndefined()
      expect(Object.keys(forms.data ?? {}).toSorted()).toEqual([
        "ca.crt",
        "fullchain.pem",
        "key.der",
        "keystore.p12",
        "tls-combined.pem",
        "tls.crt",
        "tls.key",
        "truststore.p12",
      ])
      expect(text(forms, "tls.key")).toMatch(/^-----BEGIN EC PRIVATE KEY-----/)
      expect(forms.metadata.labels).toMatchObject({ app: "web", "controller.chancery.dev/managed": "true" })
      expect(forms.metadata.annotations).toMatchObject({ "example.com/note": "x", "chancery.dev/issuer-name": "ca" })
      const store = Buffer.from(forms.data?.["keystore.p12"] ?? "", "base64")
      const args = ["pkcs12", "-in", "store.p12", "-nodes", "-passin", "pass:hunter2"]
      expect(openssl(args, { "store.p12": store })).toContain("BEGIN PRIVATE KEY")

      // A change of the form is no reason for another certificate.
      await apply(
        certificate("forms", {
          additionalOutputFormats: [{ type: "DER" }],
          secretTemplate: { labels: { app: "api" } },
        }),
      )
      await expect
        .poll(async () => Object.keys((await secret("forms-tls")).data ?? {}).toSorted())
        .toEqual(["ca.crt", "key.der", "tls.crt", "tls.key"])
      const changed = await secret("forms-tls")
      expect(text(changed, "tls.crt")).toBe(text(forms, "tls.crt"))
      expect(text(changed, "tls.key")).toMatch(/^-----BEGIN PRIVATE KEY-----/)
      expect(changed.metadata.labels).toMatchObject({ app: "api" })
    })
  })

  test("are put right when somebody spoils or deletes the Secret", async () => {
    const { certificate, wait, secret, crt: shown, kubectl } = await setUp("spoilt")
    await apply(certificate("web"))
    await wait(crt, "web", "Ready")
    const first = (await shown("web")).status["serialNumber"]
    const other = openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])
    const patch = JSON.stringify({ data: { "tls.key": Buffer.from(other).toString("base64") } })
    await kubectl(["patch", "secret", "web-tls", "-n", "spoilt", "--type=merge", "-p", patch])
    await expect.poll(async () => (await shown("web")).status["revision"]).toBe(2)
    await kubectl(["delete", "secret", "web-tls", "-n", "spoilt"])
    await expect.poll(async () => (await shown("web")).status["revision"]).toBe(3)
    await wait(crt, "web", "Ready")
    const held = await secret("web-tls")
    expect(describeCertificate(held, "-serial")).not.toContain(String(first).replaceAll(":", "").toUpperCase())
    // A label that is taken away comes back, with the same certificate.
    await kubectl(["annotate", "secret", "web-tls", "-n", "spoilt", "chancery.dev/issuer-name-"])
    await expect
      .poll(async () => (await secret("web-tls")).metadata.annotations?.["chancery.dev/issuer-name"])
      .toBe("ca")
  })

  test("stay as they are when a change is refused, and are told to be stalled until it is mended", async () => {
    const { certificate, wait, secret, crt: shown, kubectl } = await setUp("refused")
    await world.engine
      .pki("refused")
      .roles.save("strict", { allowedDomains: ["example.com"], allowSubdomains: true, keyType: "any" })
    await apply(certificate("web", { role: "strict" }))
    await wait(crt, "web", "Ready")
    const before = await secret("web-tls")
    await apply(certificate("web", { role: "strict", dnsNames: ["www.example.org"] }))
    await wait(crt, "web", "Stalled")
    const stalled = await shown("web")
    expect(reasons(stalled)).toEqual([
      "Ready=False EngineRefused",
      "Stalled=True EngineRefused",
      "Issuing=True SpecChanged",
    ])
    expect(stalled.status.conditions?.[0]?.message).toContain("www.example.org")
    expect(stalled.status["failedIssuanceAttempts"]).toBe(1)
    expect(Date.parse(String(stalled.status["nextAttemptTime"]))).toBeGreaterThan(Date.now() + aheadMs)
    expect((await secret("web-tls")).metadata.resourceVersion).toBe(before.metadata.resourceVersion)
    // The key that it was asked for with waits for the next attempt, whoever makes that.
    const waiting = await kubectl(["get", "secrets", "-n", "refused", "-o", "name"])
    const [next = ""] = /web-next-[0-9a-f]+/.exec(waiting) ?? []
    const key = text(await secret(next), "tls.key")
    await world.engine.pki("refused").roles.update("strict", { allowedDomains: ["example.com", "example.org"] })
    await actor("refused").ask(crt, "web")
    await wait(crt, "web", "Ready")
    expect(text(await secret("web-tls"), "tls.key")).toBe(key)
    const ready = await shown("web")
    expect(reasons(ready)).toEqual(["Ready=True Issued"])
    expect(ready.status["failedIssuanceAttempts"]).toBeUndefined()
  })

  describe("that cannot be issued", () => {
    const cases = [
      {
        why: "no issuer",
        name: "no-issuer",
        spec: { issuerRef: { name: "nobody" } },
        reason: "Stalled=True IssuerMissing",
      },
      {
        why: "an issuer that is not ready",
        name: "unready",
        spec: { issuerRef: { name: "broken" } },
        reason: "Reconciling=True IssuerNotReady",
      },
      {
        why: "no role",
        name: "no-role",
        spec: { issuerRef: { name: "roleless" } },
        reason: "Stalled=True RoleMissing",
      },
      {
        why: "a role there is not",
        name: "other-role",
        spec: { role: "nothing" },
        reason: "Stalled=True EngineRefused",
      },
      {
        why: "a usage that the role does not give",
        name: "usage",
        spec: { usages: ["codeSigning"] },
        reason: "Stalled=True CertificateUnfit",
      },
      {
        why: "too short a life",
        name: "short",
        spec: { duration: "10m", renewBefore: "9m59s" },
        reason: "Stalled=True LifetimeTooShort",
      },
      {
        why: "a window that never opens",
        name: "window",
        spec: { renewalWindows: [{ cron: "0 0 30 2 *", duration: "1h" }] },
        reason: "Stalled=True InvalidSpec",
      },
      {
        why: "a key of no such size",
        name: "max-ttl",
        spec: { duration: "20000h" },
        reason: "Stalled=True EngineRefused",
      },
    ]
    beforeAll(async () => {
      const { certificate, issuer } = await setUp("bad")
      await apply(
        issuer("broken", { issuerRef: "nobody" }),
        issuer("roleless", { defaultRole: undefined }),
        ...cases.map(({ name, spec }) => certificate(name, spec)),
      )
    })

    test.each(cases)("with $why are $reason", async ({ name, reason }) => {
      const { crt: shown, kubectl } = actor("bad")
      await expect.poll(async () => reasons(await shown(name))).toContain(reason)
      await expect(kubectl(["get", "secret", `${name}-tls`, "-n", "bad"])).rejects.toThrow(/not found/)
    })
  })

  test("are renewed when they are due or somebody asks, never unready meanwhile, and the old one is revoked if so wished", async () => {
    const { certificate, wait, waitAll, secret, crt: shown, ask, askAll, annotate, kubectl } = await setUp("renewal")
    await apply(
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "web", namespace: "renewal" },
        spec: {
          selector: { matchLabels: { app: "web" } },
          template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web" }] } },
        },
      },
      certificate("web", {
        revocationPolicy: { onRotation: true },
        rolloutRestart: [{ kind: "Deployment", name: "web" }],
      }),
      certificate("still", { renewalPolicy: "Disabled" }),
      certificate("kept", { privateKey: { rotationPolicy: "Never" } }),
    )
    await waitAll(crt, ["web", "still", "kept"])
    const [first, kept] = [await shown("web"), await secret("kept-tls")]
    const transition = (one: Shown) => JSON.stringify(one.status.conditions?.find(({ type }) => type === "Ready"))

    aheadMs += 62 * dayMs
    await askAll(crt, ["web", "still", "kept"])
    await expect.poll(async () => (await shown("web")).status["revision"]).toBe(2)
    await expect.poll(async () => (await shown("kept")).status["revision"]).toBe(2)
    const second = await shown("web")
    // Ready has been true all along.
    expect(transition(second)).toBe(transition(first))
    expect(reasons(second)).toEqual(["Ready=True Issued"])
    const old = String(first.status["serialNumber"])
    expect(second.status["history"]).toMatchObject([{ serialNumber: old, revokedAt: expect.any(String) as string }])
    expect((await world.engine.pki("renewal").certificates.get(old)).revokedAt).not.toBeNull()
    const template = JSON.stringify(await actor("renewal").shown("deployment", "web"))
    expect(template).toContain(String(second.status["serialNumber"]))
    // The same key, another certificate.
    expect(text(await secret("kept-tls"), "tls.key")).toBe(text(kept, "tls.key"))
    expect(text(await secret("kept-tls"), "tls.crt")).not.toBe(text(kept, "tls.crt"))
    expect((await shown("still")).status["revision"]).toBe(1)

    await annotate("web", "chancery.dev/renew-requested-at=now")
    await expect.poll(async () => (await shown("web")).status["revision"]).toBe(3)
    expect((await shown("web")).status["lastHandledRenewAt"]).toBe("now")
    await ask(crt, "web")
    await expect.poll(async () => await kubectl(["get", "events", "-n", "renewal"])).toContain("Renewed")
    expect((await shown("web")).status["revision"]).toBe(3)

    aheadMs += 40 * dayMs
    await ask(crt, "still")
    await wait(crt, "still", "Stalled")
    expect(reasons(await shown("still"))).toEqual(["Ready=False Expired", "Stalled=True Expired"])
  })

  test("that the engine has revoked are issued anew", async () => {
    const { certificate, wait, crt: shown, ask } = await setUp("revoked")
    await apply(certificate("web"))
    await wait(crt, "web", "Ready")
    const serialNumber = String((await shown("web")).status["serialNumber"])
    await world.engine.pki("revoked").revocations.revoke({ serialNumber })
    await ask(crt, "web")
    await expect.poll(async () => (await shown("web")).status["revision"]).toBe(2)
    await wait(crt, "web", "Ready")
  })

  test("are revoked when they are deleted, if so wished, and then their Certificate goes", async () => {
    const { certificate, wait, waitAll, secret, crt: shown, kubectl, issuer } = await setUp("deleted")
    await apply(
      issuer("other"),
      certificate("web", { revocationPolicy: { onDelete: true } }),
      certificate("left", { issuerRef: { name: "other" }, revocationPolicy: { onDelete: true } }),
      certificate("plain"),
    )
    await waitAll(crt, ["web", "left", "plain"])
    const [web, plain] = [await shown("web"), await shown("plain")]
    const held = await secret("web-tls")
    expect(web.metadata.finalizers).toEqual(["chancery.dev/revoke"])
    expect(plain.metadata.finalizers).toBeUndefined()
    // Paused or not.
    await actor("deleted").annotate("web", "chancery.dev/paused=true")
    await kubectl(["delete", crt, "web", "plain", "-n", "deleted", "--timeout=60s"])
    const { certificates, crls } = world.engine.pki("deleted")
    expect((await certificates.get(String(web.status["serialNumber"]))).revokedAt).not.toBeNull()
    expect((await certificates.get(String(plain.status["serialNumber"]))).revokedAt).toBeNull()
    const crl = writePem("X509 CRL", (await crls.get())!.der)
    const files = { "chain.pem": text(held, "tls.crt"), "ca.pem": text(held, "ca.crt"), "crl.pem": crl }
    expect(() =>
      openssl(["verify", "-crl_check", "-CAfile", "ca.pem", "-CRLfile", "crl.pem", "chain.pem"], files),
    ).toThrow(/revoked/)

    await kubectl(["delete", "issuers.chancery.dev", "other", "-n", "deleted"])
    await kubectl(["delete", crt, "left", "-n", "deleted", "--wait=false"])
    await wait(crt, "left", "Stalled")
    const stuck = (await shown("left")).status.conditions?.find(({ type }) => type === "Stalled")
    expect(stuck?.reason).toBe("IssuerMissing")
    const [, patch = ""] = /kubectl (patch .*)$/.exec(stuck?.message ?? "") ?? []
    await kubectl(patch.replaceAll("'", "").split(" "))
    await expect(kubectl(["get", crt, "left", "-n", "deleted"])).rejects.toThrow(/not found/)
  })

  test("of one Secret: the first has it, the other is told whose it is, and nobody's Secret is left alone", async () => {
    const { certificate, wait, crt: shown, secret, kubectl } = await setUp("conflict")
    await apply(certificate("first", { secretName: "tls" }))
    await wait(crt, "first", "Ready")
    const mine = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "mine", namespace: "conflict" },
      stringData: { a: "b" },
    }
    await apply(certificate("second", { secretName: "tls" }), mine, certificate("third", { secretName: "mine" }))
    await wait(crt, "second", "Stalled")
    await wait(crt, "third", "Stalled")
    const [second, third] = [await shown("second"), await shown("third")]
    expect(reasons(second)).toEqual(["Ready=False SecretNameConflict", "Stalled=True SecretNameConflict"])
    expect(second.status.conditions?.[0]?.message).toContain("that of the Certificate first")
    expect(third.status.conditions?.[0]?.message).toContain("secretAdoption")
    expect(Object.keys((await secret("mine")).data ?? {})).toEqual(["a"])
    await apply(certificate("third", { secretName: "mine", secretAdoption: "Force" }))
    await wait(crt, "third", "Ready")
    const adopted = await secret("mine")
    expect(adopted.type).toBe("Opaque")
    expect(Object.keys(adopted.data ?? {}).toSorted()).toEqual(["a", "ca.crt", "tls.crt", "tls.key"])
    // Whoever comes after the first is gone takes over.
    await kubectl(["delete", crt, "first", "-n", "conflict", "--timeout=60s"])
    await actor("conflict").ask(crt, "second")
    await wait(crt, "second", "Ready")
    expect((await secret("tls")).metadata.annotations?.["chancery.dev/certificate-name"]).toBe("second")
  })

  test("of an authority that changes: old and new are published, and they are issued anew after half of the overlap", async () => {
    const { certificate, wait, crt: shown, secret, ask, issuer } = await setUp("rotation")
    await apply(
      issuer("ca", { caChainConfigMap: "chain" }),
      certificate("web", { trust: { publishTo: { configMapName: "trust" }, overlap: "24h" } }),
    )
    await wait(crt, "web", "Ready")
    const bundle = async (name = "trust") => (await actor("rotation").shown("configmap", name)).data?.["ca.crt"] ?? ""
    const count = (pem: string) => pem.split("BEGIN CERTIFICATE").length - 1
    const [before, held] = [await bundle(), await secret("web-tls")]
    expect(count(before)).toBe(1)
    expect(before).toBe(text(held, "ca.crt"))
    const status = async () => (await actor("rotation").shown("issuers.chancery.dev", "ca")).status
    const { caFingerprint } = await status()

    const pki = world.engine.pki("rotation")
    const next = await pki.issuers.generateRoot({ commonName: "next root", keyType: "ec", ttlMs: 3_000 * dayMs })
    await pki.settings.changeIssuers({ default: next.issuerId })
    await ask("issuers.chancery.dev", "ca")
    await expect.poll(async () => (await status())["caFingerprint"]).not.toBe(caFingerprint)
    await expect.poll(async () => count(await bundle())).toBe(2)
    expect(await bundle()).toContain(writePem("CERTIFICATE", next.certificate))
    await expect.poll(async () => count(await bundle("chain"))).toBe(1)
    expect(await bundle("chain")).toContain(writePem("CERTIFICATE", next.certificate))
    expect((await secret("web-tls")).metadata.resourceVersion).toBe(held.metadata.resourceVersion)
    expect(reasons(await shown("web"))).toContain("TrustPublished=True AuthoritiesOverlap")

    aheadMs += 13 * hourMs
    await ask(crt, "web")
    await expect.poll(async () => (await shown("web")).status["revision"]).toBe(2)
    expect(text(await secret("web-tls"), "ca.crt")).toBe(`${writePem("CERTIFICATE", next.certificate)}\n`)
    expect(count(await bundle())).toBe(2)
    aheadMs += 12 * hourMs
    await ask(crt, "web")
    await expect.poll(async () => count(await bundle())).toBe(1)
    expect(await bundle()).toBe(`${writePem("CERTIFICATE", next.certificate)}\n`)
  })

  test("are never taken for finished before they are, by whatever reads their conditions", async () => {
    const { certificate, wait, crt: shown, kubectl } = await setUp("sampled")
    const samples: KubernetesObject[] = []
    const store = new ObjectStore()
    const following = follow("sampled", store, (key) => {
      const object = store.get(key)
      if (object !== undefined) samples.push(object)
    })
    await following.whenSynced()
    const role = { role: "narrow" }
    await world.engine.pki("sampled").roles.save("narrow", {
      allowedDomains: ["example.com"],
      allowSubdomains: true,
      keyType: "any",
    })
    const revocationPolicy = { onDelete: true }
    await apply(certificate("web", { ...role, revocationPolicy }))
    await wait(crt, "web", "Ready")
    await apply(certificate("web", { ...role, revocationPolicy, dnsNames: ["api.example.com"] }))
    await expect.poll(async () => (await shown("web")).status["revision"]).toBe(2)
    await apply(certificate("web", { ...role, revocationPolicy, dnsNames: ["api.example.org"] }))
    await wait(crt, "web", "Stalled")
    await apply(certificate("web", { ...role, revocationPolicy, dnsNames: ["www.example.com"] }))
    await wait(crt, "web", "Ready")
    await kubectl(["delete", crt, "web", "-n", "sampled", "--timeout=60s"])
    await following.stop()

    const seen = samples.map((sample) => {
      const { conditions = [] } = (sample["status"] ?? {}) as Shown["status"]
      const isReady = conditions.some(({ type, status }) => type === "Ready" && status === "True")
      const fares = kstatus(sample)
      return { fares, isUsable: isReady && fares === "Current" }
    })
    expect(seen[0]?.fares).toBe("InProgress")
    expect(seen.filter(({ fares, isUsable }) => fares === "Current" && !isUsable)).toEqual([])
    // Whatever is repeated in between says the same.
    const told = seen.map(({ fares }) => fares).filter((fares, index, all) => fares !== all[index - 1])
    expect(told).toEqual([
      "InProgress",
      "Current",
      "InProgress",
      "Current",
      "InProgress",
      "Failed",
      "InProgress",
      "Current",
      "Terminating",
    ])
    const health = { InProgress: "Progressing", Current: "Healthy", Failed: "Degraded", Terminating: "Progressing" }
    const byArgo = await Promise.all(samples.map(async (sample) => (await argoHealth(sample)).status))
    expect(byArgo).toEqual(seen.map(({ fares }) => health[fares]))
  })

  test("are left alone while they are paused", async () => {
    const { certificate, wait, crt: shown, annotate } = await setUp("paused")
    await apply(certificate("web", {}, { annotations: { "chancery.dev/paused": "true" } }))
    await wait(crt, "web", "Paused")
    expect(reasons(await shown("web"))).toEqual(["Ready=False Paused", "Paused=True Paused"])
    await expect(cluster.kubectl(["get", "secret", "web-tls", "-n", "paused"])).rejects.toThrow(/not found/)
    await annotate("web", "chancery.dev/paused-")
    await wait(crt, "web", "Ready")
  })

  test("of a ClusterIssuer are issued where its connection allows it", async () => {
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

  test("are there for ACME clients too where an Issuer offers it, with a token in a Secret that comes anew when it is deleted", async () => {
    const { issuer, wait, shown, secret, kubectl } = await setUp("offering")
    await apply(issuer("ca", { acme: { eabPolicy: "NewAccountRequired", eabSecretName: "eab" } }))
    await wait("issuers.chancery.dev", "ca", "AcmeOffered=False")
    expect(reasons(await shown("issuers.chancery.dev", "ca"))).toEqual([
      "Ready=True AuthorityFound",
      "AcmeOffered=False EngineRefused",
    ])
    const config = { allowedResponseHeaders: ["Location", "Replay-Nonce", "Link"] }
    await world.engine.mounts.tune("offering", { config })
    await world.engine.pki("offering").settings.changeCluster({ path: "https://ca.example.com/v1/offering" })
    await actor("offering").ask("issuers.chancery.dev", "ca")
    await wait("issuers.chancery.dev", "ca", "AcmeOffered")
    const directory = "https://ca.example.com/v1/offering/acme/directory"
    expect((await shown("issuers.chancery.dev", "ca")).status["acmeDirectory"]).toBe(directory)
    const token = await secret("eab")
    expect(text(token, "directory")).toBe(directory)
    const answer = await fetch(`${url}/v1/offering/acme/directory`)
    const { meta } = (await answer.json()) as { meta: { externalAccountRequired: boolean } }
    expect(meta.externalAccountRequired).toBe(true)
    const waiting = async () => (await world.engine.acme("offering").eab.list()).map(({ id }) => id)
    expect(await waiting()).toEqual([text(token, "kid")])
    await kubectl(["delete", "secret", "eab", "-n", "offering"])
    await expect.poll(async () => (await waiting()).length).toBe(2)
    await expect.poll(() => kubectl(["get", "secrets", "-n", "offering", "-o", "name"])).toContain("secret/eab")
    expect(text(await secret("eab"), "kid")).not.toBe(text(token, "kid"))
  })

  test("of a CertificateRole wait for it; it is made, kept in step or told of, adopted only if so wished, and deleted", async () => {
    const { certificate, wait, waitAll, crt: shown, kubectl, ask } = await setUp("roles")
    const roles = world.engine.pki("roles").roles
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
    // What nobody declares stays as it is.
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
