// A request of the certificate API, as its handler receives it. It records which members were read; the answer warns about all others
// (docs/compatibility.md, "Requests to the certificate API").
import type { ClientCertificate } from "../../core/client-certificate.ts"
import { invalid } from "../../core/errors.ts"
import type { ServingEngine } from "../../engine.ts"
import type { Dialect } from "../../contracts/vault/format/dialect.ts"
import {
  decodeDocument,
  type Decoded,
  type Document,
  type Parameters,
} from "../../contracts/vault/format/parameters.ts"
import { boundedList, ignoredWarnings } from "../../contracts/vault/format/ignored-parameters.ts"
import { rawMembers } from "../../contracts/vault/format/raw-members.ts"
import type { Operation, ServerFacts, SystemRequest } from "./vault-route.ts"
import type { RequestHeaders } from "../http/message.ts"

interface IncomingParts {
  readonly method: string
  readonly engine: ServingEngine
  readonly server: ServerFacts
  readonly requestId: string
  readonly remoteAddress: string | undefined
  readonly clientCertificate: ClientCertificate | undefined
  readonly estLabel: string | undefined
  readonly dialect: Dialect
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: RequestHeaders
  readonly operation: Operation
  readonly document: Document
  readonly json: string | undefined
  readonly bytes: () => Promise<Uint8Array>
}

export class IncomingRequest implements SystemRequest {
  readonly method: string
  readonly engine: ServingEngine
  readonly server: ServerFacts
  readonly requestId: string
  readonly remoteAddress: string | undefined
  readonly clientCertificate: ClientCertificate | undefined
  readonly estLabel: string | undefined
  readonly dialect: Dialect
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: RequestHeaders
  readonly bytes: () => Promise<Uint8Array>
  readonly #operation: Operation
  readonly #sent: Document
  /** Members without those that path parameters replace. */
  readonly #members: Document
  readonly #json: string | undefined
  readonly #replaced: readonly string[]
  #known: Set<string> | undefined
  #everythingKnown = false
  #goesOnUntouched = false

  constructor({ document, ...parts }: IncomingParts) {
    this.method = parts.method
    this.engine = parts.engine
    this.server = parts.server
    this.requestId = parts.requestId
    this.remoteAddress = parts.remoteAddress
    this.clientCertificate = parts.clientCertificate
    this.estLabel = parts.estLabel
    this.dialect = parts.dialect
    this.params = parts.params
    this.query = parts.query
    this.headers = parts.headers
    this.bytes = parts.bytes
    this.#operation = parts.operation
    this.#json = parts.json
    this.#replaced = Object.keys(parts.params).filter((name) => Object.hasOwn(document, name))
    this.#sent = document
    this.#members =
      this.#replaced.length === 0
        ? document
        : Object.fromEntries(Object.entries(document).filter(([name]) => !this.#replaced.includes(name)))
  }

  get document(): Document {
    this.#everythingKnown = true
    return this.#members
  }

  rawMembers(): ReadonlyMap<string, string> {
    this.#goesOnUntouched = true
    const texts = this.#json === undefined ? undefined : rawMembers(this.#json)
    return texts ?? new Map(Object.entries(this.#sent).map(([name, value]) => [name, JSON.stringify(value)]))
  }

  decode<T extends object>(parameters: Parameters<T>): Partial<T> {
    const { value, faults, removed } = this.read(parameters)
    // Outside a merge patch, null means that the member is absent.
    const nulls = this.#operation === "patch" ? removed : []
    const wireName = (name: string) => parameters.members.find((member) => member.name === name)?.wireName ?? name
    const all = [...faults, ...nulls.map((name) => ({ field: [name], detail: `"${wireName(name)}" must not be null` }))]
    if (all.length > 0) throw invalid(all)
    return value
  }

  read<T extends object>(parameters: Parameters<T>): Omit<Decoded<T>, "ignored"> {
    const known = (this.#known ??= new Set())
    for (const wireName of parameters.byWireName.keys()) known.add(wireName)
    return decodeDocument(parameters, this.#members)
  }

  /** Returns warnings about ignored and replaced members, in Vault's wording. */
  warnings(): string[] {
    if (this.#goesOnUntouched) return []
    const ignored = this.#everythingKnown
      ? []
      : Object.keys(this.#members).filter((name) => this.#known?.has(name) !== true)
    return [
      ...ignoredWarnings(ignored),
      ...(this.#replaced.length === 0
        ? []
        : [
            `Endpoint replaced the value of these parameters with the values captured from the endpoint's path: ${boundedList(this.#replaced)}`,
          ]),
    ]
  }
}
