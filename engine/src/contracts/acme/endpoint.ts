// Endpoint below an ACME directory as a plain object (RFC 8555). The request body is the payload of a JWS.
import type { JsonObject } from "./object.ts"
import type { Documentation } from "../codec.ts"

/** Member of a payload. `read` throws `AcmeProblem`. */
export interface PayloadMember<T> extends Documentation {
  /** JSON Schema. */
  readonly schema: JsonObject
  readonly read: (value: unknown, name: string) => T
  readonly required?: true
}

type Members<T> = { readonly [Name in keyof T]: PayloadMember<T[Name]> }

export interface Payload<T> {
  readonly members: Readonly<Record<string, PayloadMember<unknown>>>
  /** Ignores undeclared members. Throws `AcmeProblem`. */
  readonly decode: (payload: JsonObject) => T
}

export const payload = <T extends object>(members: Members<T>): Payload<T> => {
  const all = Object.entries(members) as [string, PayloadMember<unknown>][]
  return {
    members: Object.fromEntries(all),
    decode: (sent) => Object.fromEntries(all.map(([name, { read }]) => [name, read(sent[name], name)])) as T,
  }
}

export interface AcmeEndpoint {
  /** GET needs no signature. POST is signed, and is a POST-as-GET if it has no payload (RFC 8555, section 6.3). */
  readonly method: "GET" | "POST"
  /** Path below the directory. */
  readonly path: string
  readonly summary: string
  /** Key that signs a POST. */
  readonly signer?: "account" | "new key" | "account or certificate key"
  readonly payload?: Payload<unknown>
  /** Without a payload, the request reads the resource that it would change. */
  readonly payloadOptional?: true
  readonly answers: AcmeAnswer
}
/** Answer of an endpoint. `document` names a schema of `openapi.ts`. */
export interface AcmeAnswer {
  /** Default: 200. */
  readonly statuses?: readonly number[]
  readonly document?: string
  readonly mediaType?: string
}
export type AcmeContract = Readonly<Record<string, AcmeEndpoint>>

export const acmeContract = <const C extends AcmeContract>(endpoints: C): C => endpoints
