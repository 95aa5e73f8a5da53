// Whether an engine can be used: its address answers, and it takes the token for somebody's.
import type { EngineError } from "@chancery/engine"
import type { Outcome } from "./controller.ts"
import { clusterConnection, type ClusterConnectionSpec } from "./kinds/cluster-connection.ts"
import type { KubernetesObject } from "./kubernetes-object.ts"
import type { ObjectStore } from "./object-store.ts"

/** Asks an engine who one is to it, and whether it has the organization. Throws the engine's error. */
export type AskEngine = (
  url: string,
  options: {
    readonly token: string
    readonly certificateAuthority?: string
    readonly organization?: string
    readonly signal: AbortSignal
  },
) => Promise<void>

export interface ClusterConnectionOptions {
  /** Of the operator's namespace, and of no other. */
  readonly secrets: Pick<ObjectStore, "get">
  readonly namespace: string
  readonly ask: AskEngine
  readonly engineErrorOf: (error: unknown) => EngineError | undefined
}

const pollMs = 600_000

export const reconcileClusterConnection =
  ({ secrets, namespace, ask, engineErrorOf }: ClusterConnectionOptions) =>
  async (object: KubernetesObject, signal: AbortSignal): Promise<Outcome> => {
    const parsed = clusterConnection.spec.safeParse(object["spec"])
    if (!parsed.success) {
      const [issue] = parsed.error.issues
      return stalled("InvalidSpec", `spec.${issue?.path.join(".") ?? ""}: ${issue?.message ?? "cannot be read"}`)
    }
    const { baseURL, tokenSecretRef, caBundle, organization } = parsed.data
    const secret = secrets.get(`${namespace}/${tokenSecretRef.name}`)
    if (secret === undefined)
      return stalled("SecretMissing", `The namespace ${namespace} has no Secret ${tokenSecretRef.name}.`)
    const token = tokenOf(secret, tokenSecretRef)
    if (token === undefined)
      return stalled("SecretKeyMissing", `The Secret ${tokenSecretRef.name} has no token under ${tokenSecretRef.key}.`)
    try {
      await ask(baseURL, {
        token,
        signal,
        ...(caBundle === undefined ? {} : { certificateAuthority: caBundle }),
        ...(organization === undefined ? {} : { organization }),
      })
    } catch (error) {
      const refusal = engineErrorOf(error)
      if (refusal === undefined) throw error
      return outcomeOf(refusal, organization)
    }
    const health = { is: "ready", reason: "Connected", message: "The engine answers and takes the token." } as const
    return { health, againAfterMs: pollMs }
  }

/** In the place of what an index would say of the object's own field. */
export const tokenSecretsOf = (object: KubernetesObject): readonly string[] => {
  const { tokenSecretRef } = (object["spec"] ?? {}) as Partial<ClusterConnectionSpec>
  return tokenSecretRef === undefined ? [] : [tokenSecretRef.name]
}

/** The message must not change from one failure to the next: each would be a write. */
function outcomeOf({ code, message }: EngineError, organization: string | undefined): Outcome {
  switch (code) {
    case "unauthenticated":
      return stalled("TokenRefused", "The engine does not take the token: it is unknown, expired or revoked.")
    case "not-found":
      return stalled("OrganizationNotFound", `The token sees no organization ${organization ?? ""}.`)
    case "rate-limited":
    case "busy":
    case "unavailable":
    case "out-of-service":
      return {
        health: { is: "reconciling", reason: "EngineUnavailable", message: "The engine gives no usable answer." },
      }
    default:
      return stalled("EngineRefused", message)
  }
}

/** Told again when what it names changes; looked at again all the same, as an engine tells nobody. */
const stalled = (reason: string, message: string): Outcome => ({
  health: { is: "stalled", reason, message },
  againAfterMs: pollMs,
})

function tokenOf(secret: KubernetesObject, { key }: { readonly key: string }): string | undefined {
  const text = (secret["data"] as Readonly<Record<string, string>> | undefined)?.[key]
  if (text === undefined) return undefined
  const token = Buffer.from(text, "base64").toString("utf8").trim()
  return token === "" ? undefined : token
}
