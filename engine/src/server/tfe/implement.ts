// Creates routes of `/api/v2` from a contract. Handlers receive and return values; documents are decoded and encoded here.
import { badRequest, type Fault } from "../../core/errors.ts"
import {
  type ArgumentsOf,
  type Contract,
  type BytesBody,
  type Endpoint,
  type Query,
  type QueryOf,
  type SentBy,
} from "../../contracts/tfe/endpoint.ts"
import { pathParameters } from "../../contracts/path.ts"
import { decodePage } from "../../contracts/tfe/json-api/query.ts"
import { decodeWriter } from "../../contracts/tfe/json-api/writer.ts"
import { gathered, once } from "../http/body.ts"
import { type ApiRequest, type ApiResponse, param, type Route } from "./route.ts"

type Handlers<C extends Contract> = {
  readonly [Name in keyof C]: (request: ApiRequest, ...values: ArgumentsOf<C[Name]>) => Promise<SentBy<C[Name]>>
}

export const implement = <C extends Contract>(contract: C, handlers: Handlers<C>): readonly Route[] =>
  Object.entries(contract).map(([name, endpoint]) => routeOf(endpoint, handlers[name] as unknown as Handler))

type Handler = (request: ApiRequest, ...values: readonly unknown[]) => Promise<never>

function routeOf(endpoint: Endpoint, handle: Handler): Route {
  const { method, path, query, body, owned, bytes, answers, discloses, bodyLimitBytes, longStrings } = endpoint
  const names = pathParameters(path)
  return {
    method,
    path,
    ...(discloses === undefined ? {} : { discloses }),
    ...(bodyLimitBytes === undefined ? {} : { bodyLimitBytes }),
    ...(longStrings === undefined ? {} : { longStrings }),
    ...(body === undefined ? {} : { pointers: body.pointers }),
    handle: async (request) => {
      const parameters = names.map((name) => param(request, name))
      let sent: unknown
      const value = await handle(
        request,
        ...parameters,
        ...(query === undefined ? [] : [decodeQuery(query, request.query)]),
        ...(body === undefined ? [] : [body.decode((sent = await request.body()))]),
        ...(owned === undefined ? [] : [decodeWriter(request.headers, sent)]),
        ...(bytes === undefined ? [] : [await bytesOf(request, bytes, parameters)]),
        ...(answers.paged === undefined ? [] : [pageOf(request.query, answers.paged)]),
      )
      const { status, encode, headers } = answers
      if (answers.bytes !== undefined) return bytesAnswer(value, answers.bytes)
      if (encode === undefined) return { status }
      const document = encode(value, request)
      if (document === undefined) return { status: 204 }
      return { status, document, ...(headers && { headers: headers(request) }) }
    },
  }
}

const pageOf = (query: URLSearchParams, paged: true | "optional") =>
  paged === true || query.has("page[number]") || query.has("page[size]") ? decodePage(query) : undefined

const bytesOf = (request: ApiRequest, { maximum, tooLarge }: BytesBody, parameters: readonly string[]) =>
  maximum === undefined || tooLarge === undefined
    ? request.bytes()
    : gathered(request.stream(), maximum, () => tooLarge(...parameters))

/** Returns the response of a download; an undefined value becomes 204. */
export function bytesAnswer(
  value: Uint8Array | (AsyncIterable<Uint8Array> & { readonly sizeBytes?: number | undefined }) | undefined,
  { mediaType }: { readonly mediaType: string },
): ApiResponse {
  if (value === undefined) return { status: 204 }
  const headers = { "content-type": mediaType, "cache-control": "no-store" }
  if (value instanceof Uint8Array) return { status: 200, stream: once(value), headers }
  const { sizeBytes } = value
  return {
    status: 200,
    download: value,
    headers: { ...headers, ...(sizeBytes !== undefined && { "content-length": String(sizeBytes) }) },
  }
}

/** Decodes query parameters. Throws `bad-request` with one fault for each invalid parameter. */
export function decodeQuery<const Q extends Query>(query: Q, sent: URLSearchParams): QueryOf<Q> {
  const decoded: [string, unknown][] = []
  const faults: Fault[] = []
  for (const [name, { parameter, schema, required, several }] of Object.entries(query)) {
    const value = several === undefined ? sent.get(parameter) : several.read(sent)
    if (value === undefined || (value === null && required !== true)) continue
    const parsed = schema.safeParse(value ?? "")
    if (!parsed.success) faults.push(...parsed.error.issues.map(({ message }) => ({ detail: message, parameter })))
    else if (parsed.data !== undefined) decoded.push([name, parsed.data])
  }
  if (faults.length > 0) throw badRequest("The query is not valid.", faults)
  return Object.fromEntries(decoded) as QueryOf<Q>
}
