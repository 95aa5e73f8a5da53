// The operator under failures: the API server is restarted and compacts its history, and watches are cut. The engine refuses, is late, or
// loses answers, and the leader is killed. A seed repeats the order.
import { X509Certificate, createPrivateKey } from "node:crypto"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { KubeConfig } from "@kubernetes/client-node"
import { expect, test } from "vitest"
import { startServer } from "../../engine/src/server/server.ts"
import { seededRandom } from "../../engine/testing/seeded-random.ts"
import { openTestEngine } from "../../engine/testing/test-engine.ts"
import { temporaryFolder } from "../cli/chancery.ts"
import { openCluster } from "../e2e/operator/cluster.ts"
import { startControlPlane } from "../e2e/operator/control-plane.ts"
import { startCuttableProxy, startFaultyEngine } from "../e2e/operator/faults.ts"
import { type OperatorProcess, startOperatorProcess } from "../e2e/operator/operator-process.ts"
import { inParallel, openRawApi } from "../e2e/operator/raw-api.ts"
import { findKubernetes, kubernetesInstallation } from "../toolchain/kubernetes.ts"
import { warnMissing } from "../toolchain/missing.ts"

const short = process.env["CHANCERY_SHORT"] === "1"
const restarts = short ? 3 : 100
const objects = short ? 15 : 150
/** The longest backoff is five minutes. */
const readyMs = 900_000
const seed = Number(process.env["CHANCERY_SEED"] ?? Date.now() % 2 ** 32)
const programs = (await findKubernetes()) ?? warnMissing(kubernetesInstallation)

interface Shown {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly generation: number }
  readonly spec: { readonly description?: string }
  readonly status: {
    readonly id?: string
    readonly serialNumber?: string
    readonly observedGeneration: number
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[]
  }
}

test.skipIf(programs === undefined)(
  `the operator loses nothing and creates nothing twice while everything fails (seed ${seed})`,
  { timeout: 7_200_000 },
  async () => {
    const bytes = seededRandom(seed)
    const random = () => Buffer.from(bytes.bytes(4)).readUInt32BE() / 2 ** 32
    await using folder = await temporaryFolder()
    await using controlPlane = await startControlPlane(programs!, { flags: ["--etcd-compaction-interval=10s"] })
    const cluster = openCluster(controlPlane)
    await cluster.installDefinitions()
    const direct = await cluster.operatorAccess("chancery")
    await using api = await openRawApi(cluster.adminAccess())

    await using testEngine = await openTestEngine({ jobs: false })
    await testEngine.engine.organizations.create({ name: "acme", email: "acme@example.com" })
    await testEngine.engine.mounts.create({ path: "pki" })
    await testEngine.engine.pki("pki").issuers.generateRoot({ commonName: "Root", keyType: "ec", issuerName: "root" })
    const role = { allowedDomains: ["example.com"], allowSubdomains: true, keyType: "ec", ttlMs: 86_400_000 } as const
    await testEngine.engine.pki("pki").roles.save("web", role)
    const server = await startServer({ engine: testEngine.engine })
    await using stopping = new AsyncDisposableStack()
    stopping.defer(async () => void (await server.close()))
    const engine = stopping.use(await startFaultyEngine(server.url, random))
    const proxy = stopping.use(await startCuttableProxy(Number(new URL(direct.getCurrentCluster()!.server).port)))
    const config = throughPort(direct, proxy.port)

    const secret = { metadata: { name: "engine", namespace: "chancery" }, stringData: { token: testEngine.rootToken } }
    await cluster.kubectl(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "Secret", ...secret }))
    const apply = (object: object) => retrying(() => cluster.kubectl(["apply", "-f", "-"], JSON.stringify(object)))
    const connectionRef = { kind: "ClusterConnection", name: "default" }
    const ours = (kind: string, name: string, spec: object, namespace?: string) => ({
      apiVersion: "chancery.dev/v1alpha1",
      kind,
      metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
      spec,
    })
    await apply(
      ours("ClusterConnection", "default", {
        baseURL: engine.url,
        tokenSecretRef: { name: "engine" },
        organization: "acme",
        allowedNamespaces: { matchNames: ["default"] },
      }),
    )
    await apply(ours("Issuer", "pki", { connectionRef, mount: "pki", defaultRole: "web" }, "default"))

    // Restarts processes that end, as a kubelet does.
    const living = new Map<string, OperatorProcess>()
    const ending = new AbortController()
    const keepAlive = async (identity: string) => {
      for (let life = 0; !ending.signal.aborted; life += 1) {
        const kubeconfig = join(folder.path, `kubeconfig-${identity}`)
        const options = { config, kubeconfig, namespace: "chancery", identity: `${identity}-${life}` }
        const operator = await startOperatorProcess(options).catch(() => undefined)
        if (operator === undefined) continue
        living.set(identity, operator)
        if (ending.signal.aborted) await operator.kill()
        await operator.ended
        living.delete(identity)
      }
    }
    const keeping = Promise.all(["a", "b"].map(keepAlive))
    stopping.defer(async () => {
      ending.abort()
      for (const operator of living.values()) await operator.kill()
      await keeping
    })

    // After another replica was seen as leader, the earlier leader must never be seen as leader again.
    const deposed = new Set<OperatorProcess>()
    let leader: OperatorProcess | undefined
    let twoLeadersCount = 0
    const looking = new AbortController()
    const watchLeaders = async () => {
      while (!looking.signal.aborted) {
        for (const operator of living.values()) {
          const leads = await operator.metric("leader_election_master_status").catch(() => 0)
          if (leads !== 1) continue
          if (deposed.has(operator)) twoLeadersCount += 1
          if (leader !== undefined && leader !== operator) deposed.add(leader)
          leader = operator
        }
        await sleep(50)
      }
    }
    const watched = watchLeaders()

    const description = (name: string, edit: number) => `${name}, edit ${edit}`
    const source = (kind: string, data: object) =>
      apply({ apiVersion: "v1", kind, metadata: { name: "values", namespace: "default" }, ...data })
    await source("Secret", { stringData: { hidden: "0" } })
    await source("ConfigMap", { data: { open: "0" } })
    const workspaceOf = (name: string, edit: number) => {
      const variables = [
        { key: `edit-${edit}`, value: String(edit) },
        { key: "open", valueFrom: { configMapKeyRef: { name: "values", key: "open" } } },
        { key: "hidden", category: "env", valueFrom: { secretKeyRef: { name: "values", key: "hidden" } } },
      ]
      return ours("Workspace", name, { connectionRef, description: description(name, edit), variables }, "default")
    }
    const names = Array.from({ length: objects }, (_, index) => index)
    const makeAll = inParallel(names, 4, async (index) => {
      await apply(workspaceOf(`w${index}`, 0))
      const spec = { secretName: `c${index}-tls`, issuerRef: { name: "pki" }, dnsNames: [`c${index}.example.com`] }
      await apply(ours("Certificate", `c${index}`, spec, "default"))
    })
    let kills = 0
    for (let restart = 1; restart <= restarts; restart += 1) {
      proxy.cut()
      await controlPlane.restartServer()
      const edited = Math.floor(random() * objects)
      await apply(workspaceOf(`w${edited}`, restart))
      await source("Secret", { stringData: { hidden: String(restart) } })
      await source("ConfigMap", { data: { open: String(restart) } })
      await sleep(random() * 2_000)
      proxy.cut()
      if (random() < 0.5 || restart === 1) {
        await leader?.kill()
        kills += 1
      }
    }
    await makeAll
    // A few objects may reach the engine only now.
    const missing = () => Object.entries(engine.faults).filter(([, count]) => count === 0)
    await expect.poll(missing, { timeout: readyMs, interval: 100 }).toEqual([])
    engine.recover()

    const list = async (plural: string) => {
      const path = `/apis/chancery.dev/v1alpha1/namespaces/default/${plural}`
      return ((await retrying(() => api.send("GET", path))) as { readonly items: readonly Shown[] }).items
    }
    const unready = async () =>
      [...(await list("workspaces")), ...(await list("certificates"))]
        .filter((object) => !isReady(object))
        .map(({ metadata, status }) => `${metadata.name}: ${status.conditions?.map(({ reason }) => reason).join()}`)
    await expect.poll(unready, { timeout: readyMs, interval: 1_000 }).toEqual([])
    looking.abort()
    await watched

    const [workspaces, certificates] = [await list("workspaces"), await list("certificates")]
    expect([workspaces.length, certificates.length]).toEqual([objects, objects])
    const made = new Map<string, { readonly id: string; readonly description: string | null }>()
    for (let number = 1; made.size < objects && number <= 100; number += 1)
      for (const one of (await testEngine.engine.workspaces.list("acme", {}, { number, size: 100 })).items)
        made.set(one.name, one)
    expect(Object.fromEntries([...made].map(([name, { id, description }]) => [name, { id, description }]))).toEqual(
      Object.fromEntries(
        workspaces.map(({ metadata, spec, status }) => [
          metadata.name,
          { id: status.id, description: spec.description },
        ]),
      ),
    )
    // Remaining differences are found by the next poll at the latest.
    const variablesOf = async ({ spec: { description: shownText = "" }, status: { id = "" } }: Shown) => {
      const [edit = ""] = /\d+$/.exec(shownText) ?? []
      const found = await testEngine.engine.variables.list({ id })
      return { edit, found: found.map(({ key, value, sensitive }) => (sensitive ? key : `${key}=${value}`)).toSorted() }
    }
    const others = async () =>
      (await Promise.all(workspaces.map(variablesOf))).filter(
        ({ edit, found }) => found.join() !== `edit-${edit}=${edit},hidden,open=${restarts}`,
      )
    await expect.poll(others, { timeout: readyMs, interval: 1_000 }).toEqual([])
    for (const { metadata, status } of certificates) {
      const { data } = (await api.send("GET", `/api/v1/namespaces/default/secrets/${metadata.name}-tls`)) as {
        readonly data: Readonly<Record<string, string>>
      }
      const part = (name: string) => Buffer.from(data[name] ?? "", "base64").toString()
      const certificate = new X509Certificate(part("tls.crt"))
      expect(certificate.checkPrivateKey(createPrivateKey(part("tls.key")))).toBe(true)
      expect(status.serialNumber?.replaceAll(":", "").toUpperCase()).toBe(certificate.serialNumber)
    }
    expect(twoLeadersCount).toBe(0)
    console.log(`${restarts} restarts, ${kills} leaders killed, ${JSON.stringify(engine.faults)} of the engine`)
  },
)

const isReady = ({ metadata, status }: Shown): boolean =>
  status.observedGeneration === metadata.generation &&
  (status.conditions ?? []).some(({ type, status: holds }) => type === "Ready" && holds === "True")

const maxAttempts = 120

/** Repeats an operation of the administrator until it succeeds, because the API server is often down. */
async function retrying<Value>(work: () => Promise<Value>): Promise<Value> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (attempt === maxAttempts) throw error
      await sleep(500)
    }
  }
}

/** Returns the same access through another port of this machine. */
function throughPort(config: KubeConfig, port: number): KubeConfig {
  const other = new KubeConfig()
  other.loadFromString(config.exportConfig().replaceAll(/https:\/\/127\.0\.0\.1:\d+/g, `https://127.0.0.1:${port}`))
  return other
}
