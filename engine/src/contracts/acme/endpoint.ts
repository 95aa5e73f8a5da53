// An endpoint below an ACME directory as a plain object (RFC 8555). What a client sends is the payload of a JWS.
import type { JsonObject } from "./object.ts"
import type { Documentation } from "../codec.ts"

/** A member of a payload. `read` throws `AcmeProblem`. */
export interface PayloadMember<T> extends Documentation {
  /** JSON Schema. */
  readonly schema: JsonObject
  readonly read: (value: unknown, name: string) => T
  readonly required?: true
}

type Members<T> = { readonly [Name in keyof T]: PayloadMember<T[Name]> }

export interface Payload<T> {
  readonly members: Readonly<Record<string, PayloadMember<unknown>>>
  /** Members that are not declared count for nothing. Throws `AcmeProblem`. */
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
  /** GET is open. POST is signed, and a POST-as-GET if it has no payload (RFC 8555, section 6.3). */
  readonly method: "GET" | "POST"
  /** From the directory. */
  readonly path: string
  readonly summary: string
  /** The key that signs a POST. */
  readonly signer?: "account" | "new key" | "account or certificate key"
  readonly payload?: Payload<unknown>
  /** The payload may be left out, to read what it would change. */
  readonly payloadOptional?: true
  readonly answers: AcmeAnswer
}
/** The document is a schema of `openapi.ts`. */
export interface AcmeAnswer {
  /** 200 unless there are others. */
  readonly statuses?: readonly number[]
  readonly document?: string
  readonly mediaType?: string
}
export type AcmeContract = Readonly<Record<string, AcmeEndpoint>>

export const acmeContract = <const C extends AcmeContract>(endpoints: C): C => endpoints
