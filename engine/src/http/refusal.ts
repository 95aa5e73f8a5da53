import { isPkiPath } from "./exchange.ts"
import { type HttpResponse, respond } from "./message.ts"

/** For what is refused before any route is found, in the words of the API that the path belongs to. */
export function refusal(path: string, status: number, title: string, detail: string): HttpResponse {
  if (isPkiPath(path))
    return respond(JSON.stringify({ errors: [detail] }), { status, headers: { "content-type": "application/json" } })
  return respond(refusalDocument(status, title, detail), {
    status,
    headers: { "content-type": "application/vnd.api+json" },
  })
}

/** A JSON:API error document. */
export const refusalDocument = (status: number, title: string, detail: string): string =>
  JSON.stringify({ errors: [{ status: String(status), title, detail }] })
