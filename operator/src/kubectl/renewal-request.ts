// Requests the renewal of selected Certificates, and follows them until they are renewed.
import { CommandError, exitCodes } from "@chancery/engine/cli"
import { certificate, type CertificateSpec } from "../api/certificate.ts"
import type { StoredCondition } from "../controllers/conditions.ts"
import { renewAnnotation } from "../controllers/certificate/attempts.ts"
import type { CertificateStatus } from "../controllers/certificate/certificate-status.ts"
import { ApiError } from "../kube/cluster.ts"
import { keyOf, type KubernetesObject, type ObjectKey } from "../kube/kubernetes-object.ts"
import { ObjectStore } from "../kube/object-store.ts"
import { answered, type ClusterAccess, listAll } from "./cluster-access.ts"

/** Certificates must match all members that are set. */
export interface RenewalSelection {
  readonly names: readonly string[]
  readonly issuer?: IssuerSelection
  /** Label selector of the API server. */
  readonly selector?: string
}

export interface IssuerSelection {
  readonly kind: "Issuer" | "ClusterIssuer"
  readonly name: string
}

export interface Requested {
  readonly key: ObjectKey
  /** Undefined if the request was written. */
  readonly problem?: string
  /** The operator renews it only after its annotation `chancery.dev/paused` is removed. */
  readonly isPaused: boolean
}

export async function selectCertificates(
  access: Pick<ClusterAccess, "api" | "listed">,
  { names, issuer, selector }: RenewalSelection,
): Promise<readonly KubernetesObject[]> {
  const query = selector === undefined ? {} : { labelSelector: selector }
  const all = await answered(() => listAll(access, certificate, access.listed, query))
  const absent = names.filter((name) => !all.some(({ metadata }) => metadata.name === name))
  if (absent.length > 0)
    throw new CommandError(exitCodes.failure, `There is no Certificate ${absent.join(" and no Certificate ")}.`)
  return all.filter(
    (object) =>
      object.metadata.deletionTimestamp === undefined &&
      (names.length === 0 || names.includes(object.metadata.name)) &&
      (issuer === undefined || isIssuedBy(object, issuer)),
  )
}

function isIssuedBy({ spec }: KubernetesObject, issuer: IssuerSelection): boolean {
  const { kind = "Issuer", name } = (spec as Partial<CertificateSpec> | undefined)?.issuerRef ?? {}
  return kind === issuer.kind && name === issuer.name
}

const reconcileAnnotation = "chancery.dev/reconcile-requested-at"

/** Annotates a Certificate with the token. Never rejects for an error of the API server. */
export async function requestRenewal(
  { api }: Pick<ClusterAccess, "api">,
  object: KubernetesObject,
  token: string,
): Promise<Requested> {
  const key = keyOf(object)
  const { uid, annotations = {} } = object.metadata
  const isPaused = annotations["chancery.dev/paused"] === "true"
  try {
    // The operator confirms the second annotation also if it does not issue.
    const requests = { [renewAnnotation]: token, [reconcileAnnotation]: token }
    await api.mergePatch(certificate, key, { metadata: { uid, annotations: requests } })
    return { key, isPaused }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { key, isPaused, problem: error.message }
  }
}

export type RenewalState =
  | { readonly is: "renewed"; readonly message: string }
  | { readonly is: "failed"; readonly message: string }
  | { readonly is: "waiting"; readonly message: string }

/** Returns how far the requested renewal of a Certificate has come; undefined means that it was deleted. */
export function renewalState(object: KubernetesObject | undefined, token: string): RenewalState {
  if (object === undefined) return { is: "failed", message: "The Certificate was deleted." }
  const status = (object["status"] ?? {}) as CertificateStatus & {
    readonly lastHandledReconcileAt?: string
    readonly conditions?: readonly StoredCondition[]
  }
  const { lastHandledReconcileAt, lastHandledRenewAt, lastTriedRenewAt, conditions = [] } = status
  if (lastHandledRenewAt === token)
    return { is: "renewed", message: `The new certificate ${status.serialNumber} expires at ${status.notAfter}.` }
  const found = (type: string) => conditions.find((one) => one.type === type && one.status === "True")
  const issuing = found("Issuing")?.message
  if (lastTriedRenewAt === token)
    return { is: "failed", message: issuing ?? messageOf(conditions) ?? "No certificate could be issued." }
  const isHandled = lastHandledReconcileAt === token
  if (isHandled && found("Stalled") !== undefined) return { is: "failed", message: found("Stalled")?.message ?? "" }
  if (found("Paused") !== undefined) return { is: "failed", message: found("Paused")?.message ?? "" }
  return { is: "waiting", message: (isHandled ? issuing : undefined) ?? "The operator has not renewed it yet." }
}

const messageOf = (conditions: readonly StoredCondition[]): string | undefined =>
  conditions.find(({ type }) => type === "Ready")?.message

/**
 * Follows Certificates until all are renewed, one has failed, or the signal aborts. Calls `changed` with each state that ends the waiting
 * for a Certificate, and once with each new reason to wait.
 */
export async function followRenewals(
  { cluster, listed }: Pick<ClusterAccess, "cluster" | "listed">,
  keys: readonly ObjectKey[],
  token: string,
  changed: (key: ObjectKey, state: RenewalState) => void,
  signal: AbortSignal,
): Promise<ReadonlyMap<ObjectKey, RenewalState>> {
  const store = new ObjectStore()
  const states = new Map<ObjectKey, RenewalState>()
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const end = () => resolve()
  signal.addEventListener("abort", end)
  if (signal.aborted) end()
  const look = (key: ObjectKey) => {
    const state = renewalState(store.get(key), token)
    if (JSON.stringify(states.get(key)) === JSON.stringify(state)) return
    states.set(key, state)
    changed(key, state)
    if (state.is === "failed" || [...states.values()].every(({ is }) => is === "renewed")) end()
  }
  const wanted = new Set(keys)
  for (const key of keys) states.set(key, { is: "waiting", message: "" })
  const namespace = listed === undefined ? {} : { namespace: listed }
  const following = cluster.follow({ resource: certificate, ...namespace }, store, (key) => {
    if (following.hasSynced && wanted.has(key)) look(key)
  })
  try {
    await Promise.race([following.whenSynced(), over])
    if (!signal.aborted) for (const key of keys) look(key)
    await over
    return states
  } finally {
    signal.removeEventListener("abort", end)
    await following.stop()
  }
}
