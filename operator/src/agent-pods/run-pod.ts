// Pod and Secret of one run.
import { createHash } from "node:crypto"
import { podDataFolder } from "@chancery/engine/cli"
import type { KubernetesObject } from "../kube/kubernetes-object.ts"
import { agentContainer, type Pod } from "./pod.ts"
import { type Container, managedByLabel, ownVolumes, type PodTemplate } from "./pod-template.ts"

export interface PodOptions {
  readonly namespace: string
  /** Name of the agent. */
  readonly agent: string
  /** Default: the image of the template. */
  readonly image: string | undefined
  /** Arguments of `chancery`, without the claim. */
  readonly args: readonly string[]
  /** Names of environment variables whose values are in the Secret. */
  readonly passed: readonly string[]
  /** Names of files that are in the Secret. */
  readonly files: readonly string[]
  readonly filesFolder: string
  readonly graceMs: number
}

export interface PodRun {
  readonly claimId: string
  readonly runId: string
  /** `organization/name`. */
  readonly workspace: string
}

const managedBy = "chancery-agent"
export const agentLabel = "chancery.dev/agent"
export const runLabel = "chancery.dev/run"
/** An annotation, because it finds the claim of a pod, and no pod is searched by it. */
export const claimAnnotation = "chancery.dev/claim"
const workspaceAnnotation = "chancery.dev/workspace"

const temporaryFolder = "/tmp"
/** Time to report and to end, in addition to the grace time of a command. */
const endingSeconds = 30

/** Merges the run into the template. The template takes precedence, except for members that the run needs. */
export function podOf({ metadata = {}, spec }: PodTemplate, options: PodOptions, run: PodRun): Pod {
  const { namespace, agent, files, graceMs } = options
  const { containers = [], volumes = [], securityContext, ...others } = spec
  const given = containers.find(({ name }) => name === agentContainer) ?? { name: agentContainer }
  const name = podName(run)
  const mounts = (given.volumeMounts ?? []).map(({ mountPath }) => mountPath?.replace(/(?<=.)\/+$/, ""))
  const own = [
    ...(mounts.includes(podDataFolder) ? [] : [{ name: ownVolumes.data, mountPath: podDataFolder }]),
    ...(mounts.includes(temporaryFolder) ? [] : [{ name: ownVolumes.temporary, mountPath: temporaryFolder }]),
  ]
  const secret = {
    name: ownVolumes.files,
    secret: { secretName: name, defaultMode: 0o444, items: files.map((file) => ({ key: file, path: file })) },
  }
  const hasFiles = files.length > 0
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace,
      labels: {
        ...metadata.labels,
        [managedByLabel]: managedBy,
        [agentLabel]: labelValue(agent),
        [runLabel]: labelValue(run.runId),
      },
      annotations: {
        ...metadata.annotations,
        [claimAnnotation]: run.claimId,
        [workspaceAnnotation]: run.workspace,
      },
    },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: Math.ceil(graceMs / 1_000) + endingSeconds,
      ...others,
      restartPolicy: "Never",
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" }, ...securityContext },
      containers: [
        agentOf(given, options, run, [
          ...own,
          ...(hasFiles ? [{ name: ownVolumes.files, mountPath: options.filesFolder, readOnly: true }] : []),
        ]),
        ...containers.filter(({ name: other }) => other !== agentContainer),
      ],
      volumes: [
        ...volumes,
        ...own.map((volume) => ({ name: volume.name, emptyDir: {} })),
        ...(hasFiles ? [secret] : []),
      ],
    } as NonNullable<Pod["spec"]>,
  }
}

function agentOf(given: Container, options: PodOptions, run: PodRun, mounts: readonly object[]): object {
  const { image = given.image, args, passed } = options
  const { securityContext, env = [], volumeMounts = [], ...others } = given
  const fromSecret = (name: string, key: string) => ({
    name,
    valueFrom: { secretKeyRef: { name: podName(run), key } },
  })
  return {
    // The end of the output says why an agent has failed, and the agent that follows the pod prints it.
    terminationMessagePolicy: "FallbackToLogsOnError",
    ...others,
    ...(image === undefined ? {} : { image }),
    command: ["chancery"],
    args: [...args, "--claim", run.claimId, ...(passed.length === 0 ? [] : ["--pass-env", ...passed])],
    env: [...env, fromSecret("CHANCERY_TOKEN", tokenKey), ...passed.map((name) => fromSecret(name, variableKey(name)))],
    volumeMounts: [...volumeMounts, ...mounts],
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
      ...securityContext,
    },
  }
}

export interface SecretContent {
  readonly token: string
  readonly passed: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, string>>
}

const tokenKey = "token"
const variableKey = (name: string): string => `env.${name}`

/** Returns the Secret of a created pod. The pod owns it, so that Kubernetes deletes it with the pod. */
export function secretOf(pod: Pod, { token, passed, files }: SecretContent): KubernetesObject {
  const { name, namespace, labels = {}, uid } = pod.metadata
  const variables = Object.fromEntries(Object.entries(passed).map(([each, value]) => [variableKey(each), value]))
  const own = [managedByLabel, agentLabel, runLabel]
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: Object.fromEntries(own.flatMap((label) => (labels[label] === undefined ? [] : [[label, labels[label]]]))),
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid }],
    },
    type: "Opaque",
    immutable: true,
    stringData: { [tokenKey]: token, ...variables, ...files },
  }
}

/** Returns the name of a pod, which is the same after a restart. Ids distinguish upper and lower case, and names do not. */
export const podName = ({ runId, claimId }: PodRun): string =>
  `${runId.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}-${digest(claimId)}`

/** Returns the selector of the pods of an agent. */
export const podsOfAgent = (agent: string): string =>
  `${managedByLabel}=${managedBy},${agentLabel}=${labelValue(agent)}`

/** Returns the claim of a pod that an earlier agent created. */
export function runOf({ metadata: { labels = {}, annotations = {} } }: Pod): PodRun | undefined {
  const [runId, claimId, workspace] = [labels[runLabel], annotations[claimAnnotation], annotations[workspaceAnnotation]]
  return runId === undefined || claimId === undefined ? undefined : { runId, claimId, workspace: workspace ?? "" }
}

const maxLabel = 63
const digestLength = 10
const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, digestLength)

/** Returns the text as the value of a label. Texts that cannot be one get a digest, so that they remain different. */
export function labelValue(text: string): string {
  if (/^[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/.test(text)) return text
  const start = text.replaceAll(/[^-\w.]/g, "-").replace(/^[^A-Za-z0-9]+/, "")
  return `${start.slice(0, maxLabel - digestLength - 1)}-${digest(text)}`.replace(/^-/, "")
}

/** Returns lines for the start of the agent: which resources of a pod its template does not limit. */
export function limitsOf({ spec }: PodTemplate): readonly string[] {
  const own = spec.containers?.find(({ name }) => name === agentContainer)
  const limits = { ...spec.resources?.limits, ...own?.resources?.limits }
  return ["memory", "cpu"].flatMap((name) =>
    limits[name] === undefined ? [`${name} of pods is not limited, because the pod template sets no limit`] : [],
  )
}
