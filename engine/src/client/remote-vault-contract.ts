// Client of a contract below `/v1`: each endpoint becomes a function with the parameters of its handler.
import type { ArgumentsOf, Contract, Endpoint, ReceivedFrom } from "../contracts/vault/endpoint.ts"
import { pathParameters } from "../contracts/path.ts"
import type { WireNames } from "../contracts/vault/format/errors.ts"
import { namesOf, type PkiCalls, queryOf, type RequestBody } from "./pki-calls.ts"
import { filled } from "./remote-contract.ts"

export type Remote<C extends Contract> = {
  readonly [Name in keyof C]: (...values: ArgumentsOf<C[Name]>) => Promise<ReceivedFrom<C[Name]>>
}

export const remote = <C extends Contract>(contract: C, calls: PkiCalls): Remote<C> =>
  Object.fromEntries(
    Object.entries(contract).map(([name, endpoint]) => [name, call(endpoint, calls)]),
  ) as object as Remote<C>

const call =
  (endpoint: Endpoint, calls: PkiCalls) =>
  async (...values: readonly unknown[]): Promise<unknown> => {
    const { path, body, answers, operation, wireNames } = endpoint
    const count = pathParameters(path).length
    const address = filled(path, values.slice(0, count) as string[])
    const names = { ...(body && namesIn(body)), ...inverted(wireNames) }
    const request = body && { document: body.encode(values[count] as never), names }
    if (operation !== "list") {
      const envelope = await send(calls, operation, address, request)
      return answers.decode?.(envelope)
    }
    const { keys, keyInfo } = await calls.list(address, request && queryOf(request))
    return answers.decode?.({ data: { keys, key_info: keyInfo }, warnings: [], lease: undefined })
  }

const namesIn = ({ table, nested = [] }: NonNullable<Endpoint["body"]>) =>
  Object.assign({}, ...[...nested, table].map(namesOf)) as Readonly<Record<string, string>>

const inverted = (names: WireNames = {}) =>
  Object.fromEntries(Object.entries(names).map(([name, wire]) => [wire, name]))

function send(
  calls: PkiCalls,
  operation: Exclude<Endpoint["operation"], "list">,
  address: string,
  request?: RequestBody,
) {
  if (operation === "read") return calls.read(address, request && queryOf(request))
  if (operation === "patch") return calls.patch(address, request ?? { document: {}, names: {} })
  return operation === "write" ? calls.write(address, request) : calls.delete(address)
}
