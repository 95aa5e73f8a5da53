// Certificates under failures: the engine answers late, with errors or not at all, or its answers are lost. The API server is restarted,
// and the operator's replicas change.
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import type { KubeConfig } from "@kubernetes/client-node"
import { request } from "undici"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startServer } from "../../engine/src/server/server.ts"
import { openTestEngine, type TestEngine } from "../../engine/testing/test-engine.ts"
import { storedIn } from "../../operator/src/controllers/certificate/stored-certificate.ts"
import type { KubernetesObject } from "../../operator/src/kube/kubernetes-object.ts"
import { runOperator } from "../../operator/src/operator.ts"
import { systemRuntime } from "../../operator/src/runtime.ts"
import { type Cluster, openCluster } from "../e2e/operator/cluster.ts"
import { type ControlPlane, startControlPlane } from "../e2e/operator/control-plane.ts"
import { findKubernetes } from "../toolchain/kubernetes.ts"

const isShort = process.env["CHANCERY_SHORT"] === "1"
const certificatesCount = isShort ? 20 : 150
const rounds = isShort ? 2 : 8
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const dayMs = 86_400_000
const api = "chancery.dev/v1alpha1"
const namespace = "chaos"

const programs = await findKubernetes()
const closing = new AsyncDisposableStack()
afterAll(() => closing.disposeAsync())

/** Starts a proxy between the operator and the engine that delays, fails or loses every third answer. */
async function unreliable(target: string): Promise<{ readonly url: string; heal(): void }> {
  let count = 0
  let isHealed = false
  async function forward({ method = "GET", url, headers: { host: _, ...headers } }: IncomingMessage, sent: Buffer) {
    const answer = await request(`${target}${url}`, {
      method: method as "GET",
      headers: headers as Record<string, string>,
      ...(sent.length === 0 ? {} : { body: sent }),
    })
    const { "content-length": _length, "transfer-encoding": _encoding, ...forwardedHeaders } = answer.headers
    return { status: answer.statusCode, forwardedHeaders, text: await answer.body.text() }
  }
  const server = createServer((incoming, answer) => {
    const pieces: Buffer[] = []
    incoming.on("data", (piece: Buffer) => pieces.push(piece))
    incoming.on("end", () => {
      count += 1
      const fault = isHealed ? undefined : (["late", "busy", "limited", "cut", "deaf"] as const)[count % 15]
      if (fault === "busy") answer.writeHead(503).end("{}")
      else if (fault === "limited") answer.writeHead(429, { "retry-after": "1" }).end("{}")
      else if (fault === "cut") incoming.socket.destroy()
      else
        forward(incoming, Buffer.concat(pieces)).then(
          ({ status, forwardedHeaders, text }) => {
            const send = () => void answer.writeHead(status, forwardedHeaders).end(text)
            // The engine executed the request, but its answer is lost.
            if (fault === "deaf") incoming.socket.destroy()
            else if (fault === "late") setTimeout(send, 1_000)
            else send()
          },
          () => incoming.socket.destroy(),
        )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  closing.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heal: () => void (isHealed = true) }
}

describe.skipIf(programs === undefined)("many certificates", () => {
  let controlPlane: ControlPlane
  let cluster: Cluster
  let testEngine: TestEngine
  let config: KubeConfig
  let engine: Awaited<ReturnType<typeof unreliable>>

  beforeAll(async () => {
    controlPlane = closing.use(await startControlPlane(programs!, { flags: ["--etcd-compaction-interval=10s"] }))
    cluster = openCluster(controlPlane)
    await cluster.installDefinitions()
    config = await cluster.operatorAccess("operator")
    testEngine = closing.use(await openTestEngine({ jobs: false }))
    const server = await startServer({ engine: testEngine.engine })
    closing.defer(async () => void (await server.close()))
    engine = await unreliable(server.url)
    await testEngine.engine.mounts.create({ path: "pki", config: { maxLeaseTtlMs: 3_650 * dayMs } })
    const pki = testEngine.engine.pki("pki")
    await pki.issuers.generateRoot({ commonName: "Root", keyType: "ec", ttlMs: 3_000 * dayMs })
    await pki.roles.save("any", { allowAnyName: true, enforceHostnames: false, keyType: "any", ttlMs: 90 * dayMs })
  })

  const list = async (kind: string) =>
    (JSON.parse(await cluster.kubectl(["get", kind, "-n", namespace, "-o", "json"])) as { items: KubernetesObject[] })
      .items
  const apply = (...items: readonly object[]) =>
    cluster.kubectl(["apply", "--server-side", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items }))

  function startReplica(identity: string) {
    const ending = new AbortController()
    const runtime = systemRuntime(silent)
    const running = runOperator(
      { config, namespace: "operator", identity, runtime, listen: { host: "127.0.0.1", port: 0 } },
      ending.signal,
    ).catch(() => "lost")
    return async () => {
      ending.abort()
      await running
    }
  }

  test("all get their Secrets, each with its own key, and no object is left over", async () => {
    const names = Array.from({ length: certificatesCount }, (_, index) => `web-${index}`)
    await apply(
      { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "engine", namespace: "operator" },
        stringData: { token: testEngine.rootToken },
      },
      {
        apiVersion: api,
        kind: "ClusterConnection",
        metadata: { name: "engine" },
        spec: {
          baseURL: engine.url,
          tokenSecretRef: { name: "engine" },
          allowedNamespaces: { matchNames: [namespace] },
        },
      },
      {
        apiVersion: api,
        kind: "Issuer",
        metadata: { name: "ca", namespace },
        spec: { connectionRef: { kind: "ClusterConnection", name: "engine" }, mount: "pki", defaultRole: "any" },
      },
    )
    await apply(
      ...names.map((name) => ({
        apiVersion: api,
        kind: "Certificate",
        metadata: { name, namespace },
        spec: { secretName: `${name}-tls`, issuerRef: { name: "ca" }, dnsNames: [`${name}.example.com`] },
      })),
    )
    let stop = startReplica("replica-0")
    for (let round = 1; round <= rounds; round += 1) {
      await new Promise((resolve) => setTimeout(resolve, 3_000))
      const next = startReplica(`replica-${round}`)
      await stop()
      stop = next
      if (round % 2 === 0) await controlPlane.restartServer()
      const token = `chancery.dev/renew-requested-at=${round}`
      await cluster.kubectl(["annotate", "certificates.chancery.dev", "--all", "-n", namespace, "--overwrite", token])
    }
    engine.heal()
    const incoming = "chancery.dev/reconcile-requested-at=healed"
    await cluster.kubectl(["annotate", "certificates.chancery.dev", "--all", "-n", namespace, "--overwrite", incoming])
    const unfinished = async () =>
      (await list("certificates.chancery.dev")).flatMap(({ metadata, status }) => {
        const { lastHandledRenewAt, conditions = [] } = (status ?? {}) as {
          readonly lastHandledRenewAt?: string
          readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[]
        }
        const is = (type: string) => conditions.some((one) => one.type === type && one.status === "True")
        if (is("Ready") && !is("Issuing") && lastHandledRenewAt === String(rounds)) return []
        const summaries = conditions.map(({ type, status: value, message }) => `${type} ${value}: ${message}`)
        return [`${metadata.name}, renewal ${lastHandledRenewAt}: ${summaries.join("; ")}`]
      })
    await expect.poll(unfinished, { timeout: 240_000, interval: 1_000 }).toEqual([])

    const certificates = new Map((await list("certificates.chancery.dev")).map((one) => [one.metadata.name, one]))
    // The last next-key Secrets are deleted after the status is written.
    await expect
      .poll(async () => (await list("secrets")).map(({ metadata }) => metadata.name).toSorted(), { timeout: 60_000 })
      .toEqual(names.map((name) => `${name}-tls`).toSorted())
    const serials = new Set<string>()
    for (const secret of await list("secrets")) {
      const stored = storedIn(secret)
      const owner = certificates.get(secret.metadata.name.replace(/-tls$/, ""))
      const { serialNumber } = (owner?.["status"] ?? {}) as { readonly serialNumber?: string }
      expect([stored.is, stored.is === "whole" ? stored.serialNumber : ""]).toEqual(["whole", serialNumber])
      serials.add(serialNumber ?? "")
    }
    expect(serials.size).toBe(names.length)
    await stop()
  })
})
