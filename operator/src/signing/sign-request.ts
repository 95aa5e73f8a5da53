// Signs a request with the role of its issuer. The role judges the request before the engine is asked for a certificate.
import { type Engine, isEngineError, type Role } from "@chancery/engine"
import { oids, writePem } from "@chancery/engine/x509"
import { type KnownIssuer, issuerAt, roleAt } from "../controllers/certificate/known-issuer.ts"
import { splitChain } from "../controllers/certificate/secret-layout.ts"
import type { Connected, EngineConnections } from "../controllers/engine-connections.ts"
import { NotReadyError, pollMs, refused, type RequeueAfter, stalled, waiting } from "../controllers/reconcile-result.ts"
import type { Resource } from "../kube/kubernetes-object.ts"
import type { ObjectStore } from "../kube/object-store.ts"
import { excessOf } from "./requested-excess.ts"
import {
  type IssuerReference,
  RequestRefused,
  type Signed,
  type SigningOutcome,
  type SigningRequest,
} from "./signing-request.ts"

export interface SigningParts {
  readonly engines: Pick<EngineConnections, "connect">
  readonly storeOf: (resource: Resource) => Pick<ObjectStore, "get" | "by" | "size">
}

/** Role of an issuer, ready to sign. */
export interface ReadyRole {
  readonly issuer: KnownIssuer
  readonly engine: Engine
  readonly role: Role
  /** Name of the role in the engine. */
  readonly roleName: string
}

/**
 * Returns the role that signs requests of an issuer. Throws `NotReadyError` while the issuer, its connection or its role cannot be used, and
 * `RequestRefused` if the namespace may not use the connection.
 */
export async function readyRole(
  parts: SigningParts,
  reference: IssuerReference,
  signal: AbortSignal,
): Promise<ReadyRole> {
  const { kind, name, namespace } = reference
  const key = kind === "Issuer" ? `${namespace}/${name}` : name
  const issuer = issuerAt(parts, kind, key)
  if (issuer === undefined) throw waiting("IssuerMissing", `There is no ${title(reference)}.`, pollMs)
  if (issuer.readySince === undefined)
    throw waiting("IssuerNotReady", `The ${title(reference)} is not ready; see its status.`, pollMs)
  const { defaultRole } = issuer.spec
  if (defaultRole === undefined)
    throw stalled("RoleMissing", `The ${title(reference)} has no defaultRole, which would sign requests.`)
  // The name of a ClusterIssuer's role never means a CertificateRole of the namespace that asks.
  const { name: roleName, isReady } =
    kind === "Issuer"
      ? roleAt(parts, `${namespace}/${defaultRole}`, defaultRole, issuer.spec)
      : { name: defaultRole, isReady: true }
  if (!isReady)
    throw waiting("RoleNotReady", `The CertificateRole ${defaultRole} is not ready; see its status.`, pollMs)
  const { engine } = await connectFor(parts, issuer, namespace, roleName, signal)
  return { issuer, engine, roleName, role: await readRole(engine, issuer, roleName) }
}

/** Translates errors into outcomes, except for `RequeueAfter` (the engine limits the rate) and defects. */
export async function outcomeOf(work: () => Promise<Signed>): Promise<SigningOutcome> {
  try {
    return { is: "issued", signed: await work() }
  } catch (error) {
    if (error instanceof RequestRefused) return { is: "refused", reason: error.reason, message: error.message }
    if (!(error instanceof NotReadyError)) throw error
    const { health, againAfterMs } = error.outcome
    return {
      is: "pending",
      reason: health.reason,
      message: health.message,
      ...(againAfterMs === undefined ? {} : { againAfterMs }),
    }
  }
}

/** Signs a request by a role. Throws `RequestRefused`, `NotReadyError` and `RequeueAfter`. */
export async function signByRole(ready: ReadyRole, request: SigningRequest): Promise<Signed> {
  const { engine, issuer, role, roleName } = ready
  const { csr, durationMs, names } = request
  assertWithinRole(ready, request)
  const choice = issuer.spec.pathMode === "PathOverride" ? { issuerRef: issuer.spec.issuerRef } : {}
  const commonName = commonNameOf(request, role)
  const input = {
    csr: writePem("CERTIFICATE REQUEST", csr.der),
    ...(commonName === undefined ? {} : { commonName }),
    ...(durationMs === undefined ? {} : { ttlMs: durationMs }),
    ...(names === undefined ? {} : { uriSans: names.uris, altNames: names.dnsNames, excludeCnFromSans: true }),
  }
  const issued = await answered(() => engine.pki(issuer.spec.mount).certificates.sign(roleName, input, choice), role)
  const { chain, authorities } = splitChain(issued.certificate, issued.issuingCa, issued.caChain)
  const [authority = issued.issuingCa] = authorities
  return { chain, authority, notBefore: issued.notBefore, notAfter: issued.notAfter }
}

const maxCommonName = 64

/** Returns the common name of the CSR. Without one, a role that requires it gets the first DNS name. */
function commonNameOf({ csr, names }: SigningRequest, role: Role): string | undefined {
  const own =
    names === undefined ? csr.subjectName.flat().find(({ type }) => type === oids.commonName)?.value : undefined
  if (own !== undefined || !role.requireCn) return own
  const alternatives = csr.extensionValues.subjectAltName ?? []
  const dnsNames = names?.dnsNames ?? alternatives.flatMap((name) => (name.kind === "dns" ? [name.value] : []))
  return dnsNames.find(({ length }) => length <= maxCommonName)
}

function assertWithinRole(
  { role, roleName }: ReadyRole,
  { csr, durationMs, isCa, usages, names }: SigningRequest,
): void {
  const { subjectName, extensionValues } = csr
  const excess = excessOf(
    {
      isCa,
      durationMs,
      usages,
      hasCommonName: names === undefined && subjectName.flat().some(({ type }) => type === oids.commonName),
      hasAlternativeNames: names === undefined && (extensionValues.subjectAltName ?? []).length > 0,
    },
    role,
  )
  if (excess.length > 0)
    throw new RequestRefused("RequestExceedsRole", `The request exceeds the role ${roleName}: ${excess.join("; ")}.`)
}

async function connectFor(
  { engines }: SigningParts,
  { spec }: KnownIssuer,
  namespace: string | undefined,
  role: string,
  signal: AbortSignal,
): Promise<Connected> {
  try {
    return await engines.connect(spec.connectionRef, namespace, signal, { use: { mount: spec.mount, role } })
  } catch (error) {
    if (!(error instanceof NotReadyError)) throw error
    const { reason, message } = error.outcome.health
    if (reason === "NamespaceNotAllowed" || reason === "UseNotPermitted") throw new RequestRefused(reason, message)
    throw error
  }
}

async function readRole(engine: Engine, { spec: { mount } }: KnownIssuer, name: string): Promise<Role> {
  return answered(async () => {
    try {
      return await engine.pki(mount).roles.get(name)
    } catch (error) {
      if (isEngineError(error, "not-found")) throw stalled("RoleMissing", `The engine has no role ${name} in ${mount}.`)
      if (isEngineError(error, "forbidden"))
        throw stalled("EngineRefused", `The connection's token may not read the role ${name} in ${mount}.`)
      throw error
    }
  })
}

/** Messages of engines have no limit, but conditions have. */
const maxMessage = 4_096

/** Translates errors of the engine. Only a rule that the request breaks refuses it; everything else may change. */
async function answered<Value>(work: () => Promise<Value>, role?: Role): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    if (!isEngineError(error)) throw error
    const breaksRule =
      role !== undefined && (error.code === "invalid" || error.code === "unprocessable" || error.code === "bad-request")
    if (breaksRule) throw new RequestRefused("EngineRefused", error.message.slice(0, maxMessage))
    const meaning: NotReadyError | RequeueAfter = refused(error)
    throw meaning
  }
}

function title({ kind, name, namespace }: IssuerReference): string {
  return kind === "Issuer" ? `Issuer ${name} in the namespace ${namespace}` : `ClusterIssuer ${name}`
}
