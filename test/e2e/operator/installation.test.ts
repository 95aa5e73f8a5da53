// The chart, the kustomize base and `rbac.yaml` install the same operator, and the API server accepts their objects.
import { spawn } from "node:child_process"
import { text } from "node:stream/consumers"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { beforeAll, describe, expect, test } from "vitest"
import { runOperator } from "../../../operator/src/operator.ts"
import { systemRuntime } from "../../../operator/src/runtime.ts"
import { sharedCluster } from "./cluster.ts"
import { deployFolder, findHelm, type Helm, type Manifest, manifestsIn } from "./helm.ts"

const cluster = sharedCluster()
const found = await findHelm()
const main = join(import.meta.dirname, "../../../operator/src/main.ts")

const nameOf = ({ kind, metadata: { namespace = "", name } }: Manifest) => `${kind} ${namespace}/${name}`
const byName = (manifests: readonly Manifest[]) =>
  Object.fromEntries(manifests.map((manifest) => [nameOf(manifest), manifest]))
const isDefinition = ({ kind }: Manifest) => kind === "CustomResourceDefinition"

/** Removes the labels and annotations that only Helm sets. */
function withoutHelm<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(withoutHelm) as Value
  if (typeof value !== "object" || value === null) return value
  const members = Object.entries(value).flatMap(([name, member]) => {
    if (["helm.sh/chart", "helm.sh/resource-policy", "app.kubernetes.io/managed-by"].includes(name)) return []
    const inside = withoutHelm(member)
    return name === "annotations" && Object.keys(inside as object).length === 0 ? [] : [[name, inside]]
  })
  return Object.fromEntries(members) as Value
}

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}
const rulesOf = (manifests: readonly Manifest[], kind: string, namespace?: string) =>
  manifests
    .filter((manifest) => manifest.kind === kind && manifest.metadata.namespace === namespace)
    .flatMap((manifest) => manifest["rules"] as Rule[])

interface PodSpec {
  readonly containers: readonly [{ readonly args: readonly string[]; readonly [member: string]: unknown }]
  readonly [member: string]: unknown
}
const podOf = (manifest: Manifest) => (manifest["spec"] as { template: { spec: PodSpec } }).template.spec
const podsOf = (manifests: readonly Manifest[]) => manifests.filter(({ kind }) => kind === "Deployment").map(podOf)

describe.skipIf(cluster === undefined || found === undefined)("an installation", () => {
  const helm = found as Helm
  const { kubectl } = cluster ?? { kubectl: async () => "" }
  const rendered = async (...values: string[]) => manifestsIn(await helm.template({ values }))
  let base: readonly Manifest[]
  beforeAll(async () => {
    base = manifestsIn(await kubectl(["kustomize", deployFolder]))
    await kubectl(["create", "namespace", "chancery"])
  })

  test("by the chart equals the one by kustomize, which adds its namespace", async () => {
    const chart = byName(withoutHelm(await rendered()))
    const { "Namespace /chancery": namespace, ...kustomized } = byName(withoutHelm(base))
    // The CRDs have no labels in the chart, because Helm installs `crds/` unchanged.
    const unlabelled = Object.entries(kustomized).map(([name, manifest]) => {
      const { labels: _, ...metadata } = manifest.metadata
      return [name, isDefinition(manifest) ? { ...manifest, metadata } : manifest]
    })
    expect(chart).toEqual(Object.fromEntries(unlabelled))
    expect(namespace?.metadata.labels).toMatchObject({ "pod-security.kubernetes.io/enforce": "restricted" })
  })

  test("has the permissions of rbac.yaml, and no others", async () => {
    const source = manifestsIn(await readFile(join(deployFolder, "rbac.yaml"), "utf8"))
    for (const made of [await rendered(), base]) {
      const access = made.filter(({ kind }) => /^(ServiceAccount|(Cluster)?Role(Binding)?)$/.test(kind))
      const bare = access.map(({ metadata: { labels: _, ...metadata }, ...manifest }) => ({ ...manifest, metadata }))
      expect(byName(bare as unknown as Manifest[])).toEqual(byName(source))
    }
    expect(JSON.stringify(source)).not.toMatch(/"\*"|cluster-admin/)
  })

  test("that signs has the permissions of signing-rbac.yaml for the ways that are enabled, and no others", async () => {
    const source = manifestsIn(await readFile(join(deployFolder, "signing-rbac.yaml"), "utf8"))
    const wayOf = ({ metadata }: Manifest) =>
      (metadata as { readonly annotations?: Readonly<Record<string, string>> }).annotations?.["chancery.dev/signing"]
    const ways = ["certManager", "certificateSigningRequests", "podCertificates", "trustBundles"]
    for (const way of ways) {
      const made = (await rendered(`signing.${way}=true`)).filter((one) => wayOf(one) !== undefined)
      const bare = made.map(({ metadata: { labels: _, ...metadata }, ...manifest }) => ({ ...manifest, metadata }))
      const expected = source.filter((one) => wayOf(one)?.startsWith(way) === true)
      expect(expected).not.toEqual([])
      expect(byName(bare as unknown as Manifest[])).toEqual(byName(expected))
    }
    const all = await rendered(...ways.map((way) => `signing.${way}=true`))
    expect(podsOf(all)[0]?.containers[0].args).toEqual(
      expect.arrayContaining(["--answer=cert-manager,csr,pods", "--trust-bundles"]),
    )
    const unapproved = await rendered("signing.certManager=true", "signing.certManagerApprover.name=")
    expect(unapproved.map(wayOf)).not.toContain("certManagerApproval")
    await expect(rendered("signing.certManager=true", "namespaces={alpha}")).rejects.toThrow("cannot be combined")
  })

  test("of chosen namespaces has Roles only, limited to these namespaces", async () => {
    const made = await rendered("namespaces={alpha,beta}")
    expect(made.filter(({ kind }) => kind.startsWith("ClusterRole"))).toEqual([])
    const places = made.filter(({ kind }) => kind.startsWith("Role")).map(({ metadata }) => metadata.namespace)
    expect(new Set(places)).toEqual(new Set(["alpha", "beta", "chancery"]))
    const whole = rulesOf(base, "ClusterRole")
      .map((rule) => ({
        ...rule,
        resources: rule.resources.filter((name) => !/^(cluster|trustbundles|namespaces$)/.test(name)),
      }))
      .filter(({ resources }) => resources.length > 0)
    for (const namespace of ["alpha", "beta"]) expect(rulesOf(made, "Role", namespace)).toEqual(whole)
    expect(rulesOf(made, "Role", "chancery")).toEqual(rulesOf(base, "Role", "chancery"))
    expect(podsOf(made)[0]?.containers[0].args).toContain("--watch-namespaces=alpha,beta")
  })

  test("of a chosen namespace works with these Roles alone, in this namespace only", async () => {
    for (const namespace of ["own", "chosen", "left"]) await kubectl(["create", "namespace", namespace])
    const roles = await helm.template({
      name: "narrow",
      namespace: "own",
      values: ["namespaces={chosen}", "crds.install=false"],
    })
    const access = manifestsIn(roles).filter(({ kind }) => /^(ServiceAccount|Role|RoleBinding)$/.test(kind))
    for (const manifest of access) await kubectl(["apply", "-f", "-"], JSON.stringify(manifest))
    const config = await cluster!.accessOf("own", "narrow")
    for (const namespace of ["chosen", "left"]) {
      const about = { name: "engine", namespace }
      const spec = { baseURL: "http://10.255.255.1:1", tokenSecretRef: { name: "engine" } }
      const connection = { apiVersion: "chancery.dev/v1alpha1", kind: "Connection", metadata: about, spec }
      await kubectl(["apply", "-f", "-"], JSON.stringify(connection))
    }
    const ending = new AbortController()
    const runtime = systemRuntime({ debug() {}, info() {}, warn() {}, error() {} })
    const listen = { host: "127.0.0.1", port: 0 }
    const options = { config, namespace: "own", watched: ["chosen"], identity: "one", runtime, listen }
    const running = runOperator(options, ending.signal)
    await kubectl([
      "wait",
      "--for=condition=Stalled",
      "connections.chancery.dev/engine",
      "-n",
      "chosen",
      "--timeout=120s",
    ])
    const left = await kubectl(["get", "connections.chancery.dev", "engine", "-n", "left", "-o", "jsonpath={.status}"])
    expect(JSON.parse(left)).toEqual({ observedGeneration: 0 })
    await kubectl(["delete", "connections.chancery.dev", "engine", "-n", "chosen", "--timeout=60s"])
    ending.abort()
    expect(await running).toBe("ended")
  })

  test.each([
    { values: [], why: "the defaults" },
    { values: ["shards=3", "replicas=1"], why: "shards" },
    { name: "2026", values: [], why: "a name of digits alone" },
    { values: ["namespaces={default}"], why: "a namespace" },
    { values: ["embeddedEngine.enabled=true", "replicas=1"], why: "an embedded engine" },
    {
      values: [
        "argoCD.healthCheck=true",
        `image.digest=sha256:${"0".repeat(64)}`,
        "networkPolicy.enabled=false",
        "podDisruptionBudget.enabled=false",
        "priorityClassName=system-cluster-critical",
        "nodeSelector.disk=ssd",
        "commonLabels.team=platform",
        "podAnnotations.a=b",
        "podLabels.team=platform",
        "clusterName=west",
        "env[0].name=A",
        "env[0].value=b",
        "volumes[0].name=ca",
        "volumes[0].configMap.name=ca",
        "volumeMounts[0].name=ca",
        "volumeMounts[0].mountPath=/etc/ca",
        "serviceAccount.annotations.a=b",
        "imagePullSecrets[0].name=registry",
        "tolerations[0].operator=Exists",
        "crds.keep=false",
      ],
      why: "everything else",
    },
  ])(
    "with $why is accepted by the API server, and its arguments by the operator",
    async ({ name = "chancery-operator", values }) => {
      const yaml = await helm.template({ name, values })
      const output = await kubectl(["apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-"], yaml)
      for (const { kind } of manifestsIn(yaml))
        expect(output).toContain(
          `${kind.toLowerCase()}.`.replace(/^(service|serviceaccount|configmap|persistentvolumeclaim)\.$/, "$1/"),
        )
      for (const pod of podsOf(manifestsIn(yaml))) {
        const [, ...args] = pod.containers[0].args
        const child = spawn(process.execPath, [main, ...args, "--help"])
        const [usage] = await Promise.all([text(child.stdout), once(child, "close")])
        expect(usage).toContain("chancery-operator")
        expect(child.exitCode).toBe(0)
      }
    },
  )

  test("by kustomize is accepted by the API server", async () => {
    const output = await kubectl([
      "apply",
      "--server-side",
      "--dry-run=server",
      "--validate=strict",
      "-k",
      deployFolder,
    ])
    expect(output).toContain("deployment.apps/chancery-operator serverside-applied (server dry run)")
  })

  test("passes helm lint", async () => {
    expect(await helm.lint()).toContain("0 chart(s) failed")
  })

  test("runs as an unprivileged user, without capabilities, on a read-only file system", async () => {
    for (const pod of [...podsOf(base), ...podsOf(await rendered("embeddedEngine.enabled=true", "replicas=1"))]) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: true,
        securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
        containers: [
          {
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ["ALL"] },
            },
            livenessProbe: { httpGet: { path: "/healthz" } },
            readinessProbe: { httpGet: { path: "/readyz" } },
          },
        ],
      })
    }
  })

  test("gives each shard its own Deployment and PodDisruptionBudget", async () => {
    const made = await rendered("shards=3")
    expect(podsOf(made).map(({ containers: [{ args }] }) => args.at(-1))).toEqual([
      "--shard=0/3",
      "--shard=1/3",
      "--shard=2/3",
    ])
    expect(made.filter(({ kind }) => kind === "PodDisruptionBudget")).toHaveLength(3)
  })

  test("[F-K10] has the environment, volumes, labels, cluster name and ServiceAccount of its values", async () => {
    const made = await rendered(
      "clusterName=west",
      "env[0].name=NODE_EXTRA_CA_CERTS",
      "env[0].value=/etc/ca/ca.crt",
      "envFrom[0].secretRef.name=proxy",
      "volumes[0].name=ca",
      "volumes[0].configMap.name=ca",
      "volumeMounts[0].name=ca",
      "volumeMounts[0].mountPath=/etc/ca",
      "podLabels.team=platform",
      "serviceAccount.create=false",
      "serviceAccount.name=shared",
    )
    const [deployment] = made.filter(({ kind }) => kind === "Deployment")
    expect(deployment).toMatchObject({ spec: { template: { metadata: { labels: { team: "platform" } } } } })
    expect(podsOf(made)[0]).toMatchObject({
      serviceAccountName: "shared",
      volumes: [{ name: "ca", configMap: { name: "ca" } }],
      containers: [
        {
          env: [{ name: "NODE_EXTRA_CA_CERTS", value: "/etc/ca/ca.crt" }],
          envFrom: [{ secretRef: { name: "proxy" } }],
          volumeMounts: [{ name: "ca", mountPath: "/etc/ca" }],
        },
      ],
    })
    expect(podsOf(made)[0]?.containers[0].args).toContain("--cluster-name=west")
    expect(made.filter(({ kind }) => kind === "ServiceAccount")).toEqual([])
    const subjects = made.flatMap((manifest) => (manifest["subjects"] ?? []) as { readonly name: string }[])
    expect(new Set(subjects.map(({ name }) => name))).toEqual(new Set(["shared"]))
    // The selector of a Deployment is immutable.
    expect(JSON.stringify(deployment?.["spec"] && (deployment["spec"] as { selector: object }).selector)).not.toContain(
      "team",
    )
    const other = await rendered(
      "serviceAccount.name=own",
      "embeddedEngine.enabled=true",
      "replicas=1",
      "volumes[0].name=x",
      "volumes[0].emptyDir.medium=Memory",
    )
    expect(other.filter(({ kind }) => kind === "ServiceAccount").map(({ metadata }) => metadata.name)).toEqual(["own"])
    expect(((podsOf(other)[0]?.["volumes"] ?? []) as { name: string }[]).map(({ name }) => name)).toEqual([
      "data",
      "temporary",
      "x",
    ])
  })

  test("has a ServiceMonitor when enabled, which selects the metrics Service", async () => {
    expect(base.some(({ kind }) => kind === "ServiceMonitor")).toBe(false)
    const made = await rendered("serviceMonitor.enabled=true", "serviceMonitor.labels.release=prometheus")
    const monitor = made.find(({ kind }) => kind === "ServiceMonitor")
    expect(monitor).toMatchObject({
      apiVersion: "monitoring.coreos.com/v1",
      metadata: { labels: { release: "prometheus", "app.kubernetes.io/name": "chancery-operator" } },
      spec: { endpoints: [{ port: "metrics", interval: "30s" }] },
    })
    const service = made.find(({ kind }) => kind === "Service")
    const spec = monitor?.["spec"] as { selector: { matchLabels: object } } | undefined
    expect(service?.metadata.labels).toMatchObject(spec?.selector.matchLabels ?? { nothing: true })
  })

  test("leaves the CRDs on uninstall unless configured, and has none when they are managed elsewhere", async () => {
    const policies = async (...values: string[]) =>
      (await rendered(...values))
        .filter(isDefinition)
        .map(({ metadata }) => metadata.annotations?.["helm.sh/resource-policy"])
    expect(new Set(await policies())).toEqual(new Set(["keep"]))
    expect(new Set(await policies("crds.keep=false"))).toEqual(new Set([undefined]))
    expect(await policies("crds.install=false")).toEqual([])
  })

  test.each([
    { values: "replica=3", message: /replica/ },
    { values: "image.tags=1", message: /tags/ },
    { values: "replicas=0", message: /replicas/ },
    { values: "shards=many", message: /shards/ },
    { values: "image.digest=latest", message: /digest/ },
    { values: "namespaces={Alpha}", message: /namespaces/ },
    { values: "resources.limits.memory=lots", message: /memory/ },
    { values: "networkPolicy.egressPorts={70000}", message: /egressPorts/ },
    { values: "embeddedEngine.enabled=true", message: /replicas: 1/ },
    { values: "clusterName=West", message: /clusterName/ },
    { values: "env[0].value=x", message: /env/ },
    { values: "serviceAccount.named=x", message: /named/ },
  ])("is rejected with $values, with an error that names it", async ({ values, message }) => {
    await expect(rendered(values)).rejects.toThrow(message)
  })
})
