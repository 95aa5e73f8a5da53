// What the parts of the work on a Certificate have in common.
import type { Cluster } from "../../kube/cluster.ts"
import type { StoredCondition } from "../conditions.ts"
import type { EngineConnections } from "../engine-connections.ts"
import { certificate, type CertificateSpec } from "../../api/certificate.ts"
import type { KubernetesObject, ObjectKey, Resource } from "../../kube/kubernetes-object.ts"
import type { ObjectStore } from "../../kube/object-store.ts"
import type { Writer } from "../../kube/owned-objects.ts"
import type { OwnWrites } from "../../kube/read-your-writes.ts"
import type { Visit } from "../reconciler.ts"
import type { OperatorRuntime } from "../../runtime.ts"
import type { CertificateStatus, IssuedBy } from "./certificate-status.ts"
import type { Held } from "./stored-certificate.ts"
import type { IssuanceMemory } from "./issuance-memory.ts"

export interface CertificateParts {
  readonly cluster: Pick<Cluster, "apply" | "dataManagers" | "delete" | "get">
  readonly runtime: Pick<OperatorRuntime, "random" | "stopwatch">
  readonly engines: Pick<EngineConnections, "connect">
  readonly storeOf: (resource: Resource) => Pick<ObjectStore, "get" | "by" | "size">
  readonly writes: OwnWrites
}

/** Everything about one Certificate in the course of one look. */
export interface Case {
  readonly object: KubernetesObject
  readonly visit: Visit
  readonly spec: CertificateSpec
  /** Of the Secret. */
  readonly key: ObjectKey
  readonly before: CertificateStatus
  /** As it is, or as it was written last. */
  secret: KubernetesObject | undefined
  held: Held
  readonly memory: IssuanceMemory
  /** Where the certificate in the Secret was issued, if it was in this look. */
  issuedBy: IssuedBy | undefined
  /** The object is being deleted: a connection without its token is used as long as it still works. */
  readonly isCleaningUp: boolean
}

/** What the frame writes into a status. */
export interface FramedStatus {
  readonly observedGeneration?: number
  readonly lastHandledReconcileAt?: string
  readonly nextAttemptTime?: string
  readonly conditions?: readonly StoredCondition[]
}

export const framed = ({ status }: KubernetesObject): FramedStatus => status ?? {}

/** For what is written in its name. */
export const writerOf = ({ object }: Pick<Case, "object">): Writer => ({ kind: certificate, object, fieldManager })

export const fieldManager = "chancery-certificate"
