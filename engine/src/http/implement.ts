// Routes of `/api/v2` from a contract: a handler gets values and returns one, documents stay here.
import { badRequest } from "../core/errors.ts"
import { type ArgumentsOf, type Contract, type Endpoint, type SentBy } from "../contracts/tfe/endpoint.ts"
import { pathParameters } from "../contracts/path.ts"
import { decodePage } from "../wire/jsonapi/query.ts"
import { type ApiRequest, param, type Route } from "./route.ts"

type Handlers<C extends Contract> = {
  readonly [Name in keyof C]: (request: ApiRequest, ...values: ArgumentsOf<C[Name]>) => Promise<SentBy<C[Name]>>
}

export const implement = <C extends Contract>(contract: C, handlers: Handlers<C>): readonly Route[] =>
  Object.entries(contract).map(([name, endpoint]) => routeOf(endpoint, handlers[name] as unknown as Handler))

type Handler = (request: ApiRequest, ...values: readonly unknown[]) => Promise<never>

function routeOf(endpoint: Endpoint, handle: Handler): Route {
  const { method, path, query, body, answers, discloses, bodyLimitBytes, longStrings } = endpoint
  const names = pathParameters(path)
  return {
    method,
    path,
    ...(discloses === undefined ? {} : { discloses }),
    ...(bodyLimitBytes === undefined ? {} : { bodyLimitBytes }),
    ...(longStrings === undefined ? {} : { longStrings }),
    ...(body === undefined ? {} : { pointers: body.pointers }),
    handle: async (request) => {
      const value = await handle(
        request,
        ...names.map((name) => param(request, name)),
        ...(query === undefined ? [] : [decodeQuery(query, request.query)]),
        ...(body === undefined ? [] : [body.decode(await request.body())]),
        ...(answers.paged === true ? [decodePage(request.query)] : []),
      )
      const { status, encode } = answers
      return encode === undefined ? { status } : { status, document: encode(value, request) }
    },
  }
}

function decodeQuery(query: NonNullable<Endpoint["query"]>, sent: URLSearchParams): Readonly<Record<string, unknown>> {
  const given: [string, unknown][] = []
  for (const [name, { parameter, schema }] of Object.entries(query)) {
    const text = sent.get(parameter)
    if (text === null) continue
    const parsed = schema.safeParse(text)
    if (!parsed.success)
      throw badRequest(
        `The ${parameter} parameter is not valid.`,
        parsed.error.issues.map(({ message }) => ({ detail: message, parameter })),
      )
    if (parsed.data !== undefined) given.push([name, parsed.data])
  }
  return Object.fromEntries(given)
}
