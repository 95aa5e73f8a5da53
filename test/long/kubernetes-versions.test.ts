// The operator on releases of Kubernetes and etcd from the oldest to the newest: a short life of its kinds with streamed and with paged
// lists, and in a full run the suites of admission, certificates and workspaces. A short run takes only the release that all suites use.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { beforeAll, describe, expect, test } from "vitest"
import { certificateRole } from "../../operator/src/api/certificate-role.ts"
import { certificate } from "../../operator/src/api/certificate.ts"
import { connection } from "../../operator/src/api/connection.ts"
import { issuer } from "../../operator/src/api/issuer.ts"
import { workspace } from "../../operator/src/api/workspace.ts"
import { systemRuntime } from "../../operator/src/runtime.ts"
import { openCluster } from "../e2e/operator/cluster.ts"
import { startControlPlane } from "../e2e/operator/control-plane.ts"
import { administrator, connect, eventually, startEngine, startReplica } from "../e2e/operator/fixture.ts"
import {
  buildKubernetes,
  etcdVariable,
  findKubernetes,
  kubernetesVariable,
  type KubernetesVersions,
  testedVersions,
  usualVersions,
} from "../toolchain/kubernetes.ts"

const short = process.env["CHANCERY_SHORT"] === "1"
const versions = short ? [usualVersions] : testedVersions
/** Cannot stream lists to the API server, which clients may ask for all the same. */
const oldEtcd = { kubernetes: "1.32", etcd: "3.5.12" } as const
const suites = [
  "admission",
  "pki-admission",
  "workspace-admission",
  "issuers",
  "certificates",
  "workspace-lifecycle",
  "kstatus",
]
const buildMs = 3_600_000
const suitesMs = 1_800_000

const namespace = "versions"
const connectionRef = { name: "engine" }

/** Takes an object of each kind through a short life. Returns the resources whose lists the operator could not stream. */
async function liveThrough(release: KubernetesVersions, watchList: boolean): Promise<ReadonlySet<unknown>> {
  const programs = (await findKubernetes(release))!
  await using controlPlane = await startControlPlane(programs, { watchList })
  const cluster = openCluster(controlPlane)
  const { gitVersion } = JSON.parse(await cluster.kubectl(["get", "--raw", "/version"])) as { gitVersion: string }
  expect(gitVersion).toMatch(new RegExp(`^v${release.kubernetes}\\.`))
  await cluster.installDefinitions()
  await using engine = await startEngine()
  await engine.engine.mounts.create({ path: "pki" })
  await engine.engine.pki("pki").issuers.generateRoot({ commonName: "Root", keyType: "ec" })
  const config = await cluster.operatorAccess(namespace)
  await using admin = administrator(cluster.adminAccess())
  const actor = admin.in(namespace)
  /** Resources whose lists could not be streamed. */
  const paged = new Set<unknown>()
  const log = {
    debug() {},
    info: (event: string, { resource }: Readonly<Record<string, unknown>> = {}) =>
      void (event.startsWith("a streamed list has failed") && paged.add(resource)),
    warn() {},
    error() {},
  }
  const replica = startReplica(config, namespace, "one", { watched: [namespace], runtime: systemRuntime(log) })
  try {
    await connect(actor, engine)
    await actor.apply(certificateRole, "web", {
      connectionRef,
      mount: "pki",
      allowedDomains: ["example.com"],
      allowSubdomains: true,
      keyType: "ec",
      ttl: "24h",
    })
    await actor.apply(issuer, "ca", { connectionRef, mount: "pki", defaultRole: "web" })
    await actor.until(certificateRole, "web", "Ready=True RoleSaved")
    await actor.until(issuer, "ca", "Ready=True AuthorityFound")
    const web = { secretName: "tls", issuerRef: { name: "ca" }, dnsNames: ["www.example.com"] }
    await actor.apply(certificate, "web", web)
    await actor.until(certificate, "web", "Ready=True Issued")
    const secret = JSON.parse(await cluster.kubectl(["get", "secret", "tls", "-n", namespace, "-o", "json"])) as {
      readonly data: object
    }
    expect(Object.keys(secret.data).toSorted()).toEqual(["ca.crt", "tls.crt", "tls.key"])

    // Rules of CEL that use its libraries for addresses, and one on a transition.
    await expect(actor.apply(certificate, "web", { ...web, ipAddresses: ["10.0.0.256"] })).rejects.toThrow(
      /ipAddresses/,
    )
    await expect(
      actor.apply(connection, "bad", { baseURL: "chancery", tokenSecretRef: { name: "engine" } }),
    ).rejects.toThrow(/baseURL must be an http or https URL/)
    await actor.apply(workspace, "web", { connectionRef, description: "before" })
    const { status } = await actor.until(workspace, "web", "Ready=True Available")
    await expect(actor.apply(workspace, "web", { connectionRef: { name: "other" } })).rejects.toThrow(
      /connectionRef cannot be changed/,
    )
    await actor.apply(workspace, "web", { connectionRef, description: "after" })
    await actor.until(workspace, "web", "Ready=True Available")
    const id = String(status["id"])
    expect((await engine.engine.workspaces.get({ id })).description).toBe("after")

    for (const kind of [workspace, certificate, issuer, certificateRole]) {
      const name = kind === issuer ? "ca" : "web"
      await actor.delete(kind, name)
      await eventually(
        () => actor.isGone(kind, name),
        (isGone) => isGone,
      )
    }
    await expect(engine.engine.workspaces.get({ id })).rejects.toThrow(/does not exist/)
  } finally {
    await replica.end()
  }
  return paged
}

describe.each(versions)("on Kubernetes $kubernetes with etcd $etcd the operator", (release) => {
  beforeAll(() => buildKubernetes(release), buildMs)

  test.each([{ watchList: true }, { watchList: false }])(
    "issues certificates and manages workspaces with WatchList $watchList",
    async ({ watchList }) => {
      const paged = await liveThrough(release, watchList)
      expect(paged.size > 0).toBe(!watchList)
    },
  )

  test.skipIf(short)(
    `passes the suites ${suites.join(", ")}`,
    async () => {
      const vitest = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url))
      const files = suites.map((suite) => `test/e2e/operator/${suite}.test.ts`)
      const child = spawn(process.execPath, [vitest, "run", "--project", "operator", ...files], {
        env: { ...process.env, [kubernetesVariable]: release.kubernetes, [etcdVariable]: release.etcd },
      })
      const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")])
      expect([code, code === 0 ? "" : `${output}${errors}`]).toEqual([0, ""])
    },
    suitesMs,
  )
})

describe.skipIf(short)("on an etcd that does not report the progress of watches the operator", () => {
  beforeAll(() => buildKubernetes(oldEtcd), buildMs)

  test("[F-K11] lists pages if WatchList is on", async () => {
    expect(await liveThrough(oldEtcd, true)).not.toEqual(new Set())
  })
})
