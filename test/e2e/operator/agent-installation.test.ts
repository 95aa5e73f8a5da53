// The chart of agents renders the intended objects, the API server accepts them, and the command accepts their options.
import { readFile, symlink, writeFile } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { describe, expect, test } from "vitest"
import { parse } from "yaml"
import { run } from "../../../engine/src/cli/program.ts"
import { parsePodTemplate } from "../../../operator/src/agent-pods/pod-template.ts"
import { podOf as podFrom } from "../../../operator/src/agent-pods/run-pod.ts"
import { temporaryFolder } from "../../cli/chancery.ts"
import { typedPage } from "../../documents/typed-page.ts"
import { sharedCluster } from "./cluster.ts"
import { agentChartFolder, findHelm, type Helm, type Manifest, manifestsIn } from "./helm.ts"

const guide = typedPage(import.meta.url, "docs/agents.md")
const cluster = sharedCluster()
const found = await findHelm(agentChartFolder)
const root = join(import.meta.dirname, "../../..")

const required = ["engineUrl=https://chancery.example", "token.existingSecret=pool"]
const everything = [
  "replicas=3",
  "slots=4",
  "image.repository=registry.example/chancery-agent",
  `image.digest=sha256:${"0".repeat(64)}`,
  "imagePullSecrets[0].name=registry",
  "ca.existingConfigMap=authorities",
  "tool=opentofu",
  "toolsMirror=https://tools.example",
  "providerMirror=https://mirror.example",
  "passEnv={HTTPS_PROXY,NO_PROXY}",
  "extraEnv[0].name=HTTPS_PROXY",
  "extraEnv[0].value=http://proxy",
  "extraArgs={--lease,90s}",
  "pods.image=registry.example/runs:1",
  "pods.startTimeout=10m",
  "pods.template.metadata.labels.team=platform",
  "pods.template.spec.nodeSelector.disk=ssd",
  "terminationGracePeriodSeconds=120",
  "priorityClassName=system-cluster-critical",
  "nodeSelector.disk=ssd",
  "tolerations[0].operator=Exists",
  "commonLabels.team=platform",
  "podAnnotations.a=b",
  "serviceAccount.annotations.a=b",
]
const cases = [
  { why: "the defaults", isolation: "pod", values: [] },
  { why: "everything", isolation: "pod", values: everything },
  { why: "the isolation user", isolation: "user", values: ["isolation=user", "ca.existingSecret=authorities"] },
  { why: "the isolation none", isolation: "none", values: ["isolation=none", "networkPolicy.enabled=false"] },
]

interface Container {
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  readonly [member: string]: unknown
}
interface PodSpec {
  readonly containers: readonly [Container]
  readonly volumes: readonly { readonly name: string }[]
  readonly [member: string]: unknown
}

const ofKind = (manifests: readonly Manifest[], kind: string) => manifests.filter((each) => each.kind === kind)

function one(manifests: readonly Manifest[], kind: string): Manifest {
  const [manifest] = ofKind(manifests, kind)
  if (manifest === undefined) throw new Error(`there is no ${kind}`)
  return manifest
}

interface AgentSet {
  readonly template: { readonly metadata: { readonly annotations: object }; readonly spec: PodSpec }
}
const setOf = (manifests: readonly Manifest[]): AgentSet => one(manifests, "StatefulSet")["spec"] as AgentSet
const podOf = (manifests: readonly Manifest[]): PodSpec => setOf(manifests).template.spec

function templateText(manifests: readonly Manifest[]): string {
  const data = one(manifests, "ConfigMap")["data"] as Readonly<Record<string, string>>
  return data["template.yaml"] ?? ""
}

describe.skipIf(found === undefined)("an installation of agents", () => {
  const helm = found as Helm
  const template = (values: readonly string[]) => helm.template({ name: "agents", values: [...required, ...values] })
  const rendered = async (...values: readonly string[]) => manifestsIn(await template(values))

  test.each(cases)("passes helm lint when its values are $why", async ({ values }) => {
    expect(await helm.lint([...required, ...values])).toContain("0 chart(s) failed")
  })

  test.each(cases)(
    "has options that the command accepts, and mounts their files, when its values are $why",
    async ({ values }) => {
      const { containers, volumes } = podOf(await rendered(...values))
      const [{ command, args, volumeMounts }] = containers
      expect(command).toEqual(["chancery"])
      let stderr = ""
      const words = args.map((word) => word.replace("$(POD_NAME)", "agents-0").replace("$(POD_NAMESPACE)", "chancery"))
      const terminal = {
        out() {},
        say: (text: string) => void (stderr += text),
        input: async () => "",
        environment: {},
      }
      // All options are valid, and then the token is read.
      expect([await run(words, terminal), stderr]).toEqual([
        78,
        expect.stringContaining("The token file /etc/chancery/token/token cannot be read"),
      ])
      const files = args.flatMap((word) => /^--(?:token-file|ca-file|pod-template|data)=(.*)$/.exec(word)?.[1] ?? [])
      const isMounted = (file: string) => volumeMounts.some(({ mountPath }) => `${file}/`.startsWith(`${mountPath}/`))
      expect(files.filter((file) => !isMounted(file))).toEqual([])
      expect(volumeMounts.map(({ name }) => name)).toEqual(volumes.map(({ name }) => name))
    },
  )

  test.each(cases)(
    "has access to pods only with the isolation pod when its values are $why",
    async ({ isolation, values }) => {
      const manifests = await rendered(...values)
      const isPod = isolation === "pod"
      expect(podOf(manifests)["automountServiceAccountToken"]).toBe(isPod)
      expect(ofKind(manifests, "ServiceAccount")[0]?.["automountServiceAccountToken"]).toBe(isPod)
      expect(ofKind(manifests, "Role").map((role) => role["rules"])).toEqual(
        isPod
          ? [
              [
                { apiGroups: [""], resources: ["pods"], verbs: ["create", "delete", "get", "list", "watch"] },
                { apiGroups: [""], resources: ["secrets"], verbs: ["create", "delete"] },
              ],
            ]
          : [],
      )
    },
  )

  test.each(cases.filter(({ isolation }) => isolation === "pod"))(
    "has a template of pods without faults when its values are $why",
    async ({ values }) => {
      expect(parsePodTemplate(templateText(await rendered(...values)))).toMatchObject({
        template: {
          spec: { containers: [{ name: "agent", resources: { limits: { memory: "2Gi" } } }] },
        },
      })
    },
  )

  test("pulls the pods of runs like the agents when a registry needs credentials", async () => {
    expect(parse(templateText(await rendered(...everything)))).toMatchObject({
      metadata: { labels: { team: "platform" } },
      spec: { imagePullSecrets: [{ name: "registry" }], nodeSelector: { disk: "ssd" } },
    })
  })

  test("restarts agents when the template of pods changes, and only then", async () => {
    const annotationsOf = async (...values: readonly string[]) =>
      setOf(await rendered(...values)).template.metadata.annotations
    const before = await annotationsOf()
    expect(await annotationsOf("replicas=2")).toEqual(before)
    expect(await annotationsOf("pods.template.spec.nodeSelector.disk=ssd")).not.toEqual(before)
  })

  test.each([
    { isolation: "pod", seconds: 60 },
    { isolation: "user", seconds: 7200 },
    { isolation: "none", seconds: 7200 },
  ])("gives an agent $seconds seconds to end when the isolation is $isolation", async ({ isolation, seconds }) => {
    expect(podOf(await rendered(`isolation=${isolation}`))["terminationGracePeriodSeconds"]).toBe(seconds)
  })

  test("blocks the metadata of clouds for the pods of runs", async () => {
    const policies = ofKind(await rendered(), "NetworkPolicy")
    expect(policies.map(({ metadata }) => metadata.name)).toEqual(["agents", "agents-runs"])
    expect(policies[1]?.["spec"]).toEqual({
      podSelector: { matchLabels: { "app.kubernetes.io/managed-by": "chancery-agent" } },
      policyTypes: ["Ingress", "Egress"],
      egress: [
        {
          to: [
            { ipBlock: { cidr: "0.0.0.0/0", except: ["169.254.169.254/32"] } },
            { ipBlock: { cidr: "::/0", except: ["fd00:ec2::254/128"] } },
          ],
        },
      ],
    })
  })

  test("has the release of the packages", async () => {
    const chart = parse(await readFile(join(agentChartFolder, "Chart.yaml"), "utf8")) as Record<string, string>
    const { version } = JSON.parse(await readFile(join(root, "engine/package.json"), "utf8")) as Record<string, string>
    expect([chart["version"], chart["appVersion"]]).toEqual([version, version])
  })

  test.each([
    { values: "replica=3", message: /replica/ },
    { values: "engineUrl=", message: /engineUrl is required/ },
    { values: "engineUrl=chancery.example", message: /engineUrl/ },
    { values: "token.existingSecret=", message: /token\.existingSecret is required/ },
    { values: "slots=0", message: /slots/ },
    { values: "isolation=sandbox", message: /isolation/ },
    { values: "tool=pulumi", message: /tool/ },
    { values: "passEnv={CHANCERY_TOKEN}", message: /passEnv/ },
    { values: "pods.startTimeout=soon", message: /startTimeout/ },
    { values: "pods.template.spec.restartPolicy=Always", message: /restartPolicy/ },
    { values: "pods.template.kind=Deployment", message: /template/ },
    { values: "networkPolicy.blockedRanges={metadata}", message: /blockedRanges/ },
    { values: "resources.limits.memory=lots", message: /memory/ },
    { values: "commonLabels.app\\.kubernetes\\.io/name=mine", message: /commonLabels/ },
    { values: "ca.existingSecret=a,ca.existingConfigMap=b", message: /ca accepts a ConfigMap or a Secret/ },
  ])("is rejected with an error that names the value when it is $values", async ({ values, message }) => {
    await expect(rendered(values)).rejects.toThrow(message)
  })

  test.skipIf(cluster === undefined).each(cases)(
    "is accepted by the API server when its values are $why",
    async ({ values }) => {
      const yaml = await template(values)
      const output = await cluster?.kubectl(
        ["apply", "--server-side", "--dry-run=server", "--validate=strict", "--namespace=default", "-f", "-"],
        yaml.replaceAll(/^( *namespace:) chancery$/gm, "$1 default"),
      )
      for (const { kind } of manifestsIn(yaml)) expect(output).toMatch(new RegExp(`^${kind.toLowerCase()}[./]`, "m"))
    },
  )

  test.skipIf(cluster === undefined)("is created with the commands of the guide, typed as written", async () => {
    await using folder = await temporaryFolder()
    await writeFile(join(folder.path, "agent-token"), "token of a pool", { mode: 0o600 })
    await symlink(join(root, "engine"), join(folder.path, "engine"))
    await symlink(helm.program, join(folder.path, "helm"))
    const PATH = [folder.path, cluster?.environment["PATH"], process.env["PATH"]].join(delimiter)
    const environment = { ...process.env, ...cluster?.environment, PATH, HOME: folder.path }
    const stdout = await guide
      .block("In a cluster")
      .without(/^docker build/)
      .type({ folder: folder.path, environment })
    expect(stdout).toContain("STATUS: deployed")
    const installed = async (kind: string, name: string) =>
      JSON.parse(await cluster!.kubectl(["get", kind, name, "-n", "chancery-agents", "-o", "json"]))
    const { spec } = await installed("statefulset", "chancery-agents")
    expect(spec.template.spec.containers[0].args).toContain("--tools-mirror=https://releases.hashicorp.com")
    const { secret } = spec.template.spec.volumes.find(({ name }: { readonly name: string }) => name === "token")
    expect((await installed("secret", secret.secretName)).data).toHaveProperty("token")

    const file = join(folder.path, "template.yaml")
    await guide.block("Pods of runs").write(file)
    const parsed = parsePodTemplate(await readFile(file, "utf8"))
    if ("faults" in parsed) throw new Error(parsed.faults.join("; "))
    await cluster?.kubectl(["create", "serviceaccount", "runs", "-n", "chancery-agents"])
    const options = { namespace: "chancery-agents", agent: "agents-0", image: "agent:1", args: ["agent"], graceMs: 0 }
    const pod = podFrom(
      parsed.template,
      { ...options, passed: [], files: [], filesFolder: "/etc/chancery/claim" },
      { claimId: "claim-1", runId: "run-1", workspace: "acme/web" },
    )
    expect(
      await cluster?.kubectl(["create", "--dry-run=server", "--validate=strict", "-f", "-"], JSON.stringify(pod)),
    ).toMatch(/^pod\/run-1-\w+ created \(server dry run\)/)
  })

  test.skipIf(cluster === undefined).each([
    { isolation: "pod", standard: "restricted" },
    { isolation: "none", standard: "restricted" },
    { isolation: "user", standard: "baseline" },
  ])("has pods of the standard $standard when the isolation is $isolation", async ({ isolation, standard }) => {
    const namespace = `agents-${isolation}`
    await cluster?.kubectl(["create", "namespace", namespace])
    await cluster?.kubectl(["label", "namespace", namespace, `pod-security.kubernetes.io/enforce=${standard}`])
    await cluster?.kubectl(["create", "serviceaccount", "agents", "-n", namespace])
    const spec = podOf(await rendered(`isolation=${isolation}`))
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "agents-0", namespace }, spec }
    expect(await cluster?.kubectl(["create", "--dry-run=server", "-f", "-"], JSON.stringify(pod))).toContain(
      "pod/agents-0 created (server dry run)",
    )
  })
})
