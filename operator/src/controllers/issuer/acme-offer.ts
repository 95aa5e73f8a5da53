// ACME settings of an Issuer: configures its mount, and stores an EAB token in a Secret for one account (RFC 8555, section 7.3.4). A token
// is created once; delete the Secret to get another one. Failures have their own condition, and do not stop the issuance of certificates.
import { type Engine, isEngineError } from "@chancery/engine"
import { type Cluster, isRejection } from "../../kube/cluster.ts"
import type { Condition } from "../conditions.ts"
import type { AcmeOfferSpec } from "../../api/issuer.ts"
import { keyOf, type KubernetesObject, secrets } from "../../kube/kubernetes-object.ts"
import type { ObjectStore } from "../../kube/object-store.ts"
import { RequeueAfter, refused, rejectionMessage } from "../reconcile-result.ts"
import { labels, unlessWithoutRehearsal } from "../../kube/owned-objects.ts"
import type { Reason } from "../event-reasons.ts"

export interface AcmeOffer {
  readonly engine: Engine
  readonly mount: string
  readonly acme: AcmeOfferSpec
  /** Another issuer that already configures ACME on the mount, as a phrase for messages. */
  readonly rival: string | undefined
  /** Namespace of the Secret. */
  readonly namespace: string
  readonly owner: { readonly title: string; readonly reference: Readonly<Record<string, unknown>> }
}

export interface OfferParts {
  readonly cluster: Pick<Cluster, "apply" | "get">
  /** Cache of the operator's own Secrets, which have its label. */
  readonly secrets: Pick<ObjectStore, "get">
}

export interface Offered {
  /** URL of the directory; undefined if it could not be determined. */
  readonly directory?: string
  readonly condition: Condition
}

const fieldManager = "chancery-issuer"
export const offerAnnotations = { owner: "chancery.dev/issuer", directory: "chancery.dev/acme-directory" } as const

class NotOffered extends Error {
  readonly reason: Reason
  constructor(reason: Reason, message: string) {
    super(message)
    this.reason = reason
  }
}

export async function offerAcme(parts: OfferParts, offer: AcmeOffer): Promise<Offered> {
  try {
    return { directory: await offered(parts, offer), condition: served }
  } catch (error) {
    const { reason, message } = whyNot(error, offer)
    return { condition: { type: "AcmeOffered", status: "False", reason, message } }
  }
}

const served: Condition = {
  type: "AcmeOffered",
  status: "True",
  reason: "AcmeOffered",
  message: "The ACME settings of the mount match the spec.",
}

async function offered(parts: OfferParts, offer: AcmeOffer): Promise<string> {
  const { engine, mount, acme, rival } = offer
  if (rival !== undefined)
    throw new NotOffered(
      "AlreadyManaged",
      `The ${rival} already manages the ACME settings of ${mount}; remove spec.acme.`,
    )
  const { settings } = engine.pki(mount)
  const wanted = {
    enabled: true,
    ...(acme.directory === undefined ? {} : { defaultDirectoryPolicy: acme.directory }),
    ...(acme.eabPolicy === undefined ? {} : { eabPolicy: eabPolicies[acme.eabPolicy] }),
  }
  const present: Readonly<Record<string, unknown>> = { ...(await settings.acme()) }
  if (Object.entries(wanted).some(([name, value]) => present[name] !== value)) await settings.changeAcme(wanted)
  const directory = `${(await settings.cluster()).path}/acme/directory`
  if (acme.eabSecretName !== undefined) await handOut(parts, offer, { name: acme.eabSecretName, directory })
  return directory
}

const eabPolicies = {
  NotRequired: "not-required",
  NewAccountRequired: "new-account-required",
  AlwaysRequired: "always-required",
} as const

async function handOut(
  { cluster, secrets: store }: OfferParts,
  { engine, mount, namespace, owner }: AcmeOffer,
  { name, directory }: { readonly name: string; readonly directory: string },
): Promise<void> {
  const key = keyOf({ metadata: { name, namespace } })
  // Only labelled Secrets are cached, so another one may exist.
  const present = store.get(key) ?? (await cluster.get(secrets, key))
  const written = present?.metadata.annotations
  if (present !== undefined && written?.[offerAnnotations.owner] !== owner.title) {
    const message = `The Secret ${name} in the namespace ${namespace} does not belong to the ${owner.title}; change eabSecretName.`
    throw new NotOffered("SecretNameConflict", message)
  }
  if (present !== undefined && written?.[offerAnnotations.directory] === directory) return
  const secretOf = (data: Readonly<Record<string, string>>): KubernetesObject => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name,
      namespace,
      ...(present?.metadata.uid === undefined ? {} : { uid: present.metadata.uid }),
      labels,
      annotations: { [offerAnnotations.owner]: owner.title, [offerAnnotations.directory]: directory },
      ownerReferences: [owner.reference],
    },
    type: "Opaque",
    data: Object.fromEntries(Object.entries(data).map(([member, text]) => [member, encoded(text)])),
  })
  // A dry run first, because the token would be lost if the API server rejected the Secret.
  const rehearsal = secretOf({ kid: "pending", key: "pending", directory })
  await cluster.apply(secrets, rehearsal, fieldManager, { dryRun: true }).catch(unlessWithoutRehearsal)
  const { eab: bindings } = engine.acme(mount)
  const { id, key: mac } = await bindings.create({})
  // Clients expect base64url without padding (RFC 4648, section 5).
  const secret = secretOf({ kid: id, key: Buffer.from(mac).toString("base64url"), directory })
  try {
    await cluster.apply(secrets, secret, fieldManager)
  } catch (error) {
    // Its key is lost, so the token is unusable.
    await bindings.delete(id).catch(() => undefined)
    throw error
  }
}

const encoded = (text: string): string => Buffer.from(text).toString("base64")

/** Returns the reason for the condition. Rethrows rate limits and unexpected errors, which the controller handles. */
function whyNot(error: unknown, { acme, namespace }: AcmeOffer): { readonly reason: Reason; readonly message: string } {
  if (error instanceof NotOffered) return error
  if (isRejection(error)) {
    const message = rejectionMessage(`the Secret ${acme.eabSecretName} in the namespace ${namespace}`, error)
    return { reason: "SecretRejected", message }
  }
  if (!isEngineError(error)) throw error
  const meaning = refused(error)
  if (meaning instanceof RequeueAfter) throw meaning
  return meaning.outcome.health
}
