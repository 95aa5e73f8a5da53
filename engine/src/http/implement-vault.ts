// Routes below `/v1` from a contract: a handler gets values and returns one, envelopes and dialects stay here.
import type { ArgumentsOf, Contract, Endpoint, SentBy } from "../contracts/vault/endpoint.ts"
import { pathParameters } from "../contracts/path.ts"
import { answer, type ApiRoute, listed, nothing, param, type PkiResponse, type SystemRequest } from "./pki-route.ts"

type Handlers<C extends Contract, Request> = {
  readonly [Name in keyof C]: (request: Request, ...values: ArgumentsOf<C[Name]>) => Promise<SentBy<C[Name]>>
}

export const implement = <Request extends SystemRequest, C extends Contract>(
  contract: C,
  handlers: Handlers<C, Request>,
): readonly ApiRoute<Request>[] =>
  Object.entries(contract).map(([name, endpoint]) => routeOf(endpoint, handlers[name] as unknown as Handler<Request>))

type Handler<Request> = (request: Request, ...values: readonly unknown[]) => Promise<never>

function routeOf<Request extends SystemRequest>(endpoint: Endpoint, handle: Handler<Request>): ApiRoute<Request> {
  const { summary: _, rights: __, body, answers, ...route } = endpoint
  const names = pathParameters(route.path)
  return {
    ...route,
    ...(body === undefined ? {} : { parameters: [body.table] }),
    handle: async (request) => {
      const values = [
        ...names.map((name) => param(request, name)),
        ...(body === undefined ? [] : [body.decode(request)]),
      ]
      return encoded(answers, await handle(request, ...values), request)
    },
  }
}

function encoded(answers: Endpoint["answers"], value: never, { dialect }: SystemRequest): PkiResponse {
  if (answers.kind === "keys") return listed(value)
  if (answers.encode === undefined) return nothing()
  const { data, ...around } = answers.encode(value, dialect)
  return answer(data, around)
}
