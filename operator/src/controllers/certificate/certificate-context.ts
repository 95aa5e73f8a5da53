// Types that the modules for Certificates share.
import type { Cluster } from "../../kube/cluster.ts"
import type { StoredCondition } from "../conditions.ts"
import type { EngineConnections } from "../engine-connections.ts"
import { certificate, type CertificateSpec } from "../../api/certificate.ts"
import type { KubernetesObject, ObjectKey, Resource } from "../../kube/kubernetes-object.ts"
import type { ObjectStore } from "../../kube/object-store.ts"
import type { NamedObjects } from "../../kube/named-objects.ts"
import type { Writer } from "../../kube/owned-objects.ts"
import type { ReadYourWrites } from "../../kube/read-your-writes.ts"
import type { ReconcileRequest } from "../reconciler.ts"
import type { OperatorRuntime } from "../../runtime.ts"
import type { CertificateStatus, IssuedBy } from "./certificate-status.ts"
import type { StoredCertificateState } from "./stored-certificate.ts"
import type { IssuanceMemory } from "./issuance-memory.ts"
import type { KeystorePasswords } from "./keystores.ts"

export interface CertificateParts {
  readonly cluster: Pick<Cluster, "apply" | "dataManagers" | "delete" | "get">
  readonly runtime: Pick<OperatorRuntime, "random" | "stopwatch">
  readonly engines: Pick<EngineConnections, "connect" | "isStaying">
  readonly storeOf: (resource: Resource) => Pick<ObjectStore, "get" | "by" | "size">
  /** Returns the cache of Secrets with passwords of keystores. */
  readonly named: (resource: Resource) => Pick<NamedObjects, "get">
  readonly writes: ReadYourWrites
}

/** Context of one reconciliation of one Certificate. */
export interface CertificateContext {
  readonly object: KubernetesObject
  readonly request: ReconcileRequest
  readonly spec: CertificateSpec
  /** Key of the Secret. */
  readonly key: ObjectKey
  /** Status as it was read or last saved. */
  before: CertificateStatus
  /** The Secret as it was read or last written; undefined if it does not exist. */
  secret: KubernetesObject | undefined
  stored: StoredCertificateState
  readonly memory: IssuanceMemory
  /** Empty until they are read. */
  passwords: KeystorePasswords
  /** Connection and mount of a certificate issued in this reconciliation. */
  issuedBy: IssuedBy | undefined
  /** The object is being deleted. A connection whose token Secret is gone is then used as long as its last token works. */
  readonly isCleaningUp: boolean
}

/** Members of the status that the controller writes for all kinds. */
export interface FramedStatus {
  readonly observedGeneration?: number
  readonly lastHandledReconcileAt?: string
  readonly nextAttemptTime?: string
  readonly conditions?: readonly StoredCondition[]
}

export const framed = ({ status }: KubernetesObject): FramedStatus => status ?? {}

/** Returns the writer for objects that are written on behalf of a Certificate. */
export const writerOf = ({ object }: Pick<CertificateContext, "object">): Writer => ({
  kind: certificate,
  object,
  fieldManager,
})

export const fieldManager = "chancery-certificate"
