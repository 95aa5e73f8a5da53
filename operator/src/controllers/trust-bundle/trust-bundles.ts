// Reconciles TrustBundles: collects the CA certificates of the sources, and writes them into the selected namespaces. If a source is
// missing or invalid, all namespaces keep the former bundle.
import { writePem } from "@chancery/engine/x509"
import { certificate, type CertificateSpec } from "../../api/certificate.ts"
import { clusterIssuer, issuer } from "../../api/issuer.ts"
import { trustBundle, type TrustBundleSpec } from "../../api/trust-bundle.ts"
import { parseGoDuration } from "../../go-duration.ts"
import { configMaps, type KubernetesObject, type Resource, secrets, secondTime } from "../../kube/kubernetes-object.ts"
import type { Index, ObjectStore } from "../../kube/object-store.ts"
import { inNamespaceOf } from "../../kube/owned-objects.ts"
import { certificatesIn, textOf } from "../certificate/stored-certificate.ts"
import { nextEnd, trusted, type TrustedAuthority } from "../certificate/trust-bundle.ts"
import { rootOf } from "../certificate/trust-publication.ts"
import type { Health } from "../conditions.ts"
import type { Parts } from "../controllers.ts"
import { pollMs, type ReconcileResult, stalled, waiting } from "../reconcile-result.ts"
import { parsedSpec, type Reconciler, type ReconcileRequest } from "../reconciler.ts"
import { assembleBundle, type Bundle, BundleFault, type BundleSource } from "./bundle.ts"
import { authoritiesOf, type StoredAuthority, storedAuthorities, type TrustBundleStatus } from "./bundle-status.ts"
import { type Published, publishBundle, type TargetParts } from "./bundle-targets.ts"

export interface TrustBundleParts extends TargetParts {
  readonly storeOf: (resource: Resource) => Pick<ObjectStore, "by" | "get" | "keys">
  readonly named: Parts["named"]
  /** Namespace of the operator. */
  readonly namespace: string
}

export const reconcileTrustBundles = (parts: TrustBundleParts): Reconciler => ({
  reconcile: (object, request) => reconcile(parts, object, request),
})

type Source = TrustBundleSpec["sources"][number]

/** Returns the sources and the target of an object that may not match the schema, for indexes. */
const rawSpec = ({ spec }: KubernetesObject): Partial<TrustBundleSpec> => spec ?? {}
const rawSources = (object: KubernetesObject): readonly Source[] => rawSpec(object).sources ?? []

const titleOf = ({ kind, namespace = "", name }: NonNullable<Source["issuerRef"]>): string =>
  kind === "Issuer" ? `Issuer/${namespace}/${name}` : `ClusterIssuer/${name}`

/** Index value of all objects: a new namespace concerns each of them. */
export const everyBundle = "all"

export const trustBundleIndexes = {
  all: () => [everyBundle],
  issuer: (object) =>
    rawSources(object).flatMap(({ issuerRef }) => (issuerRef === undefined ? [] : titleOf(issuerRef))),
  configMap: (object) => [rawSpec(object).target?.configMap?.name ?? []].flat(),
  secret: (object) => [rawSpec(object).target?.secret?.name ?? []].flat(),
} satisfies Readonly<Record<string, Index>>

/** Returns the keys of the ConfigMaps that an object has as sources. */
export const sourceConfigMapsOf = (object: KubernetesObject, ownNamespace: string): ReturnType<Index> =>
  rawSources(object).flatMap(({ configMapKeyRef }) =>
    configMapKeyRef === undefined ? [] : `${ownNamespace}/${configMapKeyRef.name}`,
  )

/** Interval for checking a conflicting object: the operator does not watch objects of others. */
const foreignPollMs = 60_000
const soonMs = 1_000
const maxFailures = 20
const maxNamed = 5
const maxMessage = 1_024

async function reconcile(
  parts: TrustBundleParts,
  object: KubernetesObject,
  request: ReconcileRequest,
): Promise<ReconcileResult> {
  const spec = parsedSpec(trustBundle, object)
  const { now } = request
  const collected = await collect(parts, spec, request)
  const bundle = assembled(collected.sources, now)
  const published = await publishBundle(parts, object, spec, bundle, request.signal)
  const before: TrustBundleStatus = request.status
  if (before.fingerprint !== undefined && before.fingerprint !== bundle.fingerprint)
    await request.record({ type: "Normal", reason: "BundleChanged", note: `The new bundle has ${sizeOf(bundle)}.` })
  const { failures } = published
  const failed = new Map(failures.map(({ namespace, message }) => [namespace, message]))
  const times = [nextEnd(collected.authorities, now), bundle.notAfter + soonMs].flatMap((at) =>
    at === undefined ? [] : [at - now],
  )
  const polls = [pollMs, ...(failures.length === 0 ? [] : [foreignPollMs]), ...(published.isOutdated ? [soonMs] : [])]
  return {
    health: healthOf(bundle, published, failed),
    status: {
      certificates: bundle.certificates,
      expired: bundle.expired,
      notAfter: secondTime(bundle.notAfter),
      fingerprint: bundle.fingerprint,
      namespacesSelected: published.selected,
      namespacesInSync: published.inSync,
      ...(failed.size === 0
        ? {}
        : {
            failures: [...failed]
              .slice(0, maxFailures)
              .map(([namespace, message]) => ({ namespace, message: message.slice(0, maxMessage) })),
          }),
      ...(collected.stored.length === 0 ? {} : { authorities: collected.stored }),
    },
    againAfterMs: Math.max(Math.min(...polls, ...times), soonMs),
  }
}

interface Collected {
  readonly sources: readonly BundleSource[]
  /** Present and former roots of all issuers. */
  readonly authorities: readonly TrustedAuthority[]
  readonly stored: readonly StoredAuthority[]
}

async function collect(
  parts: TrustBundleParts,
  { sources, overlap }: TrustBundleSpec,
  request: ReconcileRequest,
): Promise<Collected> {
  const found: BundleSource[] = []
  const known = new Map<string, readonly TrustedAuthority[]>()
  for (const [index, source] of sources.entries()) {
    const field = `spec.sources[${index}]`
    if (source.issuerRef !== undefined) {
      const title = titleOf(source.issuerRef)
      const terms = { overlapMs: parseGoDuration(overlap) ?? 0, now: request.now }
      const authorities =
        known.get(title) ?? rootsOf(parts, source.issuerRef, authoritiesOf(request.status, title), terms)
      known.set(title, authorities)
      const pem = authorities.map(({ certificate: der }) => `${writePem("CERTIFICATE", der)}\n`).join("")
      found.push({ field: `${field}.issuerRef`, pem })
    } else if (source.configMapKeyRef !== undefined) {
      const pem = await configMapText(parts, source.configMapKeyRef, request.signal)
      found.push({ field: `${field}.configMapKeyRef`, pem })
    } else found.push({ field: `${field}.pem`, pem: source.pem ?? "" })
  }
  return {
    sources: found,
    authorities: [...known.values()].flat(),
    stored: [...known].flatMap(([title, authorities]) => storedAuthorities(title, authorities)),
  }
}

/** Returns the root of an issuer and, after a change of its authority, former ones. */
function rootsOf(
  parts: TrustBundleParts,
  ref: NonNullable<Source["issuerRef"]>,
  before: readonly TrustedAuthority[],
  { overlapMs, now }: { readonly overlapMs: number; readonly now: number },
): readonly TrustedAuthority[] {
  const { kind, namespace, name } = ref
  const title = kind === "Issuer" ? `Issuer ${name} in the namespace ${namespace}` : `ClusterIssuer ${name}`
  const found = parts
    .storeOf(kind === "Issuer" ? issuer : clusterIssuer)
    .get(kind === "Issuer" ? `${namespace}/${name}` : name)
  if (found === undefined) throw stalled("IssuerMissing", `There is no ${title}.`)
  const { caChain = "" } = (found["status"] ?? {}) as { readonly caChain?: string }
  const current = rootOf(certificatesIn(caChain))
  // Its status requeues this object.
  if (current === undefined) throw waiting("IssuerNotReady", `The ${title} is not ready; see its status.`, pollMs)
  const ending = before.filter(({ until }) => until !== undefined && until <= now)
  const inUse = ending.length === 0 ? [] : rootsInUse(parts, titleOf(ref), ending)
  return trusted(before, { current, inUse, overlapMs, now })
}

/** Returns the roots that a Certificate of the issuer still has in its Secret. */
function rootsInUse(
  { storeOf }: TrustBundleParts,
  source: string,
  roots: readonly TrustedAuthority[],
): readonly Uint8Array[] {
  const present = storeOf(certificate)
    .by("issuer", source)
    .flatMap((object) => {
      const { secretName } = (object["spec"] ?? {}) as Partial<CertificateSpec>
      const secret = secretName === undefined ? undefined : storeOf(secrets).get(inNamespaceOf(object, secretName))
      return secret === undefined ? [] : textOf(secret, "ca.crt")
    })
  return roots
    .map(({ certificate: der }) => der)
    .filter((der) => {
      const pem = writePem("CERTIFICATE", der)
      return present.some((text) => text.includes(pem))
    })
}

async function configMapText(
  { named, namespace }: TrustBundleParts,
  { name, key }: NonNullable<Source["configMapKeyRef"]>,
  signal: AbortSignal,
): Promise<string> {
  const configMap = await named(configMaps).get(`${namespace}/${name}`, signal)
  if (configMap === undefined)
    throw stalled("ConfigMapMissing", `There is no ConfigMap ${name} in the namespace ${namespace}.`)
  const text = (configMap["data"] as Readonly<Record<string, string>> | undefined)?.[key]
  if (text === undefined)
    throw stalled("ConfigMapKeyMissing", `The ConfigMap ${name} in the namespace ${namespace} has no key ${key}.`)
  return text
}

function assembled(sources: readonly BundleSource[], now: number): Bundle {
  try {
    return assembleBundle(sources, now)
  } catch (error) {
    if (error instanceof BundleFault) throw stalled(error.reason, error.message)
    throw error
  }
}

const sizeOf = ({ certificates }: Bundle): string => `${certificates} certificate${certificates === 1 ? "" : "s"}`

function healthOf(bundle: Bundle, published: Published, failed: ReadonlyMap<string, string>): Health {
  const [first] = published.failures
  if (first === undefined) {
    const message = `The bundle (${sizeOf(bundle)}) is in all selected namespaces (${published.selected}).`
    return { is: "ready", reason: "BundlePublished", message }
  }
  const named = [...failed].slice(0, maxNamed).map(([namespace, message]) => `${namespace}: ${message}`)
  const rest = failed.size - named.length
  const message = `${failed.size} of ${published.selected} namespaces do not have the bundle. ${named.join(" ")}${rest > 0 ? ` And ${rest} more.` : ""}`
  return { is: "stalled", reason: first.reason, message }
}
