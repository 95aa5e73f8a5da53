// One endpoint of the certificate API as data. `vault-routes.ts` has three kinds of tables: endpoints of every mount, endpoints of the
// server itself, and endpoints of auth methods by type.
import type { ClientCertificate } from "../../core/client-certificate.ts"
import type { Caller } from "../../core/caller.ts"
import type { ServingEngine } from "../../engine.ts"
import type { AuthMethod } from "../../access/logins/auth-method.ts"
import type { Mount } from "../../pki/mounts/mount.ts"
import type { ServedPki } from "../../pki/mounts/pki.ts"
import type { Dialect } from "../../contracts/vault/format/dialect.ts"
import type { Lease } from "../../contracts/vault/format/envelope.ts"
import type { WireNames } from "../../contracts/vault/format/errors.ts"
import type { Decoded, Document, Parameters, ParameterTable } from "../../contracts/vault/format/parameters.ts"
import type { RequestHeaders } from "../http/message.ts"

/** `write` is POST or PUT; `list` is LIST, or GET with `?list=true`; `read` is GET or HEAD. */
export type Operation = "read" | "write" | "patch" | "list" | "delete"

export interface SystemRequest {
  /** Method as sent. HEAD is handled like GET, without a body. */
  readonly method: string
  /** Engine with the rights of the caller, which is anonymous on an open route. */
  readonly engine: ServingEngine
  readonly server: ServerFacts
  readonly requestId: string
  /** Address of the client. Undefined on a unix socket or without a socket. */
  readonly remoteAddress: string | undefined
  /** Label of `/.well-known/est/<label>` that led to the route; empty without a label. Undefined for other paths. */
  readonly estLabel: string | undefined
  /** Certificate that the client presented to the device listener, or to a trusted proxy. Only possession of its key was verified. */
  readonly clientCertificate: ClientCertificate | undefined
  readonly dialect: Dialect
  /** Decoded path parameters by wire name. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: RequestHeaders
  /** Members of the body, or of the query if the method has no body; `{}` on a raw route. */
  readonly document: Document
  /**
   * Returns all members as JSON texts, to be forwarded. Members of a JSON body are unchanged, with every digit and space. Turns off
   * warnings about ignored members.
   */
  rawMembers(): ReadonlyMap<string, string>
  /** Returns the given parameters. Throws `invalid` for values that cannot be decoded, and for null in a merge patch. */
  decode<T extends object>(parameters: Parameters<T>): Partial<T>
  /** Like `decode`, but returns faults instead of throwing. For callers that combine them with faults of rules, or that interpret null. */
  read<T extends object>(parameters: Parameters<T>): Omit<Decoded<T>, "ignored">
  /** Returns the body of a raw route. */
  bytes(): Promise<Uint8Array>
}

export interface PkiRequest extends SystemRequest {
  readonly mount: Mount
  /** Engine of the mount, with the rights of the same caller. */
  readonly pki: ServedPki
}

export interface AuthRequest extends SystemRequest {
  readonly authMethod: AuthMethod
}

/** State of the server. */
export interface ServerFacts {
  readonly now: () => number
  readonly clusterId: string
  readonly ready: () => Promise<void>
}

export interface ApiRoute<Request> {
  readonly operation: Operation
  /**
   * Path below the mount, the auth method or, for the system's endpoints, `/v1`. It has literal segments, `:name` for one arbitrary
   * segment, and at most one `*name` for one or more. A literal has precedence over `:name`, and `:name` over `*name`.
   */
  readonly path: string
  /** No token is required, and a given one is ignored. */
  readonly open?: true
  /** On an open route, a given token is checked and the engine has the rights of its caller. */
  readonly tokenCounts?: true
  /** The body is passed as bytes by `bytes()` and has no parameters. A trailing `*name` is not decoded. */
  readonly raw?: true
  /** Default: 32 MiB below a mount and 64 KiB elsewhere. */
  readonly bodyLimitBytes?: number
  /** Also served on the device listener. All other routes answer 404 there. */
  readonly device?: true
  /**
   * Authenticates a client by other credentials than a token, before the request is recorded. Returns the caller, and members of the body
   * for the audit log. Needs `open`.
   */
  readonly admit?: (arrival: Arrival<Request>) => Promise<Admission>
  /** Errors are plain text (RFC 7030, section 4.2.3). */
  readonly plainErrors?: true
  /** ACME route, whose errors are problem documents (RFC 7807). */
  readonly problems?: true
  /** The request has no effect unless it uses an authority's key. The audit log records it at the latest with that use. */
  readonly signs?: true
  /** A `write` that changes nothing. */
  readonly readOnly?: true
  /** Wire names of domain fields, for faults of rules, if they cannot be derived. */
  readonly wireNames?: WireNames
  /** Tables that `handle` decodes. The path help lists their members. */
  readonly parameters?: readonly ParameterTable[]
  readonly handle: (request: Request) => Promise<PkiResponse>
}

/** Request of a client that is not authenticated yet. Its engine has no rights. */
export type Arrival<Request> = Pick<Request, keyof Request & keyof PkiRequest>

export interface Admission {
  readonly caller: Caller
  readonly document: Document
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
      /** Repeats the members of `data` at the top level. */
      readonly repeated?: boolean
      readonly headers?: Readonly<Record<string, string>>
    }
  /** JSON without an envelope. */
  | { readonly kind: "bare"; readonly status: number; readonly document: Document }
  | {
      readonly kind: "raw"
      readonly status: number
      readonly body: string | Uint8Array
      /** Each element of an array is sent as its own header line. */
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

interface AnswerContext {
  readonly warnings?: readonly string[]
  readonly lease?: Lease | undefined
}

export const answer = (data: Document, around: AnswerContext = {}): PkiResponse => ({
  kind: "data",
  status: 200,
  data,
  ...around,
})
/** Returns bytes or text unchanged, such as a certificate. */
export const raw = (
  body: string | Uint8Array,
  contentType: string,
  headers: Readonly<Record<string, string>> = {},
): PkiResponse => ({ kind: "raw", status: 200, body, headers: { "content-type": contentType, ...headers } })
/** Returns no content, or only warnings. */
export const nothing = (warnings: readonly string[] = []): PkiResponse => ({ kind: "none", warnings })
export const bare = (document: Document, status = 200): PkiResponse => ({ kind: "bare", status, document })

/** Returns names with details. An empty list answers 404, as in Vault (docs/compatibility.md, "Answers of the certificate API"). */
export const listed = (
  keys: readonly string[],
  keyInfo?: Readonly<Record<string, unknown>>,
  around: AnswerContext = {},
): PkiResponse =>
  keys.length === 0
    ? { kind: "bare", status: 404, document: { errors: [] } }
    : answer({ keys, ...(keyInfo === undefined ? {} : { key_info: keyInfo }) }, around)

/** Returns a list of at most `maximum` names. Warns that there may be more if the list is full. */
export const listedUpTo = (
  maximum: number,
  keys: readonly string[],
  keyInfo?: Readonly<Record<string, unknown>>,
): PkiResponse =>
  listed(keys, keyInfo, {
    warnings:
      keys.length < maximum ? [] : [`at most ${maximum} entries are listed at once; use "after" for the next page`],
  })

/** Returns a path parameter that the route's pattern guarantees. */
export function param({ params }: Pick<SystemRequest, "params">, name: string): string {
  const value = params[name]
  if (value === undefined) throw new Error(`route has no parameter :${name}`)
  return value
}
