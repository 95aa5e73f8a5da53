// Which authority an Issuer stands for: what others need of it is in its status, and is looked at again with every poll, as an
// authority may be replaced.
import { isEngineError, type IssuerCertificate } from "@chancery/engine"
import { parseCertificate, serialNumberOf, sha256, writePem } from "@chancery/engine/x509"
import { labels } from "./certificate/annotations.ts"
import type { Cluster } from "./cluster.ts"
import type { EngineConnections } from "./engine-connections.ts"
import { clusterIssuer, issuer, type IssuerSpec } from "./kinds/issuer.ts"
import { apiVersionOf, configMaps, type KubernetesObject, secondTime } from "./kubernetes-object.ts"
import type { ObjectStore } from "./object-store.ts"
import { type Outcome, pollMs, refused, stalled } from "./outcome.ts"
import { parsedSpec } from "./parsed-spec.ts"
import type { Reconciler, Visit } from "./reconciler.ts"

export interface IssuersOptions {
  readonly kind: "Issuer" | "ClusterIssuer"
  readonly cluster: Pick<Cluster, "apply" | "get">
  readonly engines: Pick<EngineConnections, "connect">
  /** Of ours, which are labelled. */
  readonly configMaps: Pick<ObjectStore, "get">
  /** The operator's own. */
  readonly namespace: string
}

const fieldManager = "chancery-issuer"
const ownerAnnotation = "chancery.dev/issuer"

export const reconcileIssuers = (options: IssuersOptions): Reconciler => ({
  reconcile: (object, visit) => reconcile(options, object, visit),
})

async function reconcile(options: IssuersOptions, object: KubernetesObject, visit: Visit): Promise<Outcome> {
  const spec = parsedSpec(options.kind === "Issuer" ? issuer : clusterIssuer, object)
  const { engine } = await options.engines.connect(spec.connectionRef, object.metadata.namespace, visit.signal)
  const found = await authorityOf(spec, () => engine.pki(spec.mount).issuers.certificate(spec.issuerRef))
  const { serialNumber, notAfter } = parseCertificate(found.certificate)
  const chain = found.caChain.length > 0 ? found.caChain : [found.certificate]
  const caChain = chain.map((der) => `${writePem("CERTIFICATE", der)}\n`).join("")
  if (spec.caChainConfigMap !== undefined) await publish(options, object, spec.caChainConfigMap, caChain)
  return {
    health: { is: "ready", reason: "AuthorityFound", message: "The engine has the authority." },
    status: {
      caNotAfter: secondTime(notAfter),
      caSerial: serialNumberOf(serialNumber) ?? Buffer.from(serialNumber).toString("hex"),
      caFingerprint: sha256(Buffer.concat(chain)),
      caChain,
    },
    againAfterMs: pollMs,
  }
}

async function authorityOf(
  { mount, issuerRef }: IssuerSpec,
  ask: () => Promise<IssuerCertificate>,
): Promise<IssuerCertificate> {
  try {
    return await ask()
  } catch (error) {
    if (isEngineError(error, "not-found"))
      throw stalled("AuthorityMissing", `The engine has no authority ${issuerRef} in ${mount}.`)
    throw isEngineError(error) ? refused(error) : error
  }
}

async function publish(
  { cluster, configMaps: store, namespace: own, kind }: IssuersOptions,
  object: KubernetesObject,
  name: string,
  caChain: string,
): Promise<void> {
  const { namespace = own, name: owner, uid } = object.metadata
  const key = `${namespace}/${name}`
  const present = store.get(key) ?? (await cluster.get(configMaps, key))
  const title = `${kind}/${owner}`
  if (present !== undefined && present.metadata.annotations?.[ownerAnnotation] !== title)
    throw stalled("ConfigMapConflict", `The ConfigMap ${name} in the namespace ${namespace} is not this ${kind}'s.`)
  if ((present?.["data"] as Readonly<Record<string, string>> | undefined)?.["ca.crt"] === caChain) return
  const { kind: ownerKind, ...resource } = kind === "Issuer" ? issuer : clusterIssuer
  const configMap: KubernetesObject = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name,
      namespace,
      ...(present?.metadata.uid === undefined ? {} : { uid: present.metadata.uid }),
      labels,
      annotations: { [ownerAnnotation]: title },
      ownerReferences: [
        {
          apiVersion: apiVersionOf({ ...resource, kind: ownerKind }),
          kind: ownerKind,
          name: owner,
          uid,
          controller: true,
        },
      ],
    },
    data: { "ca.crt": caChain },
  }
  await cluster.apply(configMaps, configMap, fieldManager)
}
