// Creates routes below `/v1` from a contract. Handlers receive and return values; envelopes and dialects are handled here.
import type {
  ArgumentsOf,
  Contract,
  Endpoint,
  ResponseAnswer,
  SentBy,
  Versioned,
} from "../../contracts/vault/endpoint.ts"
import { pathParameters } from "../../contracts/path.ts"
import type { Body } from "../../contracts/vault/record.ts"
import type { Document } from "../../contracts/vault/format/parameters.ts"
import { type ConditionalResponse, rawBytes, unlessKnown } from "./conditional.ts"
import { type ApiRoute, listedUpTo, nothing, param, type PkiResponse, type SystemRequest } from "./vault-route.ts"

type Handlers<C extends Contract, Request> = {
  readonly [Name in keyof C]: (
    request: Request,
    ...values: ArgumentsOf<C[Name]>
  ) => Promise<C[Name]["answers"] extends ResponseAnswer ? PkiResponse : SentBy<C[Name]>>
}

export const implement = <Request extends SystemRequest, C extends Contract>(
  contract: C,
  handlers: Handlers<C, Request>,
): readonly ApiRoute<Request>[] =>
  Object.entries(contract).flatMap(([name, endpoint]) => {
    const route = routeOf(endpoint, handlers[name] as unknown as Handler<Request>)
    return [endpoint.path, ...(endpoint.alsoAt ?? [])].map((path) => ({ ...route, path }))
  })

type Handler<Request> = (request: Request, ...values: readonly unknown[]) => Promise<never>

function routeOf<Request extends SystemRequest>(endpoint: Endpoint, handle: Handler<Request>): ApiRoute<Request> {
  const { summary: _, rights: __, alsoAt: ___, rawMediaType: ____, body, answers, wireNames, ...route } = endpoint
  const names = pathParameters(route.path)
  return {
    ...route,
    ...(body !== undefined && { parameters: [body.table] }),
    wireNames: { ...(body && wireNamesOf(body)), ...wireNames },
    handle: async (request) => {
      const values = [
        ...names.map((name) => param(request, name)),
        ...(body === undefined ? [] : [body.decode(request)]),
      ]
      return encoded(answers, await handle(request, ...values), request)
    },
  }
}

const wireNamesOf = ({ table, nested = [] }: Pick<Body<unknown>, "table" | "nested">) =>
  Object.fromEntries([...nested, table].flatMap(({ members }) => members.map(({ name, wireName }) => [name, wireName])))

function encoded(answers: Endpoint["answers"], value: never, request: SystemRequest): PkiResponse {
  const { kind, conditional, maximum = Infinity, repeated = false } = answers
  if (kind === "response") return value
  if (conditional !== undefined && value === undefined) return nothing()
  const made = answers.encode?.(value, request.dialect)
  if (made === undefined) return nothing()
  if (kind === "keys" && "data" in made) {
    const { keys, key_info: info } = made.data as { readonly keys: readonly string[]; readonly key_info?: Document }
    return listedUpTo(maximum, keys, info)
  }
  if ("data" in made && (kind === "nothing" || made.data === undefined)) return nothing(made.warnings)
  const whole: ConditionalResponse =
    "data" in made
      ? { kind: "data", status: 200, repeated, ...made, data: made.data ?? null }
      : rawBytes(made.body, made.mediaType)
  if (conditional === undefined) return whole
  const { version } = value as Versioned<unknown>
  return unlessKnown(request, version, whole, conditional === true ? {} : { byDialect: true })
}
