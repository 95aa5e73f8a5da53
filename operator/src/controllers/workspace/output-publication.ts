// Publishes the outputs of a workspace's state: non-sensitive ones in a ConfigMap, sensitive ones in a Secret. Both always exist, because
// pods that mount one need it. Both have the outputs of one state version; on failure they stay unchanged. Failures have their own
// condition, and do not stop the reconciliation of the workspace.
import { isDeepStrictEqual } from "node:util"
import { type Engine, isEngineError, maximumPageSize } from "@chancery/engine"
import { type Cluster, isRejection } from "../../kube/cluster.ts"
import type { Condition } from "../conditions.ts"
import { workspace, type WorkspaceObjectSpec } from "../../api/workspace.ts"
import {
  apiVersionOf,
  configMaps,
  type KubernetesObject,
  type Resource,
  secrets,
} from "../../kube/kubernetes-object.ts"
import type { Index } from "../../kube/object-store.ts"
import { RequeueAfter, refused, rejectionMessage } from "../reconcile-result.ts"
import { inNamespaceOf, labels, type OwnObjectsParts, presentAt, put } from "../../kube/owned-objects.ts"
import type { Reason } from "../event-reasons.ts"
import type { ReconcileRequest } from "../reconciler.ts"
import { maxContentBytes, contentBytesOf, layoutOf, type Output } from "./output-layout.ts"

export interface PublicationParts extends OwnObjectsParts {
  readonly cluster: Pick<Cluster, "apply" | "delete" | "get">
}

export interface Publication {
  readonly engine: Engine
  /** Id of the workspace; `stateVersionId` is that of its current state. */
  readonly id: string
  readonly stateVersionId: string | null
  readonly object: KubernetesObject
  readonly spec: WorkspaceObjectSpec
  readonly request: ReconcileRequest
}

/** Object as it was last written. */
interface WrittenObject {
  readonly name: string
  readonly resourceVersion: string
}

/** The member `outputs` of the status. */
export interface PublishedOutputs {
  readonly stateVersionID?: string
  readonly serial?: number
  readonly configMap?: WrittenObject
  readonly secret?: WrittenObject
}

export interface Published {
  /** Undefined if nothing is published any more. */
  readonly outputs: PublishedOutputs | undefined
  readonly condition?: Condition
  /** Delay of the next attempt, if the operator gets no notification of the change that it waits for. */
  readonly againAfterMs?: number
}

export const outputsCondition = "OutputsPublished"

const fieldManager = "chancery-workspace"
const ownerAnnotation = "chancery.dev/workspace-name"
const versionAnnotation = "chancery.dev/state-version"
const maxPages = 100
const maxNames = 8
const pendingMs = 5_000
/** Interval for checking a conflicting object: the operator does not watch objects of others. */
const foreignPollMs = 60_000

/** Returns the names of ConfigMap and Secret, or undefined unless outputs are published. The object may not match the schema. */
function namesIn({ metadata: { name }, spec }: KubernetesObject) {
  const { outputs } = (spec ?? {}) as Partial<WorkspaceObjectSpec>
  if (outputs === undefined) return undefined
  const { configMapName = `${name}-outputs`, secretName = `${name}-outputs` } = outputs
  return { configMapName, secretName }
}

/** Values for the indexes of the kind. */
export const outputsConfigMapOf: Index = (object) => keysOf(object, namesIn(object)?.configMapName)
export const outputsSecretOf: Index = (object) => keysOf(object, namesIn(object)?.secretName)

const keysOf = (object: KubernetesObject, name: string | undefined): readonly string[] =>
  name === undefined ? [] : [inNamespaceOf(object, name)]

const publishedBefore = ({ status }: ReconcileRequest): PublishedOutputs | undefined =>
  (status as { readonly outputs?: PublishedOutputs }).outputs

/** Returns whether there are outputs to publish or to remove. */
export const publishes = ({ spec, request }: Pick<Publication, "spec" | "request">): boolean =>
  spec.outputs !== undefined || publishedBefore(request) !== undefined

class NotPublished extends Error {
  readonly reason: Reason
  readonly againAfterMs: number | undefined
  constructor(reason: Reason, message: string, againAfterMs?: number) {
    super(message)
    this.reason = reason
    this.againAfterMs = againAfterMs
  }
}

/** Publishes the outputs. Queries the engine only if the state version, the ConfigMap or the Secret changed. */
export async function publishOutputs(parts: PublicationParts, one: Publication): Promise<Published> {
  const before = publishedBefore(one.request)
  const names = namesIn(one.object)
  if (names === undefined) {
    await removeOthers(parts, one, before, names)
    return { outputs: undefined }
  }
  try {
    const configMap = await ownAt(parts, one, configMaps, names.configMapName)
    const secret = await ownAt(parts, one, secrets, names.secretName)
    if (one.stateVersionId === null) throw new NotPublished("StateMissing", "The workspace has no state yet.")
    const isAsWritten =
      before?.stateVersionID === one.stateVersionId &&
      isVersion(configMap, before.configMap) &&
      isVersion(secret, before.secret)
    // No condition is returned, so the previous one stays.
    if (isAsWritten && one.request.quiet) return { outputs: before }
    const found = await published(parts, one, { configMap, secret, ...names })
    await removeOthers(parts, one, before, names)
    return found
  } catch (error) {
    const { reason, message, againAfterMs } = whyNot(error)
    if (reason === "ConfigMapRejected" || reason === "SecretRejected")
      await one.request.record({ type: "Warning", reason, note: message })
    return {
      outputs: before,
      condition: { type: outputsCondition, status: "False", reason, message },
      ...(againAfterMs === undefined ? {} : { againAfterMs }),
    }
  }
}

const isVersion = (present: KubernetesObject | undefined, written: WrittenObject | undefined): boolean =>
  present !== undefined &&
  present.metadata.name === written?.name &&
  present.metadata.resourceVersion === written.resourceVersion

const isOurs = (present: KubernetesObject, { object }: Publication): boolean =>
  present.metadata.annotations?.[ownerAnnotation] === object.metadata.name

async function ownAt(
  parts: PublicationParts,
  one: Publication,
  resource: Resource,
  name: string,
): Promise<KubernetesObject | undefined> {
  const present = await presentAt(parts, resource, inNamespaceOf(one.object, name))
  if (present === undefined || isOurs(present, one)) return present
  const reason = resource === configMaps ? "ConfigMapConflict" : "SecretNameConflict"
  const message = `The ${resource.kind} ${name} already exists and does not belong to this Workspace; use another name, or delete it.`
  throw new NotPublished(reason, message, foreignPollMs)
}

/** Deletes objects published under earlier names, or all of them if the spec no longer publishes. */
async function removeOthers(
  parts: PublicationParts,
  one: Publication,
  before: PublishedOutputs | undefined,
  names: ReturnType<typeof namesIn>,
): Promise<void> {
  const others = [
    [configMaps, before?.configMap?.name, names?.configMapName],
    [secrets, before?.secret?.name, names?.secretName],
  ] as const
  for (const [resource, name, kept] of others) {
    if (name === undefined || name === kept) continue
    const key = inNamespaceOf(one.object, name)
    const present = await presentAt(parts, resource, key)
    if (present !== undefined && isOurs(present, one)) await parts.cluster.delete(resource, key, present.metadata.uid)
  }
}

interface Objects {
  readonly configMapName: string
  readonly secretName: string
  readonly configMap: KubernetesObject | undefined
  readonly secret: KubernetesObject | undefined
}

async function published(parts: PublicationParts, one: Publication, objects: Objects): Promise<Published> {
  const { engine, id, request } = one
  // May be newer than the state version in the view.
  const version = await engine.stateVersions.current({ id })
  const { plain, sensitive, unfit } = layoutOf(await outputsOf(engine, version.id))
  rejectSize("ConfigMap", plain)
  rejectSize("Secret", sensitive)
  const about = { ...one, versionId: version.id }
  const configMap = await brought(parts, about, configMaps, objects.configMapName, objects.configMap, plain)
  const secret = await brought(parts, about, secrets, objects.secretName, objects.secret, encoded(sensitive))
  if (publishedBefore(request)?.stateVersionID !== version.id) {
    const note = `Published the outputs of the state with the serial ${version.serial}.`
    await request.record({ type: "Normal", reason: "OutputsPublished", note })
  }
  return {
    outputs: {
      stateVersionID: version.id,
      serial: version.serial,
      configMap: { name: objects.configMapName, resourceVersion: configMap.metadata.resourceVersion ?? "" },
      secret: { name: objects.secretName, resourceVersion: secret.metadata.resourceVersion ?? "" },
    },
    condition:
      unfit.length === 0
        ? {
            type: outputsCondition,
            status: "True",
            reason: "OutputsPublished",
            message: "The ConfigMap and the Secret have the outputs of the current state.",
          }
        : { type: outputsCondition, status: "False", reason: "OutputNamesUnfit", message: toldUnfit(unfit) },
  }
}

const encoded = (texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]))

function toldUnfit(names: readonly string[]): string {
  const rest = names.length - maxNames
  const shown = `${names.slice(0, maxNames).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`
  return `These outputs are not published, because their names are not valid keys or not unique: ${shown}. The others are published.`
}

function rejectSize(kind: string, texts: Readonly<Record<string, string>>): void {
  const bytes = contentBytesOf(texts)
  if (bytes <= maxContentBytes) return
  const message = `The outputs for the ${kind} have ${bytes} bytes; the limit is ${maxContentBytes}. The previous outputs stay published.`
  throw new NotPublished("OutputsTooLarge", message)
}

async function outputsOf(engine: Engine, stateVersionId: string): Promise<readonly Output[]> {
  const outputs: Output[] = []
  for (let number = 1; number <= maxPages; number += 1) {
    const { items, totalCount } = await engine.stateVersions.outputs(stateVersionId, { number, size: maximumPageSize })
    outputs.push(...items)
    if (items.length === 0 || outputs.length >= totalCount) return outputs
  }
  const maximum = maxPages * maximumPageSize
  throw new NotPublished(
    "OutputsTooLarge",
    `The state has more than ${maximum} outputs. The previous outputs stay published.`,
  )
}

async function brought(
  parts: PublicationParts,
  { object, versionId }: Publication & { readonly versionId: string },
  resource: Resource,
  name: string,
  present: KubernetesObject | undefined,
  data: Readonly<Record<string, string>>,
): Promise<KubernetesObject> {
  const { namespace, uid, name: owner } = object.metadata
  const wanted: KubernetesObject = {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(present?.metadata.uid === undefined ? {} : { uid: present.metadata.uid }),
      labels,
      annotations: { [ownerAnnotation]: owner, [versionAnnotation]: versionId },
      // The object is deleted with its Workspace object, even if the workspace itself stays.
      ownerReferences: [
        {
          apiVersion: apiVersionOf(workspace),
          kind: workspace.kind,
          name: owner,
          uid,
          controller: true,
          blockOwnerDeletion: false,
        },
      ],
    },
    ...(resource === secrets ? { type: present?.["type"] ?? "Opaque" } : {}),
    ...(Object.keys(data).length === 0 ? {} : { data }),
  }
  if (present !== undefined && isAsWanted(wanted, present)) return present
  try {
    return await put(parts, { kind: workspace, object, fieldManager }, resource, wanted)
  } catch (error) {
    if (!isRejection(error)) throw error
    const reason = resource === configMaps ? "ConfigMapRejected" : "SecretRejected"
    throw new NotPublished(reason, rejectionMessage(`the ${resource.kind} ${name}`, error), foreignPollMs)
  }
}

/** Returns whether the data are exactly as wanted. Additional labels and annotations of other writers are accepted. */
function isAsWanted(wanted: KubernetesObject, present: KubernetesObject): boolean {
  const within = (some: object = {}, all: object = {}) =>
    Object.entries(some).every(([name, value]) => (all as Record<string, unknown>)[name] === value)
  const owners = ({ metadata }: KubernetesObject) =>
    ((metadata["ownerReferences"] ?? []) as readonly { readonly uid: string }[]).map(({ uid }) => uid)
  return (
    isDeepStrictEqual(wanted["data"] ?? {}, present["data"] ?? {}) &&
    within(wanted.metadata.labels, present.metadata.labels) &&
    within(wanted.metadata.annotations, present.metadata.annotations) &&
    owners(wanted).every((uid) => owners(present).includes(uid))
  )
}

/** Returns the reason for the condition. Rethrows temporary errors, which the controller retries. */
function whyNot(error: unknown): {
  readonly reason: Reason
  readonly message: string
  readonly againAfterMs?: number | undefined
} {
  if (error instanceof NotPublished) return error
  if (!isEngineError(error)) throw error
  if (error.code === "pending" || error.code === "busy") {
    const againAfterMs = Math.max(error.retryAfterMs ?? 0, pendingMs)
    return { reason: "OutputsPending", message: "The engine has not read the outputs of the state yet.", againAfterMs }
  }
  const meaning = refused(error)
  if (meaning instanceof RequeueAfter || meaning.outcome.health.is !== "stalled") throw meaning
  return { reason: meaning.outcome.health.reason, message: meaning.outcome.health.message }
}
