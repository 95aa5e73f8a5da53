// Reconciles CertificateAuthorities: generates a root or has an intermediate signed, rotates it, and keeps its settings in step.
import { isEngineError, type Pki } from "@chancery/engine"
import { mountSettingsParts } from "@chancery/engine/declared"
import { parseCertificate, serialNumberOf, sha256, writePem } from "@chancery/engine/x509"
import { certificateAuthority, type CertificateAuthoritySpec } from "../../api/certificate-authority.ts"
import { type KubernetesObject, type Resource, secondTime } from "../../kube/kubernetes-object.ts"
import type { ObjectStore } from "../../kube/object-store.ts"
import { certificatesIn } from "../certificate/stored-certificate.ts"
import { publishChain, type ChainPublicationParts } from "../chain-publication.ts"
import { saved } from "../declared-object.ts"
import type { EngineConnections } from "../engine-connections.ts"
import { withFinalizerHint } from "../finalizer.ts"
import { awaitsMount, mountMissing } from "../mount/mount-references.ts"
import {
  NotReadyError,
  type OwnStatus,
  pollMs,
  type ReconcileResult,
  refused,
  stalled,
  waiting,
} from "../reconcile-result.ts"
import { parsedSpec, type Reconciler, type ReconcileRequest } from "../reconciler.ts"
import { completeChain, createIntermediate, createRoot, unlessMissing } from "./authority-creation.ts"
import { type OwnIssuer, type OwnIssuers, ownIssuers } from "./own-issuers.ts"
import { parentExpiry, parentFor } from "./parent.ts"
import { decideRotation, missingRevision, type RotationDecision, type Validity } from "./rotation-terms.ts"
import { crossSign, deleteIssuers, promote, retire } from "./rotation.ts"

export interface AuthoritiesOptions extends ChainPublicationParts {
  readonly engines: Pick<EngineConnections, "connect">
  /** Cache of CertificateAuthorities. */
  readonly authorities: Pick<ObjectStore, "get">
  /** Mounts, with the index `mount`. */
  readonly mounts: Pick<ObjectStore, "by">
  readonly storeOf: (resource: Resource) => Pick<ObjectStore, "get">
}

export const renewAnnotation = "chancery.dev/renew-requested-at"

interface AuthorityStatus {
  readonly issuerID?: string
  readonly revision?: number
  readonly caChain?: string
  readonly lastHandledRenewAt?: string
  /** Creation or rotation that has begun. */
  readonly createPending?: { readonly at: string; readonly revision: number; readonly renewRequest?: string }
}

export const reconcileAuthorities = (options: AuthoritiesOptions): Reconciler => ({
  finalizer: {
    name: "chancery.dev/external",
    needed: (object) => (object["spec"] as Partial<CertificateAuthoritySpec>).deletionPolicy === "Delete",
  },
  reconcile: (object, request) => reconcile(options, object, request),
  finalize: (object, request) => finalize(options, object, request),
})

interface AuthorityContext {
  readonly options: AuthoritiesOptions
  readonly object: KubernetesObject
  readonly request: ReconcileRequest
  readonly spec: CertificateAuthoritySpec
  readonly pki: Pki
  readonly uid: string
  /** Name of the newest issuer. */
  readonly name: string
}

async function reconcile(
  options: AuthoritiesOptions,
  object: KubernetesObject,
  request: ReconcileRequest,
): Promise<ReconcileResult> {
  const spec = parsedSpec(certificateAuthority, object)
  const { engine } = await options.engines.connect(spec.connectionRef, object.metadata.namespace, request.signal, {
    use: { mount: spec.mount, isWhole: true },
  })
  const it = contextOf(options, object, request, spec, engine.pki(spec.mount))
  try {
    return await settle(it)
  } catch (error) {
    throw isEngineError(error) ? refused(error) : error
  }
}

const contextOf = (
  options: AuthoritiesOptions,
  object: KubernetesObject,
  request: ReconcileRequest,
  spec: CertificateAuthoritySpec,
  pki: Pki,
): AuthorityContext => {
  const { uid = object.metadata.name, name } = object.metadata
  return { options, object, request, spec, pki, uid, name: spec.name ?? name }
}

const statusOf = ({ status }: ReconcileRequest): AuthorityStatus => status

/** Finds the object's issuers. Throws if the mount does not exist. */
async function inventory(it: AuthorityContext): Promise<OwnIssuers> {
  const found = await unlessMissing(() => listOwn(it))
  if (found === undefined) throw mountMissing(it.options.mounts, it.object, it.spec)
  return found
}

async function listOwn({ pki, uid, name, spec, request }: AuthorityContext): Promise<OwnIssuers> {
  const { issuerID, revision, createPending } = statusOf(request)
  const issuers = await pki.issuers.list()
  const keys = await pki.keys.list()
  const known = { issuerID, revision }
  return ownIssuers({ issuers, keys }, { uid, name, type: spec.type, known, isPending: createPending !== undefined })
}

interface Creation {
  readonly revision: number
  /** Request for a rotation that is answered by it. */
  readonly renewRequest?: string | undefined
}

/** Returns the issuer to create: the first one, one that is missing, or the next one of a rotation. */
async function creationIn(it: AuthorityContext, { issuers, keys }: OwnIssuers): Promise<Creation | undefined> {
  const { request, object, spec, options } = it
  const { revision, createPending, lastHandledRenewAt } = statusOf(request)
  const [newest] = issuers
  if (createPending !== undefined)
    return newest === undefined || newest.revision < createPending.revision ? createPending : undefined
  const renewRequest = object.metadata.annotations?.[renewAnnotation]
  const missing = missingRevision({ issuers, keys }, revision)
  if (missing !== undefined || newest === undefined) return { revision: missing ?? 1, renewRequest }
  const { is } = decideRotation(spec, {
    now: request.now,
    newest: await validityOf(it, newest),
    parentNotAfter: parentExpiry(options.authorities, object),
    isRequested: renewRequest !== undefined && renewRequest !== lastHandledRenewAt,
  })
  return is === "requested" || is === "due" ? { revision: newest.revision + 1, renewRequest } : undefined
}

async function validityOf({ pki }: AuthorityContext, { id }: OwnIssuer): Promise<Validity> {
  return parseCertificate((await pki.issuers.certificate(id)).certificate)
}

/** Creates an issuer. The status records this before, so that an attempt after a crash continues it and begins no other. */
async function create(it: AuthorityContext, own: OwnIssuers, creation: Creation): Promise<OwnIssuers> {
  const { options, object, request, spec, pki, uid } = it
  const { revision, renewRequest } = creation
  if (awaitsMount(options.mounts, object))
    throw waiting("MountNotReady", `The settings of the mount ${spec.mount} are not in force yet.`, missingPollMs)
  const parent = spec.type === "Intermediate" ? await parentFor(options, object, request.signal) : undefined
  const known = statusOf(request)
  if (known.createPending === undefined) {
    const token = renewRequest === undefined ? {} : { renewRequest }
    await request.saveStatus({ ...known, createPending: { at: secondTime(request.now), revision, ...token } })
  }
  const creating = { pki, spec, uid, own, revision }
  await (parent === undefined ? createRoot(creating) : createIntermediate(creating, parent))
  const [reason, note] =
    known.revision === undefined
      ? (["Created", `Created the issuer ${it.name}.`] as const)
      : revision > known.revision
        ? (["Rotated", `Rotated the issuer ${it.name}; the earlier one signs revocation lists.`] as const)
        : (["DriftCorrected", `Created the issuer ${it.name} again, which another client had deleted.`] as const)
  await request.record({ type: reason === "DriftCorrected" ? "Warning" : "Normal", reason, note })
  return inventory(it)
}

async function settle(it: AuthorityContext): Promise<ReconcileResult> {
  const { pki, name, request, spec, uid } = it
  const found = await inventory(it)
  if (found.stranger !== undefined)
    throw stalled("NameTaken", `The mount ${spec.mount} already has an issuer ${name}; set spec.name to another name.`)
  const creation = await creationIn(it, found)
  const own = creation === undefined ? found : await create(it, found, creation)
  const [newest] = own.issuers
  if (newest === undefined) throw new TypeError("an issuer was created, and the mount does not list it")
  const rotation = { pki, spec, uid, name, own, now: request.now }
  await crossSign(rotation)
  await promote(rotation)
  const predecessors = await retire(rotation)
  await syncSettings(it, newest)
  if ((await pki.issuers.get(newest.id)).revokedAt !== null)
    throw stalled("RevokedAtEngine", `The issuer ${name} was revoked; request a rotation with ${renewAnnotation}.`)
  const chain = await wholeChain(it, newest)
  const kept = await Promise.all(predecessors.map(async ({ id }) => pki.issuers.certificate(id)))
  await publish(it, [chain, ...kept.map(({ caChain }) => caChain)])
  const { createPending, lastHandledRenewAt } = statusOf(request)
  const handled = (creation ?? createPending)?.renewRequest ?? lastHandledRenewAt
  const decision = decideRotation(spec, {
    now: request.now,
    newest: await validityOf(it, newest),
    parentNotAfter: parentExpiry(it.options.authorities, it.object),
    isRequested: false,
  })
  const { notAfter } = await validityOf(it, newest)
  const status: OwnStatus = {
    issuerID: newest.id,
    issuerName: name,
    keyID: newest.keyId,
    revision: newest.revision,
    serialNumber: newest.serialNumber,
    notAfter: secondTime(notAfter),
    ...(decision.is === "later" && decision.at !== undefined ? { renewalTime: secondTime(decision.at) } : {}),
    ...(handled === undefined ? {} : { lastHandledRenewAt: handled }),
    caFingerprint: sha256(Buffer.concat([...chain])),
    caChain: pemOf(chain),
    ...(kept.length === 0
      ? {}
      : {
          predecessors: kept.map(({ id, certificate }) => ({
            issuerID: id,
            notAfter: secondTime(parseCertificate(certificate).notAfter),
          })),
        }),
  }
  return resultOf(it, status, notAfter, decision)
}

const missingPollMs = 60_000

function resultOf(
  { request, spec, name }: AuthorityContext,
  status: OwnStatus,
  notAfter: number,
  decision: RotationDecision,
): ReconcileResult {
  const problem =
    notAfter <= request.now
      ? stalled("Expired", `The certificate of the issuer ${name} has expired; set renewBefore, or request a rotation.`)
      : decision.is === "too-short"
        ? stalled(
            "LifetimeTooShort",
            `The certificate lives for ${Math.floor(decision.lifetimeMs / hourMs)} hours, which is not longer than renewBefore ${spec.renewBefore}; the mount or the parent limits it.`,
          )
        : undefined
  if (problem !== undefined) throw new NotReadyError({ ...problem.outcome, status })
  const ready = {
    reason: "Available",
    message: "The authority can issue certificates.",
    inStep: "The issuer matches the spec.",
  } as const
  const untilMs = decision.is === "later" && decision.at !== undefined ? decision.at - request.now : Infinity
  return { ...saved(ready, status, []), againAfterMs: Math.min(pollMs, Math.max(untilMs, minAgainMs)) }
}

const hourMs = 3_600_000
const minAgainMs = 1_000

/** Brings the settings of the issuer in step that the spec declares. */
async function syncSettings({ pki, spec, request }: AuthorityContext, { id }: OwnIssuer): Promise<void> {
  const { settings } = await pki.issuers.get(id)
  const { leafNotAfterBehavior, urls = {} } = spec
  const present: Readonly<Record<string, unknown>> = { ...settings.urls }
  const changedUrls = mountSettingsParts.urls.diff(urls, present)
  const isOther = leafNotAfterBehavior !== undefined && leafNotAfterBehavior !== settings.leafNotAfterBehavior
  if (changedUrls.length === 0 && !isOther) return
  await pki.issuers.update(id, {
    ...(isOther ? { leafNotAfterBehavior } : {}),
    ...Object.fromEntries(changedUrls.map((name) => [name, urls[name]])),
  })
  if (request.quiet)
    await request.record({
      type: "Warning",
      reason: "DriftCorrected",
      note: `Reverted differences in the engine: ${[...changedUrls.map((name) => `urls.${name}`), ...(isOther ? ["leafNotAfterBehavior"] : [])].join(", ")}.`,
    })
}

/** Returns the chain of the issuer, with a root at its end. */
async function wholeChain({ pki, request, name }: AuthorityContext, { id }: OwnIssuer): Promise<readonly Uint8Array[]> {
  const known = certificatesIn(statusOf(request).caChain ?? "")
  if (!(await completeChain(pki, { issuerId: id, known })))
    throw waiting(
      "ChainIncomplete",
      `The chain of the issuer ${name} does not end with a root; import the certificates above it into the mount.`,
      missingPollMs,
    )
  return (await pki.issuers.certificate(id)).caChain
}

const pemOf = (chain: readonly Uint8Array[]): string => chain.map((der) => `${writePem("CERTIFICATE", der)}\n`).join("")

async function publish(
  { options, object, spec }: AuthorityContext,
  chains: readonly (readonly Uint8Array[])[],
): Promise<void> {
  if (spec.caChainConfigMap === undefined) return
  // Clients that trust an earlier root verify certificates of it until they have expired.
  const certificates = new Set(chains.map((chain) => chain.map((der) => pemOf([der]))).flat())
  await publishChain(options, {
    kind: certificateAuthority,
    object,
    namespace: object.metadata.namespace ?? "",
    name: spec.caChainConfigMap,
    caChain: [...certificates].join(""),
  })
}

async function finalize(
  options: AuthoritiesOptions,
  object: KubernetesObject,
  request: ReconcileRequest,
): Promise<ReconcileResult | undefined> {
  const { deletionPolicy } = object["spec"] as Partial<CertificateAuthoritySpec>
  const { issuerID, createPending, caChain = "" } = statusOf(request)
  if (deletionPolicy !== "Delete" || (issuerID === undefined && createPending === undefined)) return undefined
  return withFinalizerHint(certificateAuthority, object, async () => {
    const spec = parsedSpec(certificateAuthority, object)
    const ref = spec.connectionRef
    const { engine } = await options.engines.connect(ref, object.metadata.namespace, request.signal, {
      isCleaningUp: true,
      use: { mount: spec.mount, isWhole: true },
    })
    const it = contextOf(options, object, request, spec, engine.pki(spec.mount))
    try {
      const own = await unlessMissing(() => listOwn(it))
      // The mount was deleted, and all its issuers with it.
      if (own === undefined) return
      const all = [...own.issuers, ...own.crossSigned]
      const views = await Promise.all(all.map(({ id }) => it.pki.issuers.certificate(id)))
      await deleteIssuers(it.pki, own, all, certificatesIn(caChain))
      for (const { id } of own.keys) await deleteKey(it.pki, id)
      if (spec.type === "Intermediate")
        // An earlier attempt may have deleted the issuer, and not revoked its certificate.
        await revokeAtParent(options, object, request, [
          ...certificatesIn(caChain).slice(0, 1),
          ...views.map(({ certificate }) => certificate),
        ])
      await request.record({ type: "Normal", reason: "Deleted", note: `Deleted the issuer ${it.name}.` })
    } catch (error) {
      throw isEngineError(error) ? refused(error) : error
    }
  })
}

/** Deletes a key that no issuer uses. */
async function deleteKey(pki: Pki, id: string): Promise<void> {
  if ((await pki.issuers.list()).some(({ keyId }) => keyId === id)) return
  await pki.keys.delete(id)
}

/** Revokes the certificates of a deleted intermediate, because its key is gone. A parent that is gone itself is left out. */
async function revokeAtParent(
  options: AuthoritiesOptions,
  object: KubernetesObject,
  request: ReconcileRequest,
  certificates: readonly Uint8Array[],
): Promise<void> {
  try {
    const { pki } = await parentFor(options, object, request.signal)
    for (const der of certificates) {
      const { serialNumber, notAfter } = parseCertificate(der)
      const serial = serialNumberOf(serialNumber)
      if (serial === undefined || notAfter <= request.now) continue
      await unlessMissing(() => pki.revocations.revoke({ serialNumber: serial, reason: "cessationOfOperation" }))
    }
  } catch (error) {
    if (!(error instanceof NotReadyError)) throw error
  }
}
