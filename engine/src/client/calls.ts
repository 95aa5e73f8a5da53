import type { Page, PageRequest } from "../core/page.ts"
import { type Decode, decodeAll, decodeOne, decodePageOf } from "../wire/jsonapi/answer.ts"
import { encodePageRequest } from "../wire/jsonapi/query.ts"
import type { OutgoingRequest, Transport } from "./transport.ts"

type Parameters = readonly (readonly [name: string, value: string | undefined])[]

/** The few shapes that requests and their answers have. */
export interface Calls {
  /** One resource. */
  readonly one: <T>(decode: Decode<T>, request: OutgoingRequest) => Promise<T>
  /** All of a list without pages. */
  readonly all: <T>(decode: Decode<T>, request: OutgoingRequest) => Promise<readonly T[]>
  /** One page of a list; parameters that are undefined are left out. */
  readonly page: <T>(decode: Decode<T>, path: string, page: PageRequest, parameters?: Parameters) => Promise<Page<T>>
  /** Nothing comes back. */
  readonly done: (request: OutgoingRequest) => Promise<void>
}

export const callsOver = ({ send }: Transport): Calls => ({
  one: async (decode, request) => decodeOne(await send(request), decode),
  all: async (decode, request) => decodeAll(await send(request), decode),
  page: async (decode, path, page, parameters = []) => {
    const query = queryOf([...parameters, ...encodePageRequest(page)])
    return decodePageOf(await send({ method: "GET", path, query }), decode)
  },
  done: async (request) => void (await send(request)),
})

export function queryOf(parameters: Parameters): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of parameters) if (value !== undefined) query.append(name, value)
  return query
}
