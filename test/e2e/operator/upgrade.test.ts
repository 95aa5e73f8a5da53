// CRDs are applied over those of an earlier release: stored objects remain, are served, and are still reconciled.
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { findKubernetes } from "../../toolchain/kubernetes.ts"
import { type Cluster, openCluster, sharedCluster } from "./cluster.ts"
import { startControlPlane } from "./control-plane.ts"
import { administrator } from "./fixture.ts"

const root = join(import.meta.dirname, "../../..")
const git = async (...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)("git", [...args], { cwd: root, maxBuffer: 16 * 1024 * 1024 })).stdout
const lines = (text: string): readonly string[] => text.split("\n").filter((line) => line !== "")
const definitionFiles = /^crds\/[a-z.]+_[a-z]+\.yaml$/

/** Returns the CRDs before the last change to them; none if there is no git history. */
async function definitionsBefore(): Promise<readonly string[]> {
  try {
    // The working tree may have uncommitted changes to the CRDs.
    const changed = lines(await git("status", "--porcelain", "--", "crds")).length > 0
    const [last, previous] = lines(await git("log", "--format=%H", "-2", "--", "crds"))
    const commit = changed ? last : previous
    if (commit === undefined) return []
    const names = lines(await git("ls-tree", "-r", "--name-only", commit, "--", "crds"))
    return await Promise.all(
      names.filter((name) => definitionFiles.test(name)).map((name) => git("show", `${commit}:${name}`)),
    )
  } catch {
    return []
  }
}

interface Definition {
  readonly spec: {
    readonly group: string
    readonly scope: string
    readonly names: { readonly kind: string; readonly plural: string }
    readonly versions: readonly { readonly name: string }[]
  }
}

/** One valid object of each kind, with the members that every version has required. */
const specs: Readonly<Record<string, unknown>> = {
  Connection: { baseURL: "https://chancery.example.com", tokenSecretRef: { name: "engine" } },
  ClusterConnection: { baseURL: "https://chancery.example.com", tokenSecretRef: { name: "engine" } },
  Mount: { connectionRef: { name: "engine" }, path: "pki" },
  CertificateAuthority: { connectionRef: { name: "engine" }, mount: "pki", type: "Root", commonName: "Root" },
  Project: { connectionRef: { name: "engine" } },
  TrustBundle: { sources: [{ pem: "-----BEGIN CERTIFICATE-----" }], target: { configMap: { name: "roots" } } },
  Workspace: { connectionRef: { name: "engine" }, description: "from before" },
  Issuer: { connectionRef: { name: "engine" }, mount: "pki" },
  ClusterIssuer: { connectionRef: { kind: "ClusterConnection", name: "engine" }, mount: "pki" },
  CertificateRole: { connectionRef: { name: "engine" }, mount: "pki" },
  Certificate: { secretName: "web", issuerRef: { name: "ca" }, dnsNames: ["www.example.com"] },
}

describe.skipIf(sharedCluster() === undefined)("the CRDs of the last commit that changed them", () => {
  const closing = new AsyncDisposableStack()
  let own: Cluster
  let before: readonly string[] = []
  beforeAll(async () => {
    before = await definitionsBefore()
    const programs = await findKubernetes()
    const controlPlane = closing.use(await startControlPlane(programs!))
    own = openCluster(controlPlane)
  })
  afterAll(() => closing.disposeAsync())

  test("are replaced by the current ones while objects exist, which stay, are served, and can be changed", async () => {
    // A checkout without history has only the current CRDs, which replace themselves.
    if (before.length > 0) {
      for (const text of before) await own.kubectl(["apply", "--server-side", "-f", "-"], text)
      await own.kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=120s"])
    } else await own.installDefinitions()
    const listed = JSON.parse(await own.kubectl(["get", "crd", "-o", "json"])) as {
      readonly items: readonly Definition[]
    }
    const kinds = listed.items.map(({ spec }) => spec)
    expect(kinds.length).toBeGreaterThan(0)
    await using admin = administrator(own.adminAccess())
    const resourceOf = ({ group, names, versions }: Definition["spec"]) => ({
      group,
      version: versions[0]?.name ?? "",
      plural: names.plural,
      kind: names.kind,
    })
    const actorOf = ({ scope }: Definition["spec"]) => admin.in(scope === "Namespaced" ? "default" : undefined)
    for (const kind of kinds) await actorOf(kind).apply(resourceOf(kind), "from-before", specs[kind.names.kind])
    const stored = await Promise.all(kinds.map((kind) => actorOf(kind).shown(resourceOf(kind), "from-before")))

    await own.installDefinitions()
    for (const [index, kind] of kinds.entries()) {
      const shown = await actorOf(kind).shown(resourceOf(kind), "from-before")
      expect(shown.metadata.uid).toBe(stored[index]?.metadata.uid)
      expect(shown["spec"]).toMatchObject(specs[kind.names.kind] as object)
      const changed = await actorOf(kind).patch(resourceOf(kind), "from-before", {
        metadata: { labels: { seen: "yes" } },
      })
      expect(changed.metadata.labels).toEqual({ seen: "yes" })
    }
  })
})
