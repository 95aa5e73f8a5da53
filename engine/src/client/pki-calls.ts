// Requests of the certificate API by operation, with their answers.
import { type Fault, invalid, isEngineError, notFoundDetail } from "../core/errors.ts"
import { noMount } from "../pki/mounts/mount-directory.ts"
import { mountPathOf } from "../pki/mounts/mount.ts"
import { type DecodedEnvelope, decodeEnvelope } from "../contracts/vault/format/envelope.ts"
import { type Document, isDocument, type Parameters, unreadable } from "../contracts/vault/format/parameters.ts"
import { type JsonText, type OutgoingRequest, path, type Transport } from "./transport.ts"

/** Members of a request by wire name, and domain names by wire name for the fields of errors. */
export interface RequestBody {
  readonly document: Document | JsonText
  readonly names: Readonly<Record<string, string>>
}

/** Encodes the members as a query. Lists are joined by commas. */
export const queryOf = ({ document }: RequestBody): URLSearchParams =>
  new URLSearchParams(Object.entries(document).map(([name, value]) => [name, String(value)]))

/** Returns the domain names of members by their wire names. */
export const namesOf = ({ members }: Parameters<never>): Readonly<Record<string, string>> =>
  Object.fromEntries(members.map(({ name, wireName }) => [wireName, name]))

export interface Listed {
  readonly keys: readonly string[]
  readonly keyInfo: Document
}

/**
 * Operations on the endpoints of a mount, or of the system below `/v1`. Paths are relative to it, begin with a slash, and are made by
 * `path`.
 */
export interface PkiCalls {
  readonly read: (path: string, query?: URLSearchParams) => Promise<DecodedEnvelope>
  readonly write: (path: string, said?: RequestBody) => Promise<DecodedEnvelope>
  readonly patch: (path: string, said: RequestBody) => Promise<DecodedEnvelope>
  readonly delete: (path: string) => Promise<DecodedEnvelope>
  /** Lists names. Returns an empty list if the server answers 404, as it does for an empty list. */
  readonly list: (path: string, query?: URLSearchParams) => Promise<Listed>
  /** Returns the body unchanged, such as a CRL. */
  readonly download: (path: string) => Promise<Uint8Array>
  readonly exchange: (
    path: string,
    octets: { readonly mediaType: string; readonly body: Uint8Array },
  ) => Promise<Uint8Array>
}

/** Returns the operations on the mount at `mountPath`, or on the system's endpoints without one. */
export function pkiCallsOver({ pki }: Pick<Transport, "pki">, mountPath?: string): PkiCalls {
  const onMount = async <T>(below: string, ask: (path: string) => Promise<T>): Promise<T> => {
    const whole = mountPath === undefined ? below : `${pathOfMount(mountPath)}${below}`
    try {
      return await ask(whole)
    } catch (error) {
      throw mountPath !== undefined && saysNoMount(error) ? noMount(mountPathOf(mountPath)) : error
    }
  }
  const send = (below: string, request: Omit<OutgoingRequest, "path">): Promise<DecodedEnvelope> =>
    onMount(below, async (whole) => {
      const document = await pki.send({ ...request, path: whole })
      return document === undefined ? { data: null, warnings: [], lease: undefined } : decodeEnvelope(document)
    })
  return {
    read: (below, query) => send(below, { method: "GET", ...(query === undefined ? {} : { query }) }),
    write: (below, said) => send(below, { method: "POST", ...said }),
    patch: (below, said) => send(below, { method: "PATCH", ...said }),
    delete: (below) => send(below, { method: "DELETE" }),
    async list(below, query) {
      const whole = new URLSearchParams(query)
      whole.set("list", "true")
      try {
        return listedIn(await send(below, { method: "GET", query: whole }))
      } catch (error) {
        if (isEngineError(error, "not-found") && error.message === notFoundDetail) return { keys: [], keyInfo: {} }
        throw error
      }
    },
    download: (below) => onMount(below, (whole) => pki.download(whole)),
    exchange: (below, octets) => onMount(below, (whole) => pki.exchange(whole, octets)),
  }
}

/** Returns true if the server reports that no mount matches. Its message contains the requested path, so it is replaced. */
const saysNoMount = (error: unknown): boolean =>
  isEngineError(error, "not-found") && /^no handler for route ".*"\. route entry not found\.$/.test(error.message)

/** Returns the normalized path with a leading slash: `/team/pki` for `team/pki/`. */
const pathOfMount = (mountPath: string): string =>
  mountPathOf(mountPath)
    .split("/")
    .map((segment) => path`/${segment}`)
    .join("")

/** Returns the normalized path. Throws `invalid`, as the server would, for a path that a URL cannot express. */
export function addressablePath(text: string, faultsOf: (path: string) => readonly Fault[]): string {
  const path = mountPathOf(text)
  const faults = faultsOf(path)
  // The server has another endpoint at `…/tune`.
  const isAddressable =
    !path.endsWith("/tune") && path.split("/").every((one) => one !== "" && one !== "." && one !== "..")
  if (!isAddressable && faults.length > 0) throw invalid(faults)
  return path
}

function listedIn({ data }: DecodedEnvelope): Listed {
  const { keys, key_info: keyInfo = {} } = isDocument(data) ? data : {}
  if (!Array.isArray(keys) || !keys.every((key) => typeof key === "string") || !isDocument(keyInfo))
    throw unreadable("it is not a list")
  return { keys, keyInfo }
}
