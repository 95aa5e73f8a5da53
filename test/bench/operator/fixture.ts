// Fixture of the operator's benches: a real API server and etcd, an engine with a CA behind a server, and the built operator, each in a
// separate process on this machine.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { KubeConfig } from "@kubernetes/client-node"
import { type Cluster, openCluster } from "../../e2e/operator/cluster.ts"
import { startControlPlane } from "../../e2e/operator/control-plane.ts"
import { type OperatorProcess, startOperatorProcess } from "../../e2e/operator/operator-process.ts"
import { inParallel, openRawApi, type RawApi } from "../../e2e/operator/raw-api.ts"
import { findKubernetes, kubernetesInstallation } from "../../toolchain/kubernetes.ts"
import { type RunningChancery, startChancery } from "../chancery.ts"

/** Objects of each kind. A smaller number suffices to check that the bench works. */
export const objectCount = Number(process.env["CHANCERY_BENCH_COUNT"] ?? 10_000)
export const clientCount = 16

export interface Fixture extends AsyncDisposable {
  readonly cluster: Cluster
  /** Acts as the administrator. */
  readonly api: RawApi
  readonly engine: RunningChancery
  startOperator(identity: string, ...args: readonly string[]): Promise<OperatorProcess>
  makeNamespace(name: string): Promise<void>
  /** Applies the objects server-side, with `clientCount` clients at once. */
  make(plural: string, objects: readonly BenchObject[]): Promise<void>
  /** Waits until `count` objects are Ready, and returns the milliseconds since `since`. */
  allReady(plural: string, namespace: string, count: number, since: number): Promise<number>
}

export interface BenchObject {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly spec: unknown
}

const operatorNamespace = "chancery"
const readyWithinMs = 3_600_000

export interface FixtureOptions {
  /** The operator may sign requests, and the API server has those of pods. */
  readonly signs?: boolean
}

export async function openFixture({ signs = false }: FixtureOptions = {}): Promise<Fixture> {
  const programs = await findKubernetes()
  if (programs === undefined) throw new Error(kubernetesInstallation)
  await using opening = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), "chancery-bench-"))
  opening.defer(() => rm(folder, { recursive: true, force: true }))
  const controlPlane = opening.use(await startControlPlane(programs, { podCertificates: signs }))
  const cluster = openCluster(controlPlane)
  await cluster.installDefinitions()
  const config = await cluster.operatorAccess(operatorNamespace, { signs })
  const admin = new KubeConfig()
  admin.loadFromFile(controlPlane.kubeconfig)
  const api = opening.use(await openRawApi(admin, clientCount))
  const engine = opening.use(await startChancery(join(folder, "engine")))
  await engine.pki("POST", "/sys/mounts/pki", { type: "pki" })
  await engine.pki("POST", "/pki/root/generate/internal", { common_name: "Bench Root", key_type: "ec", ttl: "768h" })
  const role = { allowed_domains: "example.com", allow_subdomains: true, key_type: "ec", ttl: "360h" }
  await engine.pki("POST", "/pki/roles/web", role)
  const secret = { metadata: { name: "engine", namespace: operatorNamespace }, stringData: { token: engine.token } }
  await cluster.kubectl(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "Secret", ...secret }))
  const connection = {
    apiVersion: "chancery.dev/v1alpha1",
    kind: "ClusterConnection",
    metadata: { name: "default" },
    spec: {
      baseURL: `http://127.0.0.1:${engine.port}`,
      tokenSecretRef: { name: "engine" },
      organization: engine.organization,
      allowedNamespaces: { matchNames: ["*"] },
    },
  }
  await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(connection))
  const closing = opening.move()
  const collection = (plural: string, namespace: string) =>
    `/apis/chancery.dev/v1alpha1/namespaces/${namespace}/${plural}`
  return {
    cluster,
    api,
    engine,
    startOperator: (identity, ...args) =>
      startOperatorProcess({
        config,
        kubeconfig: join(folder, `kubeconfig-${identity}`),
        namespace: operatorNamespace,
        identity,
        args,
      }),
    async makeNamespace(name) {
      await api.send("POST", "/api/v1/namespaces", { metadata: { name } })
    },
    make: (plural, objects) =>
      inParallel(objects, clientCount, (object) => {
        const { name, namespace } = object.metadata
        return api.apply(`${collection(plural, namespace)}/${name}`, { apiVersion: "chancery.dev/v1alpha1", ...object })
      }),
    async allReady(plural, namespace, count, since) {
      const ready = new Set<string>()
      // Repeated lists of ten thousand objects would cost the server more than the measured work.
      const path = `${collection(plural, namespace)}?watch=true&resourceVersion=0`
      // The server ends idle watches, so this opens a new one.
      while (performance.now() - since < readyWithinMs) {
        for await (const event of api.follow(path)) {
          const { type, object } = event as { readonly type: string; readonly object: Shown }
          if (type === "ERROR") break
          if (isReady(object)) ready.add(object.metadata.name)
          else ready.delete(object.metadata.name)
          if (ready.size >= count) return performance.now() - since
        }
        await sleep(500)
      }
      throw new Error(`only ${ready.size} of ${count} ${plural} became ready`)
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

export interface Shown {
  readonly metadata: { readonly name: string; readonly generation: number }
  readonly status?: {
    readonly observedGeneration?: number
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly lastTransitionTime: string
    }[]
  }
}

export const isReady = ({ metadata, status }: Shown): boolean =>
  status?.observedGeneration === metadata.generation &&
  (status.conditions ?? []).some(({ type, status: holds }) => type === "Ready" && holds === "True")

const connectionRef = { kind: "ClusterConnection", name: "default" }

export const issuerObject = (namespace: string): BenchObject => ({
  kind: "Issuer",
  metadata: { name: "pki", namespace },
  spec: { connectionRef, mount: "pki", defaultRole: "web" },
})

export const certificateObject = (namespace: string, index: number): BenchObject => ({
  kind: "Certificate",
  metadata: { name: `c${index}`, namespace },
  spec: { secretName: `c${index}-tls`, issuerRef: { name: "pki" }, dnsNames: [`c${index}.example.com`] },
})

export const workspaceObject = (namespace: string, index: number): BenchObject => ({
  kind: "Workspace",
  metadata: { name: `w${index}`, namespace },
  // All of them are in one organization, so the names include the namespace.
  spec: { connectionRef, name: `${namespace}-${index}`, description: "A", deletionPolicy: "Retain" },
})

/** Returns the operator's writes so far. The methods leave out writes to the Lease, which depend on time and not on objects. */
export async function writesOf(operator: OperatorProcess): Promise<Readonly<Record<string, number>>> {
  const methods = ["POST", "PATCH", "DELETE"]
  const counts = await Promise.all(
    methods.map((method) => operator.metric("rest_client_requests_total", `method="${method}"`)),
  )
  return Object.fromEntries(methods.map((method, index) => [method, counts[index] ?? 0]))
}

export const total = (writes: Readonly<Record<string, number>>): number =>
  Object.values(writes).reduce((sum, count) => sum + count, 0)
