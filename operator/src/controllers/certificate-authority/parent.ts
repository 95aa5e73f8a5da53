// Authority that signs an intermediate: another object of the same namespace, in any mount and engine that the namespace may use.
import type { Pki } from "@chancery/engine"
import { certificateAuthority, type CertificateAuthoritySpec } from "../../api/certificate-authority.ts"
import type { KubernetesObject } from "../../kube/kubernetes-object.ts"
import type { Index, ObjectStore } from "../../kube/object-store.ts"
import type { EngineConnections } from "../engine-connections.ts"
import { stalled, waiting } from "../reconcile-result.ts"
import { parsedSpec } from "../reconciler.ts"

export interface ParentParts {
  readonly engines: Pick<EngineConnections, "connect">
  /** Authorities of all namespaces. */
  readonly authorities: Pick<ObjectStore, "get">
}

export interface Parent {
  readonly pki: Pki
  readonly issuerId: string
  readonly notAfter: number
}

const specOf = ({ spec }: KubernetesObject): Partial<CertificateAuthoritySpec> => spec ?? {}

const keyOfParent = (object: KubernetesObject): string | undefined => {
  const { parentRef } = specOf(object)
  return parentRef === undefined ? undefined : `${object.metadata.namespace ?? ""}/${parentRef.name}`
}

/** Index `parent`: the key of the authority that signs an object. */
export const parentOf: Index = (object) => {
  const key = keyOfParent(object)
  return key === undefined ? [] : [key]
}

/** Interval for checking whether the parent is ready, which requeues its children. */
const missingPollMs = 60_000
const maxDepth = 16

/** Returns the authority that signs. Throws while it is missing, or has no issuer yet. */
export async function parentFor(
  { engines, authorities }: ParentParts,
  object: KubernetesObject,
  signal: AbortSignal,
): Promise<Parent> {
  rejectCircle(authorities, object)
  const found = authorities.get(keyOfParent(object) ?? "")
  const name = specOf(object).parentRef?.name ?? ""
  if (found === undefined || found.metadata.deletionTimestamp !== undefined)
    throw stalled(
      "ParentMissing",
      `There is no CertificateAuthority ${name} in the namespace ${object.metadata.namespace ?? ""}.`,
      missingPollMs,
    )
  const { issuerID, notAfter } = (found["status"] ?? {}) as { readonly issuerID?: string; readonly notAfter?: string }
  if (issuerID === undefined || notAfter === undefined)
    throw waiting(
      "ParentNotReady",
      `The CertificateAuthority ${name} has no issuer yet; see its status.`,
      missingPollMs,
    )
  const spec = parsedSpec(certificateAuthority, found)
  const { engine } = await engines.connect(spec.connectionRef, found.metadata.namespace, signal, {
    use: { mount: spec.mount, isWhole: true },
  })
  return { pki: engine.pki(spec.mount), issuerId: issuerID, notAfter: Date.parse(notAfter) }
}

/** Returns the expiry of the parent's certificate, if it is known. */
export function parentExpiry(authorities: Pick<ObjectStore, "get">, object: KubernetesObject): number | undefined {
  const { notAfter } = (authorities.get(keyOfParent(object) ?? "")?.["status"] ?? {}) as { readonly notAfter?: string }
  return notAfter === undefined ? undefined : Date.parse(notAfter)
}

/** Throws if the object is above itself. Admission sees one object only. */
function rejectCircle(authorities: Pick<ObjectStore, "get">, object: KubernetesObject): void {
  let above: KubernetesObject | undefined = object
  for (let depth = 0; depth < maxDepth; depth += 1) {
    above = authorities.get(keyOfParent(above) ?? "")
    if (above === undefined) return
    if (above.metadata.name === object.metadata.name) break
  }
  throw stalled("InvalidSpec", "spec.parentRef: the authority is above itself, or below more than 16 others.")
}
