// Fixture for tests of certificates: a separate control plane, an engine behind a socket, and one operator with only the rights of
// `operator/deploy/rbac.yaml`. Tests advance the clock that the engine and the operator share. Each file has one fixture.
import { setTimeout as sleep } from "node:timers/promises"
import { request } from "undici"
import { afterAll, beforeAll } from "vitest"
import { systemRuntime as engineRuntime } from "../../../engine/src/core/runtime.ts"
import { startServer } from "../../../engine/src/server/server.ts"
import { openssl } from "../../../engine/testing/openssl.ts"
import { openTestEngine, type TestEngine } from "../../../engine/testing/test-engine.ts"
import { ApiClient } from "../../../operator/src/kube/api-client.ts"
import { certificate as certificateKind } from "../../../operator/src/api/certificate.ts"
import { secrets } from "../../../operator/src/kube/kubernetes-object.ts"
import { managedSelector } from "../../../operator/src/kube/owned-objects.ts"
import { KubernetesCluster } from "../../../operator/src/kube/kubernetes-cluster.ts"
import type { ObjectStore } from "../../../operator/src/kube/object-store.ts"
import { type OperatorOptions, runOperator } from "../../../operator/src/operator.ts"
import { systemRuntime } from "../../../operator/src/runtime.ts"
import { findKubernetes } from "../../toolchain/kubernetes.ts"
import { type Cluster, openCluster, sharedCluster } from "./cluster.ts"
import { startControlPlane } from "./control-plane.ts"
import { kstatusProgram } from "./kstatus.ts"
import { recordStatuses } from "./status-recorder.ts"

const silent = { debug() {}, info() {}, warn() {}, error() {} }
export const dayMs = 86_400_000
export const hourMs = 3_600_000

export interface Shown {
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

export let cluster: Cluster
export let testEngine: TestEngine
export let url: string
export let operatorUrl: string
let watcher: KubernetesCluster
/** Milliseconds by which the clocks of the operator and the engine are ahead. */
export let aheadMs = 0
export const putForward = (ms: number) => void (aheadMs += ms)

/** Creates a mount with a root that issues, and a role that allows everything. */
async function authority(mount: string): Promise<Uint8Array> {
  const { engine } = testEngine
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

export const apply = (...objects: readonly object[]) =>
  cluster.kubectl(
    ["apply", "--server-side", "--force-conflicts", "-f", "-"],
    JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }),
  )

export const api = "chancery.dev/v1alpha1"
/** Operations in a namespace, which has an Issuer `ca` for the mount of the same name. */
export const actor = (namespace: string) => {
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
    /** Waits for all of them in one command. */
    waitAll: (kind: string, names: readonly string[]) =>
      kubectl([
        "wait",
        "--for=condition=Ready",
        ...names.map((name) => `${kind}/${name}`),
        "-n",
        namespace,
        "--timeout=60s",
      ]),
    /** Requests a reconciliation, because the engine does not notify the operator of changes to certificates. */
    ask: (kind: string, name: string) => askAll(kind, [name]),
    askAll,
    annotate: (name: string, ...annotations: readonly string[]) =>
      kubectl(["annotate", "certificates.chancery.dev", name, "-n", namespace, "--overwrite", ...annotations]),
  }
}

export const crt = "certificates.chancery.dev"
export const reasons = ({ status }: Shown) =>
  (status.conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`)
export const text = ({ data }: Shown, key: string) => Buffer.from(data?.[key] ?? "", "base64").toString()
export const describeCertificate = (secret: Shown, ...args: readonly string[]) =>
  openssl(["x509", "-in", "tls.crt", "-noout", ...args], { "tls.crt": text(secret, "tls.crt") })

export async function setUp(namespace: string) {
  const actions = actor(namespace)
  await authority(namespace)
  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } })
  await apply(actions.issuer("ca"))
  return actions
}

export const programs = sharedCluster() === undefined ? undefined : await findKubernetes()

/** Requests that the operator signs. The control plane serves pod certificates then. */
export interface SigningOptions {
  readonly answered: NonNullable<OperatorOptions["answered"]>
}

/** Starts the fixture before the tests of a block, and stops it after them. */
export function useCertificateFixture(signing?: SigningOptions): void {
  const closing = new AsyncDisposableStack()
  beforeAll(async () => {
    const controlPlane = closing.use(await startControlPlane(programs!, { podCertificates: signing !== undefined }))
    cluster = openCluster(controlPlane)
    await cluster.installDefinitions()
    if (kstatusProgram !== undefined) {
      const recorder = closing.use(await recordStatuses(cluster.adminAccess()))
      closing.defer(() => recorder.assertFaultless())
    }
    const namespace = "operator"
    const config = await cluster.operatorAccess(namespace, { signs: signing !== undefined })
    const runtime = systemRuntime(silent)
    watcher = new KubernetesCluster({ api: closing.use(new ApiClient(config, runtime)), runtime })
    const clock = { now: () => Date.now() + aheadMs }
    testEngine = closing.use(await openTestEngine({ jobs: false, runtime: { ...engineRuntime(), clock } }))
    const server = await startServer({ engine: testEngine.engine })
    closing.defer(async () => void (await server.close()))
    url = server.url
    await apply(
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "engine", namespace },
        stringData: { token: testEngine.rootToken },
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
        ...(signing === undefined ? {} : { ...signing, publishesTrustBundles: true }),
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
  afterAll(() => closing.disposeAsync())
}

/** Watches every version of every Certificate of a namespace, as the operator does. */
export function follow(namespace: string, store: ObjectStore, changed: (key: string) => void) {
  return watcher.follow({ resource: certificateKind, namespace }, store, changed)
}

/** Watches every version of every Secret of the operator in a namespace. */
export function followSecrets(namespace: string, store: ObjectStore, changed: (key: string) => void) {
  return watcher.follow({ resource: secrets, namespace, labelSelector: managedSelector }, store, changed)
}

/** Returns the number of the operator's writes to the API server, without those to its Lease. */
export async function writes(): Promise<number> {
  const metrics = await (await request(`${operatorUrl}/metrics`)).body.text()
  const counts = metrics.matchAll(/rest_client_requests_total\{code="2\d\d",method="(?:POST|PATCH|DELETE)"\} (\d+)/g)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}

/** Returns the number of writes, once none has happened for half a second. */
export async function writesAtRest(): Promise<number> {
  for (let before = await writes(); ;) {
    await sleep(500)
    const after = await writes()
    if (after === before) return after
    before = after
  }
}
