// Exposes an app as a function from `Request` to `Response`, for tests and programs without a socket.
import { bodyStream } from "./body.ts"
import type { App, Exchange } from "./exchange.ts"
import { type HttpRequest, type HttpResponse, isStream } from "./message.ts"

export interface WebApp extends App {
  fetch(request: Request, exchange?: Exchange): Promise<Response>
}

export const webApp = (app: App): WebApp => ({
  ...app,
  fetch: async (request, exchange) =>
    toWebResponse(await app.handle(fromWebRequest(request), exchange), request.method),
})

export const fromWebRequest = (request: Request, remoteAddress?: string): HttpRequest => ({
  method: request.method,
  url: request.url,
  headers: request.headers,
  remoteAddress,
  arrived: () => undefined,
  stream: () => bodyStream(request),
})

export function toWebResponse({ status, headers, body }: HttpResponse, method = "GET"): Response {
  const webHeaders = new Headers()
  for (const [name, values] of Object.entries(headers))
    for (const value of typeof values === "string" ? [values] : values) webHeaders.append(name, value)
  // Converted to bytes, because `Response` would add a content type to a string.
  const bytes = typeof body === "string" ? Buffer.from(body) : (body as Uint8Array<ArrayBuffer> | null)
  const webBody = isStream(body) ? ReadableStream.from(body) : bytes
  return new Response(method === "HEAD" ? null : webBody, { status, headers: webHeaders })
}
