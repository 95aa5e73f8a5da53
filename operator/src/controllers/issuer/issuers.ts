// Reconciles Issuers: writes the CA chain into the status for certificates, and checks it at every poll, because a CA may be replaced.
import { type Engine, isEngineError, type IssuerCertificate } from "@chancery/engine"
import { parseCertificate, serialNumberOf, sha256, writePem } from "@chancery/engine/x509"
import { parseGoDuration } from "../../go-duration.ts"
import { ApiError, type Cluster, isRejection } from "../../kube/cluster.ts"
import { connectionOf } from "../controllers.ts"
import type { EngineConnections } from "../engine-connections.ts"
import { certificateAuthority } from "../../api/certificate-authority.ts"
import { mount as mountKind } from "../../api/mount.ts"
import { isDeclaredIn } from "../mount/mount-references.ts"
import { clusterIssuer, issuer, type IssuerSpec } from "../../api/issuer.ts"
import { offerAcme } from "./acme-offer.ts"
import { ownerReference, ownerTitle, publishChain } from "../chain-publication.ts"
import { type KubernetesObject, type Resource, secondTime, secrets } from "../../kube/kubernetes-object.ts"
import type { Index, ObjectStore } from "../../kube/object-store.ts"
import {
  type ReconcileResult,
  type OwnStatus,
  pollMs,
  refused,
  rejectionMessage,
  stalled,
  waiting,
} from "../reconcile-result.ts"
import type { SigningIssuer } from "../../signing/signer-name.ts"
import { bundleNameOf, publishRoots } from "./cluster-trust-bundle.ts"
import { parsedSpec, type Reconciler, type ReconcileRequest } from "../reconciler.ts"

export interface IssuersOptions {
  readonly kind: "Issuer" | "ClusterIssuer"
  readonly cluster: Pick<Cluster, "apply" | "delete" | "get">
  readonly engines: Pick<EngineConnections, "connect">
  /** Cache of issuers of both kinds, and of the operator's own ConfigMaps and Secrets, which have its label. */
  readonly storeOf: (resource: Resource) => Pick<ObjectStore, "by" | "get">
  /** Namespace of the operator. */
  readonly namespace: string
  /** Set if the roots of issuers are published as ClusterTrustBundles. */
  readonly trustBundles: Resource | undefined
}

export const reconcileIssuers = (options: IssuersOptions): Reconciler => ({
  finalizer: {
    name: "chancery.dev/trust-bundle",
    // The bundle of a ClusterIssuer has an owner reference. That of an Issuer cannot, because only the Issuer has a namespace.
    needed: () => options.trustBundles !== undefined && options.kind === "Issuer",
  },
  reconcile: (object, request) => reconcile(options, object, request),
  async finalize(object) {
    const { trustBundles, cluster, storeOf } = options
    if (trustBundles === undefined) return undefined
    const name = bundleNameOf(signingIssuerOf(options, object))
    await cluster.delete(trustBundles, name, storeOf(trustBundles).get(name)?.metadata.uid)
    return undefined
  },
})

/** Index value: the ClusterTrustBundle of an issuer. */
export const clusterTrustBundleOf: Index = ({ metadata: { namespace, name } }) => [
  bundleNameOf(namespace === undefined ? { kind: "ClusterIssuer", name } : { kind: "Issuer", namespace, name }),
]

const signingIssuerOf = ({ kind }: Pick<IssuersOptions, "kind">, { metadata }: KubernetesObject): SigningIssuer =>
  kind === "Issuer" ? { kind, namespace: metadata.namespace ?? "", name: metadata.name } : { kind, name: metadata.name }

/** Index value: the Secret with the EAB token, in the namespace of the object, or by name only for a cluster-scoped object. */
export const eabSecretOf: Index = ({ metadata: { namespace }, spec }) => {
  const { eabSecretName: name } = ((spec ?? {}) as Partial<IssuerSpec>).acme ?? {}
  if (name === undefined) return []
  return [namespace === undefined ? name : `${namespace}/${name}`]
}

async function reconcile(
  options: IssuersOptions,
  object: KubernetesObject,
  request: ReconcileRequest,
): Promise<ReconcileResult> {
  const kind = options.kind === "Issuer" ? issuer : clusterIssuer
  const spec = parsedSpec(kind, object)
  const { engine } = await options.engines.connect(spec.connectionRef, object.metadata.namespace, request.signal, {
    use: { mount: spec.mount },
  })
  // Without changes, a poll checks only one of CA and ACME; they take turns.
  const isAcmesTurn = spec.acme !== undefined && (lacksToken(options, object, spec) || request.turn % 2 === 1)
  const { acmeDirectory, ...authority } = request.status as IssuerStatus
  const known = request.partial && isAcmesTurn ? authority : await authorityIn(options, { object, spec, engine })
  const offered =
    spec.acme === undefined || (request.partial && !isAcmesTurn)
      ? undefined
      : await offerAcme(
          { cluster: options.cluster, secrets: options.storeOf(secrets) },
          {
            engine,
            mount: spec.mount,
            acme: spec.acme,
            rival: rivalOf(options, object, spec),
            namespace: object.metadata.namespace ?? options.namespace,
            owner: { title: ownerTitle(kind, object), reference: ownerReference(kind, object) },
          },
        )
  const changesAt = await publishedUntil(options, object, { spec, request, caChain: chainIn(known) })
  const directory = offered === undefined && spec.acme !== undefined ? acmeDirectory : offered?.directory
  return {
    health: { is: "ready", reason: "AuthorityFound", message: "The engine has the authority." },
    ...(offered === undefined && spec.acme !== undefined
      ? {}
      : { conditions: offered === undefined ? [] : [offered.condition] }),
    status: { ...known, ...(directory === undefined ? {} : { acmeDirectory: directory }) },
    againAfterMs: changesAt === undefined ? pollMs : Math.min(Math.max(changesAt - request.now, 1), pollMs),
  }
}

/** Publishes the roots for pods. Returns when they change by themselves. A failure does not make the issuer unready. */
async function publishedUntil(
  options: IssuersOptions,
  object: KubernetesObject,
  {
    spec,
    request,
    caChain,
  }: { readonly spec: IssuerSpec; readonly request: ReconcileRequest; readonly caChain: string },
): Promise<number | undefined> {
  const { trustBundles, cluster, storeOf, kind } = options
  if (trustBundles === undefined) return undefined
  try {
    return await publishRoots(
      { cluster, store: storeOf(trustBundles), resource: trustBundles },
      {
        issuer: signingIssuerOf(options, object),
        caChain,
        overlapMs: parseGoDuration(spec.trustOverlap) ?? 0,
        now: request.now,
        ...(kind === "Issuer" ? {} : { owner: ownerReference(clusterIssuer, object) }),
      },
    )
  } catch (error) {
    const isMissing = error instanceof ApiError && error.status === 404
    if (!isMissing && !isRejection(error)) throw error
    const note = isMissing
      ? "The cluster has no API for ClusterTrustBundles; enable it, or publish no trust bundles."
      : rejectionMessage("the ClusterTrustBundle", error)
    await request.record({ type: "Warning", reason: "TrustBundleRejected", note })
    return undefined
  }
}

const chainIn = ({ caChain = "" }: { readonly caChain?: string }): string => caChain

interface IssuerStatus extends OwnStatus {
  readonly acmeDirectory?: string
}

function lacksToken(
  { storeOf, namespace: own }: IssuersOptions,
  object: KubernetesObject,
  { acme }: IssuerSpec,
): boolean {
  const { namespace = own } = object.metadata
  return acme?.eabSecretName !== undefined && storeOf(secrets).get(`${namespace}/${acme.eabSecretName}`) === undefined
}

/** Returns the oldest other issuer that configures ACME on the same mount. Only the oldest one is applied. */
function rivalOf(options: IssuersOptions, object: KubernetesObject, { mount }: IssuerSpec): string | undefined {
  const [connection = ""] = connectionOf(object)
  const [first] = [issuer, clusterIssuer]
    .flatMap((kind) => options.storeOf(kind).by("connection", connection))
    .filter(
      ({ spec }) => (spec as Partial<IssuerSpec>).mount === mount && (spec as Partial<IssuerSpec>).acme !== undefined,
    )
    .toSorted((one, other) => (ageOf(one) < ageOf(other) ? -1 : 1))
  if (first === undefined || first.metadata.uid === object.metadata.uid) return undefined
  const { namespace, name } = first.metadata
  return namespace === undefined ? `ClusterIssuer ${name}` : `Issuer ${name} in the namespace ${namespace}`
}

const ageOf = ({ metadata: { uid = "", ...metadata } }: KubernetesObject): string =>
  `${(metadata["creationTimestamp"] as string | undefined) ?? ""} ${uid}`

async function authorityIn(
  options: IssuersOptions,
  { object, spec, engine }: { readonly object: KubernetesObject; readonly spec: IssuerSpec; readonly engine: Engine },
): Promise<OwnStatus> {
  const found = await authorityOf(options, object, spec, () =>
    engine.pki(spec.mount).issuers.certificate(spec.issuerRef),
  )
  const { serialNumber, notAfter } = parseCertificate(found.certificate)
  const chain = found.caChain.length > 0 ? found.caChain : [found.certificate]
  const caChain = chain.map((der) => `${writePem("CERTIFICATE", der)}\n`).join("")
  if (spec.caChainConfigMap !== undefined)
    await publishChain(options, {
      kind: options.kind === "Issuer" ? issuer : clusterIssuer,
      object,
      namespace: object.metadata.namespace ?? options.namespace,
      name: spec.caChainConfigMap,
      caChain,
    })
  return {
    caNotAfter: secondTime(notAfter),
    caSerial: serialNumberOf(serialNumber) ?? Buffer.from(serialNumber).toString("hex"),
    caFingerprint: sha256(Buffer.concat(chain)),
    caChain,
  }
}

/** Interval for checking whether the authority exists now. Its object requeues the issuer when it is ready. */
const missingPollMs = 60_000

async function authorityOf(
  { storeOf }: IssuersOptions,
  object: KubernetesObject,
  { mount, issuerRef }: IssuerSpec,
  ask: () => Promise<IssuerCertificate>,
): Promise<IssuerCertificate> {
  try {
    return await ask()
  } catch (error) {
    // A mount without a default issuer has another error than one without the issuer of a name.
    const isWithoutDefault = issuerRef === "default" && isEngineError(error, "unprocessable")
    if (isWithoutDefault || isEngineError(error, "not-found")) {
      const message = isWithoutDefault
        ? `The mount ${mount} has no default issuer.`
        : `The engine has no issuer ${issuerRef} in ${mount}.`
      const isDeclared = [mountKind, certificateAuthority].some((kind) => isDeclaredIn(storeOf(kind), object))
      throw isDeclared ? waiting("AuthorityMissing", message, missingPollMs) : stalled("AuthorityMissing", message)
    }
    throw isEngineError(error) ? refused(error) : error
  }
}
