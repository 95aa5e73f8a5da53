// Client of a contract of `/api/v2`: each endpoint becomes a function with the parameters of its handler.
import type { Writer } from "../core/owner.ts"
import type { PageRequest } from "../core/page.ts"
import { encode } from "../contracts/codec.ts"
import {
  type ArgumentsOf,
  type Contract,
  type Endpoint,
  type Query,
  type ReceivedFrom,
} from "../contracts/tfe/endpoint.ts"
import { pathParameters } from "../contracts/path.ts"
import { encodePageRequest } from "../contracts/tfe/json-api/query.ts"
import { encodeWriter } from "../contracts/tfe/json-api/writer.ts"
import { path, queryOf, type Transport } from "./transport.ts"

export type Remote<C extends Contract> = {
  readonly [Name in keyof C]: (...values: ArgumentsOf<C[Name]>) => Promise<ReceivedFrom<C[Name]>>
}

type Downloads = Pick<Transport, "send" | "download" | "downloadStream">

export const remote = <C extends Contract>(contract: C, transport: Downloads): Remote<C> =>
  Object.fromEntries(
    Object.entries(contract).map(([name, endpoint]) => [name, call(endpoint, transport)]),
  ) as object as Remote<C>

const call =
  (endpoint: Endpoint, { send, download, downloadStream }: Downloads) =>
  async (...values: readonly unknown[]): Promise<unknown> => {
    const { method, query, body, bytes, owned, answers } = endpoint
    const rest = [...values]
    const address = filled(endpoint.path, rest.splice(0, pathParameters(endpoint.path).length) as string[])
    const sought = query === undefined ? [] : parametersOf(query, rest.shift() as Readonly<Record<string, unknown>>)
    const sent = body?.encode(rest.shift() as never)
    const document = owned === undefined ? sent : encodeWriter(sent as object, rest.shift() as Writer | undefined)
    const octets = bytes && { mediaType: "application/octet-stream", body: rest.shift() as Uint8Array }
    const pageRequest = answers.paged === undefined ? undefined : (rest.shift() as PageRequest | undefined)
    const page = pageRequest === undefined ? [] : encodePageRequest(pageRequest)
    if (answers.bytes?.as === "stream") return downloadStream(address)
    if (answers.bytes !== undefined) return download(address)
    const answer = await send({
      method,
      path: address,
      ...(query === undefined && answers.paged === undefined ? {} : { query: queryOf([...sought, ...page]) }),
      ...(body === undefined ? {} : { document, names: body.names }),
      ...(octets && { octets }),
    })
    return answers.decode?.(answer)
  }

/** Replaces the parameters of a pattern by values. The value of `*path` keeps its slashes. */
export function filled(pattern: string, values: readonly string[]): string {
  let index = 0
  return pattern.replaceAll(/([:*])\w+/g, (_whole, mark: string) => {
    const value = values[index++] ?? ""
    const segments = mark === "*" ? value.split("/") : [value]
    return segments.map((segment) => path`${segment}`).join("/")
  })
}

export const parametersOf = (query: Query, input: object): readonly (readonly [string, string | undefined])[] =>
  Object.entries(query).flatMap(([name, { parameter, schema, several }]): ReturnType<typeof parametersOf> => {
    const encoded = encode(schema, (input as Readonly<Record<string, unknown>>)[name])
    if (several === undefined) return [[parameter, encoded as string | undefined]]
    return encoded === undefined ? [] : several.write(encoded as never)
  })
