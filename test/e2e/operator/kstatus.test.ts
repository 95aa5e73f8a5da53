// Each kind throughout its life, as GitOps tools read it: from before the operator has seen an object until it is deleted.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { clusterConnection } from "../../../operator/src/api/cluster-connection.ts"
import { connection } from "../../../operator/src/api/connection.ts"
import { issuer } from "../../../operator/src/api/issuer.ts"
import { kinds } from "../../../operator/src/api/kinds.ts"
import { findKubernetes } from "../../toolchain/kubernetes.ts"
import { openCluster, sharedCluster } from "./cluster.ts"
import { startControlPlane } from "./control-plane.ts"
import { type Actor, administrator, eventually, type Shown, startEngine, startReplica } from "./fixture.ts"
import { courseOf, kstatus, kstatuses, kstatusProgram } from "./kstatus.ts"
import { recordStatuses, type StatusRecorder } from "./status-recorder.ts"

const namespace = "statuses"
const dayMs = 86_400_000
const connectionRef = { name: "engine" }
const clusterWideRef = { kind: "ClusterConnection", name: "engine" }
const pause = (value: "true" | null) => ({ metadata: { annotations: { "chancery.dev/paused": value } } })

/** Specs of a kind: one that becomes ready, another that does, and one that needs a change by a user. */
interface Life {
  readonly good: object
  readonly edited: object
  readonly broken: object
  /** Reason of the condition Stalled with the broken spec. */
  readonly reason: string
}

/** The address of the engine is known only once it listens. */
const lives: Readonly<Record<string, (url: string) => Life>> = {
  Connection: (baseURL) => connectionLife({ baseURL, tokenSecretRef: { name: "engine" } }),
  ClusterConnection: (baseURL) => connectionLife({ baseURL, tokenSecretRef: { name: "engine" } }),
  Mount: () => {
    const good = { connectionRef, path: "life" }
    return {
      good,
      edited: { ...good, est: { enabled: true, labelToPathPolicy: { life: "sign-verbatim" } } },
      broken: { ...good, acme: { defaultDirectoryPolicy: "role:missing" } },
      reason: "RoleMissing",
    }
  },
  CertificateAuthority: () => {
    // The mount cuts the lifetime to 400 days.
    const good = { connectionRef, mount: "authorities", type: "Root", commonName: "Life", duration: "87600h" }
    return {
      good,
      edited: { ...good, renewBefore: "720h" },
      broken: { ...good, renewBefore: "9700h" },
      reason: "LifetimeTooShort",
    }
  },
  Project: () => {
    const good = { connectionRef, description: "before" }
    return {
      good,
      edited: { ...good, description: "after" },
      broken: { ...good, defaultExecutionMode: "agent", defaultAgentPool: { name: "None" } },
      reason: "ReferenceMissing",
    }
  },
  Issuer: () => issuerLife({ connectionRef, mount: "pki" }),
  ClusterIssuer: () => issuerLife({ connectionRef: clusterWideRef, mount: "pki" }),
  CertificateRole: () => {
    const good = { connectionRef, mount: "pki", allowedDomains: ["example.com"] }
    return {
      good,
      edited: { ...good, allowSubdomains: true },
      broken: { ...good, keyType: "rsa", keyBits: 256 },
      reason: "InvalidSpec",
    }
  },
  Certificate: () => {
    const good = { secretName: "tls", issuerRef: { name: "ca" }, role: "web", dnsNames: ["www.example.com"] }
    return {
      good,
      edited: { ...good, dnsNames: ["api.example.com"] },
      broken: { ...good, dnsNames: ["www.example.org"] },
      reason: "EngineRefused",
    }
  },
  TrustBundle: () => {
    const good = {
      sources: [{ issuerRef: { kind: "Issuer", namespace, name: "ca" } }],
      target: {
        configMap: { name: "roots" },
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
      },
    }
    return {
      good,
      edited: { ...good, overlap: "48h" },
      broken: { ...good, sources: [{ issuerRef: { kind: "Issuer", namespace, name: "missing" } }] },
      reason: "IssuerMissing",
    }
  },
  Workspace: () => {
    const good = { connectionRef, description: "before" }
    return {
      good,
      edited: { ...good, description: "after" },
      broken: { ...good, project: { name: "None" } },
      reason: "ReferenceMissing",
    }
  },
}

const connectionLife = (good: object): Life => ({
  good,
  edited: { ...good, organization: "acme" },
  broken: { ...good, organization: "missing" },
  reason: "OrganizationNotFound",
})

const issuerLife = (good: object): Life => ({
  good,
  edited: { ...good, defaultRole: "web" },
  broken: { ...good, issuerRef: "missing" },
  reason: "AuthorityMissing",
})

describe.skipIf(sharedCluster() === undefined || kstatusProgram === undefined)("GitOps tools", () => {
  const closing = new AsyncDisposableStack()
  let recorder: StatusRecorder
  let engine: Awaited<ReturnType<typeof startEngine>>
  let actors: Readonly<Record<"Namespaced" | "Cluster", Actor>>
  /** Objects that were applied while no operator ran, by kind. */
  const unseen = new Map<string, Shown>()

  beforeAll(async () => {
    const controlPlane = closing.use(await startControlPlane((await findKubernetes())!))
    const cluster = openCluster(controlPlane)
    await cluster.installDefinitions()
    const config = await cluster.operatorAccess(namespace)
    const admin = closing.use(administrator(cluster.adminAccess()))
    actors = { Namespaced: admin.in(namespace), Cluster: admin.in() }
    recorder = closing.use(await recordStatuses(cluster.adminAccess()))
    engine = closing.use(await startEngine())
    for (const path of ["pki", "authorities"])
      await engine.engine.mounts.create({ path, config: { maxLeaseTtlMs: 400 * dayMs } })
    const pki = engine.engine.pki("pki")
    await pki.issuers.generateRoot({ commonName: "Root", keyType: "ec", ttlMs: 300 * dayMs })
    await pki.roles.save("web", {
      allowedDomains: ["example.com"],
      allowSubdomains: true,
      keyType: "any",
      ttlMs: 90 * dayMs,
    })

    await actors.Namespaced.putToken(engine.token)
    const access = { baseURL: engine.url, tokenSecretRef: { name: "engine" }, organization: "acme" }
    await actors.Namespaced.apply(connection, "engine", access)
    await actors.Cluster.apply(clusterConnection, "engine", {
      ...access,
      allowedNamespaces: { matchNames: [namespace] },
    })
    await actors.Namespaced.apply(issuer, "ca", { connectionRef, mount: "pki" })
    for (const kind of kinds) {
      await actors[kind.scope].apply(kind, "life", lives[kind.kind]?.(engine.url).good)
      unseen.set(kind.kind, await actors[kind.scope].shown(kind, "life"))
    }
    const replica = startReplica(config, namespace, "one")
    closing.defer(async () => void (await replica.end()))
  })
  afterAll(() => closing.disposeAsync())

  test("see no object as Current before an operator has seen it", async () => {
    expect([...unseen.keys()]).toEqual(kinds.map(({ kind }) => kind))
    const statuses = await kstatuses([...unseen.values()])
    expect(new Set(statuses)).toEqual(new Set(["InProgress"]))
  })

  test.concurrent.for(kinds)(
    "see objects of the kind $kind as Current only while they are reconciled and ready",
    async (kind, { expect }) => {
      const actor = actors[kind.scope]
      const { good, edited, broken, reason } = lives[kind.kind]!(engine.url)
      /** Waits until kstatus agrees with the conditions of the current generation. */
      const becomes = (status: string) =>
        eventually(
          async () => {
            const shown = await actor.shown(kind, "life")
            return { is: await kstatus(shown), status: shown.status }
          },
          ({ is }) => is === status,
        )
      await becomes("Current")
      await actor.apply(kind, "life", edited)
      await becomes("Current")
      await actor.apply(kind, "life", broken)
      await becomes("Failed")
      await actor.until(kind, "life", `Stalled=True ${reason}`)
      await actor.apply(kind, "life", edited)
      await becomes("Current")

      await actor.patch(kind, "life", pause("true"))
      await eventually(
        () => actor.shown(kind, "life"),
        ({ status: { conditions = [] } }) => conditions.some(({ type }) => type === "Paused"),
      )
      expect(await kstatus(await actor.shown(kind, "life"))).toBe("Current")
      await actor.apply(kind, "life", good)
      await eventually(
        () => actor.shown(kind, "life"),
        ({ metadata: { generation }, status: { conditions = [] } }) =>
          conditions.some((one) => one.type === "Paused" && one.observedGeneration === generation),
      )
      expect(await kstatus(await actor.shown(kind, "life"))).toBe("InProgress")
      await actor.patch(kind, "life", pause(null))
      await becomes("Current")

      await actor.delete(kind, "life")
      await eventually(
        () => actor.isGone(kind, "life"),
        (isGone) => isGone,
      )
      const course = courseOf(await kstatuses(recorder.versionsOf(kind.kind, "life")))
      // A kind without a finalizer is deleted at once.
      expect(course.filter((status) => status !== "Terminating")).toEqual([
        "InProgress",
        "Current",
        "InProgress",
        "Current",
        "InProgress",
        "Failed",
        "InProgress",
        "Current",
        "InProgress",
        "Current",
      ])
      expect([undefined, "Terminating"]).toContain(course[10])
    },
  )

  test("see nothing in any version of any object that its conditions do not say", async () => {
    await expect(recorder.assertFaultless()).resolves.toBeUndefined()
  })
})
