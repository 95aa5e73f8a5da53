// Fixture for tests of cert-manager's users: a separate control plane, an engine behind a socket that can be closed, and an operator that
// answers CertificateRequests with only the permissions of the chart. Each file has one fixture.
import { afterAll, beforeAll } from "vitest"
import type { KubeConfig } from "@kubernetes/client-node"
import { writePem } from "../../../engine/src/x509/pem.ts"
import { startServer } from "../../../engine/src/server/server.ts"
import { openssl, verifiesStrictly } from "../../../engine/testing/openssl.ts"
import { openTestEngine, type TestEngine } from "../../../engine/testing/test-engine.ts"
import { freePort } from "../../free-port.ts"
import { findKubernetes } from "../../toolchain/kubernetes.ts"
import { findCertManager, installCertManagerDefinitions } from "./cert-manager-program.ts"
import { type Cluster, openCluster, sharedCluster } from "./cluster.ts"
import { startControlPlane } from "./control-plane.ts"
import { findHelm, type Helm, manifestsIn } from "./helm.ts"
import { type Replica, startReplica } from "./fixture.ts"

const dayMs = 86_400_000
const programs = sharedCluster() === undefined ? undefined : await findKubernetes()
const namespace = "operator"
const connectionRef = { kind: "ClusterConnection", name: "engine" }

const helm = programs === undefined ? undefined : await findHelm()
/** The program of cert-manager's controllers; undefined if it, Helm or the control plane is missing. */
export const certManager = helm === undefined ? undefined : await findCertManager()

export const api = "chancery.dev/v1alpha1"
export const crt = "certificates.cert-manager.io"
export const request = "certificaterequests.cert-manager.io"

export let cluster: Cluster
export let testEngine: TestEngine
export let url: string
/** Access of the operator's ServiceAccount. */
export let config: KubeConfig
let server: Awaited<ReturnType<typeof startServer>> | undefined
let replica: Replica | undefined

export interface Shown {
  readonly metadata: { readonly name: string; readonly uid: string; readonly creationTimestamp: string }
  readonly spec: { readonly [member: string]: unknown }
  readonly data?: Readonly<Record<string, string>>
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly reason: string
      readonly message: string
    }[]
    readonly [member: string]: unknown
  }
}

export const conditions = ({ status }: Shown) =>
  (status?.conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`)

export const messageOf = ({ status }: Shown, type: string) =>
  status?.conditions?.find((condition) => condition.type === type)?.message

export const decoded = (value: unknown) => Buffer.from(String(value), "base64").toString()

export const apply = (...objects: readonly object[]) =>
  cluster.kubectl(
    ["apply", "--server-side", "--force-conflicts", "-f", "-"],
    JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }),
  )

/** Certificates that the role `web` of a mount has signed. */
export const issued = async (mount: string, role = "web") =>
  (await testEngine.engine.pki(mount).certificates.search({ role })).items

/** Throws if the first certificate does not lead to the root by the others. */
export function verifies(chain: string, root: string): true {
  const [leaf = "", ...others] = chain.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g) ?? []
  return verifiesStrictly(leaf, root, others)
}

export const describeCertificate = (chain: string, ...args: readonly string[]) =>
  openssl(["x509", "-in", "chain.pem", "-noout", ...args], { "chain.pem": chain })

/** Returns a CSR in PEM with a new key, as cert-manager's users send it. */
export function csrOf(name: string, ...extensions: readonly string[]): string {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key.pem"]
  const names = [`subjectAltName=DNS:${name}`, ...extensions].flatMap((extension) => ["-addext", extension])
  return openssl(["req", "-new", ...key, "-subj", "/", ...names])
}

/** Returns whether the certificate is for the key of the CSR. */
export const isFor = (chain: string, csr: string): boolean =>
  describeCertificate(chain, "-pubkey") === openssl(["req", "-in", "csr.pem", "-noout", "-pubkey"], { "csr.pem": csr })

/** Creates a mount with an intermediate that issues below a root, and a role for servers of example.com. Returns the root in PEM. */
async function authority(mount: string): Promise<string> {
  const { engine } = testEngine
  await engine.mounts.create({ path: mount, config: { maxLeaseTtlMs: 3_650 * dayMs } })
  const { issuers, certificates, settings, roles } = engine.pki(mount)
  const root = await issuers.generateRoot({ commonName: `${mount} root`, keyType: "ec", ttlMs: 3_000 * dayMs })
  const { csr } = await issuers.generateIntermediate({ commonName: `${mount} issuing`, keyType: "ec" })
  const { certificate } = await certificates.signIntermediate({
    csr: writePem("CERTIFICATE REQUEST", csr),
    commonName: `${mount} issuing`,
    ttlMs: 2_000 * dayMs,
  })
  const { importedIssuers } = await issuers.import(writePem("CERTIFICATE", certificate))
  await settings.changeIssuers({ default: importedIssuers[0] ?? "" })
  await roles.save("web", {
    allowedDomains: ["example.com"],
    allowSubdomains: true,
    keyType: "any",
    requireCn: false,
    serverFlag: true,
    clientFlag: false,
    ttlMs: dayMs,
    maxTtlMs: 100 * dayMs,
  })
  return `${writePem("CERTIFICATE", root.certificate)}\n`
}

/** Operations in a namespace. */
export const actor = (name: string) => {
  const { kubectl } = cluster
  const shown = async (kind: string, object: string) =>
    JSON.parse(await kubectl(["get", kind, object, "-n", name, "-o", "json"])) as Shown
  const issuerRef = { group: "chancery.dev", kind: "Issuer", name: "ca" }
  return {
    kubectl,
    shown,
    all: async (kind: string) =>
      (JSON.parse(await kubectl(["get", kind, "-n", name, "-o", "json"])) as { readonly items: readonly Shown[] })
        .items,
    issuer: (object: string, spec: object = {}) => ({
      apiVersion: api,
      kind: "Issuer",
      metadata: { name: object, namespace: name },
      spec: { connectionRef, mount: name, defaultRole: "web", ...spec },
    }),
    certificate: (object: string, spec: object = {}) => ({
      apiVersion: "cert-manager.io/v1",
      kind: "Certificate",
      metadata: { name: object, namespace: name },
      spec: { secretName: `${object}-tls`, dnsNames: [`${object}.example.com`], issuerRef, ...spec },
    }),
    request: (object: string, csr: string, spec: object = {}) => ({
      apiVersion: "cert-manager.io/v1",
      kind: "CertificateRequest",
      metadata: { name: object, namespace: name },
      spec: { request: Buffer.from(csr).toString("base64"), issuerRef, ...spec },
    }),
    /** Sets the condition as an approver does. */
    decide: (object: string, type: "Approved" | "Denied" = "Approved") => {
      const condition = { type, status: "True", reason: "policy.example.com", message: "Decided by a policy." }
      const about = {
        apiVersion: "cert-manager.io/v1",
        kind: "CertificateRequest",
        metadata: { name: object, namespace: name },
      }
      return kubectl(
        ["apply", "--server-side", "--subresource=status", "--field-manager=approver", "-f", "-"],
        JSON.stringify({ ...about, status: { conditions: [condition] } }),
      )
    },
    wait: (kind: string, object: string, condition = "Ready") =>
      kubectl(["wait", `--for=condition=${condition}`, `${kind}/${object}`, "-n", name, "--timeout=120s"]),
    delete: (kind: string, object: string) => kubectl(["delete", kind, object, "-n", name, "--timeout=60s"]),
  }
}

export type Actor = ReturnType<typeof actor>

/** Creates a namespace with an Issuer `ca` for the mount of the same name. Returns the operations, and the root in PEM. */
export async function setUp(name: string) {
  const actions = actor(name)
  const root = await authority(name)
  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } })
  await apply(actions.issuer("ca"))
  await actions.wait("issuers.chancery.dev", "ca")
  return { ...actions, root }
}

/** Gives the operator the permissions of a release of the chart that answers CertificateRequests, and returns its access. */
async function installPermissions({ template }: Helm): Promise<KubeConfig> {
  const rendered = manifestsIn(
    await template({ namespace, values: ["signing.certManager=true", "crds.install=false"] }),
  )
  const permissions = rendered.filter(({ kind }) => /^(ServiceAccount|(Cluster)?Role(Binding)?)$/.test(kind))
  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } })
  await apply(...permissions)
  return cluster.accessOf(namespace, "chancery-operator")
}

export async function startEngineServer(): Promise<void> {
  const { port } = new URL(url)
  server = await startServer({ engine: testEngine.engine, listen: { host: "127.0.0.1", port: Number(port) } })
}

export async function stopEngineServer(): Promise<void> {
  await server?.close()
  server = undefined
}

export function startOperator(): void {
  replica = startReplica(config, namespace, crypto.randomUUID(), { answered: ["cert-manager"] })
}

export async function stopOperator(): Promise<void> {
  await replica?.end()
  replica = undefined
}

/** Starts the fixture before the tests of a block, and stops it after them. */
export function useCertManagerFixture(): void {
  const closing = new AsyncDisposableStack()
  beforeAll(async () => {
    const controlPlane = closing.use(await startControlPlane(programs!))
    cluster = openCluster(controlPlane)
    await cluster.installDefinitions()
    config = await installPermissions(helm!)
    testEngine = closing.use(await openTestEngine({ jobs: false }))
    url = `http://127.0.0.1:${await freePort()}`
    await startEngineServer()
    closing.defer(stopEngineServer)
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
    // The operator works before cert-manager is installed, and finds its CertificateRequests afterwards.
    startOperator()
    closing.defer(stopOperator)
    await cluster.kubectl(["wait", "--for=condition=Ready", "clusterconnections.chancery.dev/engine", "--timeout=120s"])
    await installCertManagerDefinitions(cluster)
  })
  afterAll(() => closing.disposeAsync())
}
