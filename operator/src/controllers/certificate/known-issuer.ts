// Issuer and role of a Certificate, from the cache only.
import { engineRoleName } from "../certificate-role/certificate-roles.ts"
import type { EngineUse } from "../connection/connection-policy.ts"
import type { Connected } from "../engine-connections.ts"
import { certificateRole, type CertificateRoleSpec } from "../../api/certificate-role.ts"
import type { ConnectionRef } from "../../api/connection-spec.ts"
import type { Kind } from "../../api/definition.ts"
import { clusterIssuer, issuer, type IssuerSpec } from "../../api/issuer.ts"
import type { KubernetesObject, ObjectKey } from "../../kube/kubernetes-object.ts"
import { inNamespaceOf } from "../../kube/owned-objects.ts"
import { type CertificateContext, type CertificateParts, framed } from "./certificate-context.ts"
import { certificatesIn } from "./stored-certificate.ts"

export interface KnownIssuer {
  readonly spec: IssuerSpec
  readonly fingerprint: string | undefined
  /** DER, starting with the issuer's own certificate. */
  readonly chain: readonly Uint8Array[]
  /** Undefined unless the issuer is ready. */
  readonly readySince: number | undefined
}

export interface KnownRole {
  /** Name of the role in the engine. */
  readonly name: string
  readonly isReady: boolean
}

export function knownIssuer(
  { storeOf }: CertificateParts,
  { object, spec: { issuerRef } }: CertificateContext,
): KnownIssuer | undefined {
  return issuerAt(
    { storeOf },
    issuerRef.kind,
    issuerRef.kind === "Issuer" ? inNamespaceOf(object, issuerRef.name) : issuerRef.name,
  )
}

/** Returns the issuer with this key; undefined if it is missing or its spec does not match the schema. */
export function issuerAt(
  { storeOf }: Pick<CertificateParts, "storeOf">,
  kindName: "Issuer" | "ClusterIssuer",
  key: ObjectKey,
): KnownIssuer | undefined {
  const kind = kindName === "Issuer" ? issuer : clusterIssuer
  const found = storeOf(kind).get(key)
  if (found === undefined) return undefined
  if (!known.has(found)) known.set(found, issuerOf(kind, found))
  return known.get(found)
}

/** Cache by object, since all certificates of an issuer need the same values. */
const known = new WeakMap<KubernetesObject, KnownIssuer | undefined>()

function issuerOf(kind: Kind<IssuerSpec>, found: KubernetesObject): KnownIssuer | undefined {
  const parsed = kind.spec.safeParse(found["spec"])
  if (!parsed.success) return undefined
  const { caFingerprint, caChain = "" } = (found["status"] ?? {}) as {
    readonly caFingerprint?: string
    readonly caChain?: string
  }
  return {
    spec: parsed.data,
    fingerprint: caFingerprint,
    chain: certificatesIn(caChain),
    readySince: readySinceOf(found),
  }
}

/** Returns undefined if neither the Certificate nor the issuer names a role. An authority has the empty role, because none applies to it. */
export function knownRole(
  { storeOf }: CertificateParts,
  { object, spec }: CertificateContext,
  { spec: issuer }: KnownIssuer,
): KnownRole | undefined {
  if (spec.isCA) return { name: "", isReady: true }
  const roleName = spec.role ?? issuer.defaultRole
  return roleName === undefined ? undefined : roleAt({ storeOf }, inNamespaceOf(object, roleName), roleName, issuer)
}

/** Returns the role of a CertificateRole with this key and the issuer's mount, or else a role that only the engine knows. */
export function roleAt(
  { storeOf }: Pick<CertificateParts, "storeOf">,
  key: ObjectKey,
  roleName: string,
  { mount }: IssuerSpec,
): KnownRole {
  const found = storeOf(certificateRole).get(key)
  const declared = found?.["spec"] as Partial<CertificateRoleSpec> | undefined
  if (found === undefined || declared?.mount !== mount) return { name: roleName, isReady: true }
  return { name: engineRoleName(declared, found), isReady: readySinceOf(found) !== undefined }
}

/** `role` is that of the engine; undefined: the certificate is only read or revoked. */
export const connect = (
  parts: CertificateParts,
  one: CertificateContext,
  { spec: { connectionRef, mount } }: KnownIssuer,
  role?: string,
): Promise<Connected> =>
  connectBy(parts, one, {
    connectionRef,
    use: { mount, ...(role === undefined ? {} : one.spec.isCA ? { isWhole: true } : { role }) },
  })

export const connectBy = (
  { engines }: CertificateParts,
  { object, request, isCleaningUp }: CertificateContext,
  { connectionRef, use }: { readonly connectionRef: ConnectionRef; readonly use: EngineUse },
): Promise<Connected> =>
  engines.connect(connectionRef, object.metadata.namespace, request.signal, { isCleaningUp, use })

/** Returns since when the object is ready; undefined if it is not ready at its current generation. */
function readySinceOf(object: KubernetesObject): number | undefined {
  const { observedGeneration, conditions = [] } = framed(object)
  const ready = conditions.find(({ type }) => type === "Ready")
  if (observedGeneration !== object.metadata.generation || ready?.status !== "True") return undefined
  return Date.parse(ready.lastTransitionTime)
}
