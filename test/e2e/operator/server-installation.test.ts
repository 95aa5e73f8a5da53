// The server's chart renders the intended objects. The API server and Chancery's server accept them, and they run in a namespace with the
// `restricted` pod security standard.
import { copyFile, readFile, symlink } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { describe, expect, test } from "vitest"
import { parse } from "yaml"
import { configure } from "../../../engine/src/cli/configuration.ts"
import { environmentNameOf, settingNames, type Settings } from "../../../engine/src/cli/settings.ts"
import { temporaryFolder } from "../../cli/chancery.ts"
import { typedPage } from "../../documents/typed-page.ts"
import { sharedCluster } from "./cluster.ts"
import { findHelm, type Helm, type Manifest, manifestsIn, serverChartFolder } from "./helm.ts"

const guide = typedPage(import.meta.url, "docs/operations.md")
const root = join(import.meta.dirname, "../../..")
const tls = join(root, "test/cli/tls")
const cluster = sharedCluster()
const found = await findHelm(serverChartFolder)

const secrets = ["storage.existingSecret=database", "sealKey.existingSecret=seal"]
const everything = [
  "tls.existingSecret=certificate",
  "publicUrl=https://chancery.example",
  "storage.ca.existingConfigMap=authorities",
  "audit.existingClaim=records",
  "ingress.enabled=true",
  "ingress.host=chancery.example",
  "ingress.className=nginx",
  "ingress.tlsSecret=shown",
  "ingress.annotations.a=b",
  "autoscaling.enabled=true",
  "service.type=LoadBalancer",
  "service.annotations.a=b",
  "devices.enabled=true",
  "devices.service.type=LoadBalancer",
  "devices.service.annotations.a=b",
  "devices.service.externalTrafficPolicy=Local",
  "settings.logLevel=warn",
  "storage.readReplicaKey=standbys",
  "settings.trustedProxies=private",
  "shutdown.delaySeconds=20",
  "shutdown.graceSeconds=60",
  `image.digest=sha256:${"0".repeat(64)}`,
  "imagePullSecrets[0].name=registry",
  "extraEnv[0].name=TZ",
  "extraEnv[0].value=UTC",
  "extraContainers[0].name=records",
  "extraContainers[0].image=records:1",
  "extraContainers[0].securityContext.allowPrivilegeEscalation=false",
  "extraContainers[0].securityContext.capabilities.drop={ALL}",
  "priorityClassName=system-cluster-critical",
  "nodeSelector.disk=ssd",
  "tolerations[0].operator=Exists",
  "commonLabels.team=platform",
  "podAnnotations.a=b",
  "serviceAccount.annotations.a=b",
]
const cases = [
  { why: "the defaults", values: [] },
  { why: "everything", values: everything },
  { why: "logins from the cluster", values: ["kubernetesLogins.enabled=true"] },
  { why: "a listener for devices", values: ["tls.existingSecret=certificate", "devices.enabled=true"] },
  {
    why: "minimal values",
    values: [
      "replicas=1",
      "audit.enabled=false",
      "networkPolicy.enabled=false",
      "podDisruptionBudget.enabled=false",
      "storage.ca.existingSecret=authorities",
      "fullnameOverride=pki",
    ],
  },
]

interface Container {
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value?: string }[]
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  readonly [member: string]: unknown
}
interface PodSpec {
  readonly containers: readonly [Container, ...Container[]]
  readonly volumes: readonly { readonly name: string }[]
  readonly terminationGracePeriodSeconds: number
  readonly [member: string]: unknown
}

interface Volume {
  readonly secret?: { readonly secretName: string }
  readonly configMap?: { readonly name: string }
}

function one(manifests: readonly Manifest[], kind: string): Manifest {
  const [manifest, ...others] = manifests.filter((each) => each.kind === kind)
  if (manifest === undefined || others.length > 0) throw new Error(`${others.length} ${kind} besides ${manifest?.kind}`)
  return manifest
}

const podOf = (manifests: readonly Manifest[]): PodSpec =>
  (one(manifests, "Deployment")["spec"] as { template: { spec: PodSpec } }).template.spec

/** Returns the settings as the server in the pod reads them. */
function settingsOf(manifests: readonly Manifest[]): Settings {
  const { env } = podOf(manifests).containers[0]
  const environment = Object.fromEntries(
    env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value.replace("$(POD_NAME)", "chancery-a")]])),
  )
  const data = one(manifests, "ConfigMap")["data"] as Readonly<Record<string, string>>
  const path = environment["CHANCERY_CONFIG"] ?? ""
  const text = data["chancery.json"] ?? ""
  return configure({ flags: {}, environment, file: { path, text }, dev: false })
}

describe.skipIf(found === undefined)("an installation of the server", () => {
  const helm = found as Helm
  const template = (values: readonly string[]) => helm.template({ name: "chancery", values: [...secrets, ...values] })
  const rendered = async (...values: string[]) => manifestsIn(await template(values))

  test.each(cases)("with $why passes helm lint", async ({ values }) => {
    expect(await helm.lint([...secrets, ...values])).toContain("0 chart(s) failed")
  })

  test.each(cases)("with $why has settings that the server accepts, in mounted files", async ({ values }) => {
    const manifests = await rendered(...values)
    const pod = podOf(manifests)
    const [{ args, env, volumeMounts }] = pod.containers
    expect(args).toEqual(["engine/bin/chancery.js", "serve"])
    const known = ["CHANCERY_CONFIG", ...settingNames.map(environmentNameOf)]
    const named = env.map(({ name }) => name).filter((name) => name.startsWith("CHANCERY_"))
    expect(named.filter((name) => !known.includes(name))).toEqual([])
    expect(named).toContain("CHANCERY_STORAGE")

    const settings = settingsOf(manifests)
    expect(settings.listen).toEqual({ host: "0.0.0.0", port: 8420 })
    const { sealKeyFile, tlsCert, tlsKey, data, auditLog } = settings
    const recorded = auditLog === "off" || auditLog?.kind !== "file" ? undefined : auditLog.path
    const files = [sealKeyFile, tlsCert, tlsKey, data, recorded].filter((file) => file !== undefined)
    expect(files.length).toBeGreaterThan(1)
    const isMounted = (file = "") => volumeMounts.some(({ mountPath }) => file.startsWith(`${mountPath}/`))
    expect(files.filter((file) => !isMounted(file))).toEqual([])
    expect(new Set(volumeMounts.map(({ name }) => name))).toEqual(new Set(pod.volumes.map(({ name }) => name)))
  })

  test.each(cases)("with $why gives a server time to shut down", async ({ values }) => {
    const manifests = await rendered(...values)
    const { shutdownDelay, shutdownGrace } = settingsOf(manifests)
    const pod = podOf(manifests)
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThanOrEqual(shutdownDelay + shutdownGrace + 10_000)
    const { readinessProbe } = pod.containers[0] as unknown as {
      readinessProbe: { periodSeconds: number; failureThreshold: number }
    }
    expect(readinessProbe.periodSeconds * readinessProbe.failureThreshold * 1000).toBeLessThan(shutdownDelay)
    expect(one(manifests, "Deployment")["spec"]).toMatchObject({
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    })
  })

  test.each(cases)(
    "with $why runs as an unprivileged user, without an account unless it reviews tokens, on a read-only file system",
    async (one) => {
      expect(podOf(await rendered(...one.values))).toMatchObject({
        automountServiceAccountToken: one.values.includes("kubernetesLogins.enabled=true"),
        securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
        containers: expect.arrayContaining([
          expect.objectContaining({
            name: "server",
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ["ALL"] },
            },
          }),
        ]),
      })
    },
  )

  test("contains secrets only by reference", async () => {
    const manifests = await rendered(...everything)
    expect(manifests.some(({ kind }) => kind === "Secret")).toBe(false)
    const { env } = podOf(manifests).containers[0]
    const referredTo = (key: string) => ({ valueFrom: { secretKeyRef: { name: "database", key } } })
    expect(env.find(({ name }) => name === "CHANCERY_STORAGE")).toMatchObject(referredTo("url"))
    expect(env.find(({ name }) => name === "CHANCERY_STORAGE_READ_REPLICA")).toMatchObject(referredTo("standbys"))
  })

  test("may review tokens where accounts of the cluster log in, and needs no Kubernetes access elsewhere", async () => {
    const off = await rendered()
    expect(off.filter(({ kind }) => kind === "ClusterRoleBinding")).toEqual([])
    expect(one(off, "ServiceAccount")).toMatchObject({ automountServiceAccountToken: false })
    const on = await rendered("kubernetesLogins.enabled=true")
    const account = one(on, "ServiceAccount")
    expect([account["automountServiceAccountToken"], podOf(on)["automountServiceAccountToken"]]).toEqual([true, true])
    const { name, namespace } = account.metadata
    expect(one(on, "ClusterRoleBinding")).toMatchObject({
      roleRef: { kind: "ClusterRole", name: "system:auth-delegator" },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    })
    expect(podOf(on)["serviceAccountName"]).toBe(name)
    const portsOf = (manifests: readonly Manifest[]) => JSON.stringify(one(manifests, "NetworkPolicy")["spec"])
    expect([portsOf(off).includes("6443"), portsOf(on).includes("6443")]).toEqual([false, true])
  })

  test("with a certificate is accessed by HTTPS everywhere", async () => {
    const manifests = await rendered(
      "tls.existingSecret=certificate",
      "serviceMonitor.enabled=true",
      "serviceMonitor.serverName=chancery.example",
      "serviceMonitor.ca.existingSecret=root",
    )
    const [server] = podOf(manifests).containers
    for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"])
      expect(server[probe]).toMatchObject({ httpGet: { scheme: "HTTPS", port: "api" } })
    expect(one(manifests, "Service")["spec"]).toMatchObject({
      ports: [{ name: "https", port: 443, targetPort: "api" }],
    })
    expect(one(manifests, "ServiceMonitor")["spec"]).toMatchObject({
      endpoints: [{ port: "https", scheme: "https", tlsConfig: { serverName: "chancery.example" } }],
    })
    expect(settingsOf(manifests)).toMatchObject({ tlsCert: "/etc/chancery/tls/tls.crt", tlsListen: "off" })
  })

  test("serves devices on a port and a Service of their own, if enabled", async () => {
    const off = await rendered("tls.existingSecret=certificate")
    expect(off.filter(({ kind }) => kind === "Service").map(({ metadata }) => metadata.name)).toEqual(["chancery"])
    expect(settingsOf(off).deviceListen).toBeUndefined()
    const on = await rendered(
      "tls.existingSecret=certificate",
      "devices.enabled=true",
      "devices.service.type=LoadBalancer",
      "devices.service.port=8443",
      "devices.service.externalTrafficPolicy=Local",
    )
    expect(settingsOf(on).deviceListen).toEqual({ host: "0.0.0.0", port: 8443 })
    const services = on.filter(({ kind }) => kind === "Service")
    expect(services.map(({ metadata }) => metadata.name).toSorted()).toEqual(["chancery", "chancery-devices"])
    const service = services.find(({ metadata }) => metadata.name === "chancery-devices")
    expect(service?.["spec"]).toEqual({
      type: "LoadBalancer",
      externalTrafficPolicy: "Local",
      selector: { "app.kubernetes.io/name": "chancery", "app.kubernetes.io/instance": "chancery" },
      ports: [{ name: "devices", port: 8443, targetPort: "devices" }],
    })
    expect(podOf(on).containers[0]["ports"]).toEqual([
      { name: "api", containerPort: 8420 },
      { name: "devices", containerPort: 8443 },
    ])
    expect(one(on, "NetworkPolicy")["spec"]).toMatchObject({
      ingress: [{ ports: [{ port: "api" }, { port: "devices" }] }],
    })
  })

  test("exposes the API to the ingress, and neither metrics nor probes", async () => {
    const { rules } = one(await rendered(...everything), "Ingress")["spec"] as {
      rules: readonly { http: { paths: readonly { path: string; pathType: string }[] } }[]
    }
    const paths = rules.flatMap(({ http }) => http.paths.map(({ path }) => path))
    expect(paths).toEqual(["/api", "/v1", "/app", "/.well-known", "/uploads"])
  })

  test("leaves the number of replicas to the autoscaler, if enabled", async () => {
    const manifests = await rendered("autoscaling.enabled=true", "replicas=4")
    expect(one(manifests, "Deployment")["spec"]).not.toHaveProperty("replicas")
    expect(one(manifests, "HorizontalPodAutoscaler")["spec"]).toMatchObject({ minReplicas: 4, maxReplicas: 10 })
  })

  test("restarts pods when settings change, and only then", async () => {
    const annotationsOf = async (...values: string[]) =>
      (one(await rendered(...values), "Deployment")["spec"] as { template: { metadata: { annotations: unknown } } })
        .template.metadata.annotations
    const before = await annotationsOf()
    expect(await annotationsOf("replicas=5")).toEqual(before)
    expect(await annotationsOf("settings.logLevel=debug")).not.toEqual(before)
  })

  test("may have a name of digits alone, which stays a string", async () => {
    const manifests = manifestsIn(await helm.template({ name: "2026", values: [...secrets, ...everything] }))
    expect(manifests.map(({ metadata }) => metadata.name)).toEqual(manifests.map(() => expect.any(String)))
    const { spec } = one(manifests, "Deployment")
    expect(spec).toMatchObject({
      selector: { matchLabels: { "app.kubernetes.io/instance": "2026" } },
      template: { spec: { serviceAccountName: "2026" } },
    })
    expect(one(manifests, "HorizontalPodAutoscaler")["spec"]).toMatchObject({ scaleTargetRef: { name: "2026" } })
  })

  test("has the release of the packages", async () => {
    const chart = parse(await readFile(join(serverChartFolder, "Chart.yaml"), "utf8")) as Record<string, string>
    const { version } = JSON.parse(await readFile(join(root, "engine/package.json"), "utf8")) as Record<string, string>
    expect([chart["version"], chart["appVersion"]]).toEqual([version, version])
  })

  test.each([
    { values: "replica=3", message: /replica/ },
    { values: "replicas=0", message: /replicas/ },
    { values: "storage.existingSecret=", message: /storage\.existingSecret is required/ },
    { values: "sealKey.existingSecret=", message: /sealKey\.existingSecret is required/ },
    { values: "settings.storage=postgres://a", message: /settings|storage/ },
    { values: "settings.listen=:1", message: /settings\.listen is set by the chart/ },
    { values: "publicUrl=chancery.example", message: /publicUrl/ },
    { values: "resources.limits.memory=lots", message: /memory/ },
    { values: "heapPercent=100", message: /heapPercent/ },
    { values: "commonLabels.app\\.kubernetes\\.io/name=mine", message: /commonLabels/ },
    { values: "ingress.enabled=true", message: /ingress\.host/ },
    { values: "autoscaling.enabled=true,autoscaling.maxReplicas=2", message: /maxReplicas must be at least replicas/ },
    { values: "storage.ca.existingSecret=a,storage.ca.existingConfigMap=b", message: /storage\.ca/ },
    { values: "devices.enabled=true", message: /devices\.enabled requires tls\.existingSecret/ },
    { values: "devices.enabled=true,tls.existingSecret=a,settings.deviceListen=:1", message: /settings\.deviceListen/ },
    {
      values: "devices.enabled=true,tls.existingSecret=a,devices.service.externalTrafficPolicy=Local",
      message: /externalTrafficPolicy requires the type NodePort or LoadBalancer/,
    },
    { values: "devices.service.port=0", message: /port/ },
    { values: "serviceMonitor.enabled=true,tls.existingSecret=a", message: /serviceMonitor\.serverName/ },
  ])("is rejected with $values, with an error that names it", async ({ values, message }) => {
    await expect(rendered(values)).rejects.toThrow(message)
  })

  test.skipIf(cluster === undefined)("is created with the commands of the guide, typed as written", async () => {
    await using folder = await temporaryFolder()
    for (const name of ["ca.crt", "chain.pem"]) await copyFile(join(tls, "certificate.pem"), join(folder.path, name))
    await copyFile(join(tls, "key.pem"), join(folder.path, "key.pem"))
    await symlink(join(root, "engine"), join(folder.path, "engine"))
    await symlink(helm.program, join(folder.path, "helm"))
    const PATH = [folder.path, cluster?.environment["PATH"], process.env["PATH"]].join(delimiter)
    const environment = { ...process.env, ...cluster?.environment, PATH, HOME: folder.path }
    const stdout = await guide.block("Kubernetes").type({ folder: folder.path, environment })
    expect(stdout).toContain("STATUS: deployed")
    expect(stdout).toContain("token create --user root")
    const installed = async (kind: string, name: string) =>
      JSON.parse(await cluster!.kubectl(["get", kind, name, "-n", "chancery-server", "-o", "json"]))
    const { spec } = await installed("deployment", "chancery")
    const named: string[][] = spec.template.spec.volumes.flatMap((volume: Volume) => [
      ...(volume.secret === undefined ? [] : [["secret", volume.secret.secretName]]),
      ...(volume.configMap === undefined ? [] : [["configmap", volume.configMap.name]]),
    ])
    expect(named).toHaveLength(4)
    const there = await Promise.all(named.map(([kind = "", name = ""]) => installed(kind, name)))
    expect(there.map(({ metadata }) => metadata.name)).toEqual(named.map(([, name]) => name))
    const { data } = await installed("configmap", "chancery")
    expect(JSON.parse(data["chancery.json"])).toMatchObject({ rateLimit: "100", publicUrl: "https://chancery.example" })
  })

  test.skipIf(cluster === undefined).each(cases)("with $why is accepted by the API server", async ({ values }) => {
    const yaml = await template(values)
    const output = await cluster?.kubectl(
      ["apply", "--server-side", "--dry-run=server", "--validate=strict", "--namespace=default", "-f", "-"],
      yaml.replaceAll(/^( *namespace:) chancery$/gm, "$1 default"),
    )
    for (const { kind } of manifestsIn(yaml)) expect(output).toMatch(new RegExp(`^${kind.toLowerCase()}[./]`, "m"))
  })

  test.skipIf(cluster === undefined).each(cases)("with $why has unprivileged pods", async ({ why, values }) => {
    const namespace = `restricted-${cases.findIndex((each) => each.why === why)}`
    const admitted = (spec: object) => {
      const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "server", namespace }, spec }
      return cluster!.kubectl(["create", "--dry-run=server", "-f", "-"], JSON.stringify(pod))
    }
    await cluster?.kubectl(["create", "namespace", namespace])
    await cluster?.kubectl(["label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted"])
    await cluster?.kubectl([
      "create",
      "serviceaccount",
      why === "as little as can be" ? "pki" : "chancery",
      "-n",
      namespace,
    ])
    const spec = podOf(await rendered(...values))
    expect(await admitted(spec)).toContain("pod/server created (server dry run)")
    await expect(admitted({ ...spec, hostNetwork: true })).rejects.toThrow(/PodSecurity/)
  })
})
