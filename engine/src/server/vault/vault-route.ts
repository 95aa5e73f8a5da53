// One endpoint of the certificate API as data. Three kinds of tables are served under `/v1`: what every mount has
// (`pki-routes.ts`), what the server itself has (`system-routes.ts`), and what auth methods have, by type (`auth-routes.ts`). A
// family of endpoints is a file in `pki/`, those of one type of method a file in `auth/`.
import type { ServingEngine } from "../../engine.ts"
import type { AuthMethod } from "../../access/logins/auth-method.ts"
import type { Mount } from "../../pki/mounts/mount.ts"
import type { ServedPki } from "../../pki/mounts/pki.ts"
import type { Dialect } from "../../contracts/vault/format/dialect.ts"
import type { Lease } from "../../contracts/vault/format/envelope.ts"
import type { WireNames } from "../../contracts/vault/format/errors.ts"
import type { Decoded, Document, Parameters, ParameterTable } from "../../contracts/vault/format/parameters.ts"
import type { RequestHeaders } from "../http/message.ts"

/** `write` is POST and PUT alike; `list` is LIST, or GET with `?list=true`; `read` is GET and HEAD. */
export type Operation = "read" | "write" | "patch" | "list" | "delete"

export interface SystemRequest {
  /** As it came; HEAD is answered like GET, without its body. */
  readonly method: string
  /** Acting for the caller; for nobody on an open route. */
  readonly engine: ServingEngine
  readonly server: ServerFacts
  readonly requestId: string
  /** Undefined where there is no socket, or one of this machine's files. */
  readonly remoteAddress: string | undefined
  readonly dialect: Dialect
  /** Of the path, decoded, by their names on the wire. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: RequestHeaders
  /** The members of the body, or of the query where the method has no body; `{}` on a raw route. */
  readonly document: Document
  /**
   * All that was sent as texts of JSON, where the body is JSON each as it came, with every digit and space: for whom they go on
   * to. Nobody is warned of what counts for nothing here.
   */
  rawMembers(): ReadonlyMap<string, string>
  /** What is given of these; throws `invalid` for what cannot be read, and for a null in a merge patch. */
  decode<T extends object>(parameters: Parameters<T>): Partial<T>
  /** The same, for who reports the faults together with those of rules, or knows what a null in a merge patch means. */
  read<T extends object>(parameters: Parameters<T>): Omit<Decoded<T>, "ignored">
  /** The body of a raw route. */
  bytes(): Promise<Uint8Array>
}

export interface PkiRequest extends SystemRequest {
  readonly mount: Mount
  /** The mount's engine, acting like `engine`. */
  readonly pki: ServedPki
}

export interface AuthRequest extends SystemRequest {
  readonly authMethod: AuthMethod
}

/** What the server says about itself. */
export interface ServerFacts {
  readonly now: () => number
  readonly clusterId: string
  readonly ready: () => Promise<void>
}

export interface ApiRoute<Request> {
  readonly operation: Operation
  /**
   * From the mount or the auth method, or from `/v1` for the system's: literal segments, `:name` for one of any text, and at most one `*name` for
   * any number of them. A literal goes before `:name`, and that before `*name`.
   */
  readonly path: string
  /** No token is asked for, and one that is shown counts for nothing. */
  readonly open?: true
  /** Of an open route: for whoever shows a token all the same, the engine acts as for any other. */
  readonly tokenCounts?: true
  /** The body is not one of parameters: bytes for `bytes()`. A last `*name` is left as it stands in the address. */
  readonly raw?: true
  /** Unless given, 32 MiB below a mount and 64 KiB elsewhere. */
  readonly bodyLimitBytes?: number
  /** Of ACME, which has refusals in documents of its own (RFC 7807). */
  readonly problems?: true
  /** Nothing is left of a request unless an authority's key was used. */
  readonly signs?: true
  /** A `write` that changes nothing. */
  readonly readOnly?: true
  /** Names of domain fields that do not follow from them, for faults that rules find. */
  readonly wireNames?: WireNames
  /** Tables that `handle` decodes; help lists their members. */
  readonly parameters?: readonly ParameterTable[]
  readonly handle: (request: Request) => Promise<PkiResponse>
}

export type PkiRoute = ApiRoute<PkiRequest>
export type SystemRoute = ApiRoute<SystemRequest>
export type AuthRoute = ApiRoute<AuthRequest>

export type PkiResponse =
  | {
      readonly kind: "data"
      readonly status: number
      readonly data: Document | null
      readonly warnings?: readonly string[]
      readonly lease?: Lease | undefined
      readonly auth?: Document
      /** Members of the data stand beside it as well. */
      readonly repeated?: boolean
      readonly headers?: Readonly<Record<string, string>>
    }
  /** JSON that no envelope goes around. */
  | { readonly kind: "bare"; readonly status: number; readonly document: Document }
  | {
      readonly kind: "raw"
      readonly status: number
      readonly body: string | Uint8Array
      /** Several values of one are lines of their own, where the socket's side knows lines. */
      readonly headers: Readonly<Record<string, string | readonly string[]>>
    }
  /** Text that is generated while it is sent. */
  | {
      readonly kind: "stream"
      readonly status: number
      readonly body: AsyncIterable<string>
      readonly headers: Readonly<Record<string, string>>
    }
  | { readonly kind: "none"; readonly warnings?: readonly string[] }

interface Around {
  readonly warnings?: readonly string[]
  readonly lease?: Lease | undefined
}

export const answer = (data: Document, around: Around = {}): PkiResponse => ({
  kind: "data",
  status: 200,
  data,
  ...around,
})
/** Bytes or text as they are, such as a certificate. */
export const raw = (
  body: string | Uint8Array,
  contentType: string,
  headers: Readonly<Record<string, string>> = {},
): PkiResponse => ({ kind: "raw", status: 200, body, headers: { "content-type": contentType, ...headers } })
/** Nothing to say, unless there are warnings. */
export const nothing = (warnings: readonly string[] = []): PkiResponse => ({ kind: "none", warnings })
export const bare = (document: Document, status = 200): PkiResponse => ({ kind: "bare", status, document })

/** Returns names with details. An empty list answers 404, as in Vault (docs/compatibility.md, "Answers of the certificate API"). */
export const listed = (
  keys: readonly string[],
  keyInfo?: Readonly<Record<string, unknown>>,
  around: Around = {},
): PkiResponse =>
  keys.length === 0
    ? { kind: "bare", status: 404, document: { errors: [] } }
    : answer({ keys, ...(keyInfo === undefined ? {} : { key_info: keyInfo }) }, around)

/** A list that never tells more than so many at once; whoever asks for all of it is told that there may be more. */
export const listedUpTo = (
  maximum: number,
  keys: readonly string[],
  keyInfo?: Readonly<Record<string, unknown>>,
): PkiResponse =>
  listed(keys, keyInfo, {
    warnings: keys.length < maximum ? [] : [`at most ${maximum} are listed at once; "after" asks for those behind`],
  })

/** A parameter of the path that the route's own pattern guarantees. */
export function param({ params }: Pick<SystemRequest, "params">, name: string): string {
  const value = params[name]
  if (value === undefined) throw new Error(`route has no parameter :${name}`)
  return value
}
