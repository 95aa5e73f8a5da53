import { type HttpResponse, respond } from "./message.ts"

/** A caller may choose the status of a health check; these have no body. */
const bodilessStatuses = [204, 205, 304]

/** An answer of the certificate API, which nobody on the way may keep. */
export function jsonResponse(
  status: number,
  document: unknown,
  { headers = {}, method }: { readonly headers?: Readonly<Record<string, string>>; readonly method: string },
): HttpResponse {
  const bodiless = method === "HEAD" || bodilessStatuses.includes(status)
  return respond(bodiless ? null : JSON.stringify(document), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  })
}
