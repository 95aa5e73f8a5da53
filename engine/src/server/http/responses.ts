import type { ApiResponse } from "../tfe/route.ts"
import { isPkiPath } from "./exchange.ts"
import { type HttpResponse, respond } from "./message.ts"

/** Statuses without a body. A client can choose the status of a health check, so these occur. */
const bodilessStatuses = [204, 205, 304]

/** Returns a JSON response of the certificate API, which caches must not store. */
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

/**
 * Returns an error in plain text, for protocols whose clients show it to people. A 401 asks for a user name and a password (RFC 7617). It has
 * no text: Bouncy Castle discards a challenge unread, and fails if it has a body.
 */
export function plainError(
  status: number,
  errors: readonly string[],
  method: string,
  headers: Readonly<Record<string, string>>,
): HttpResponse {
  if (status === 401) {
    const challenge = { "www-authenticate": 'Basic realm="EST", charset="UTF-8"', "cache-control": "no-store" }
    return respond(null, { status, headers: { ...challenge, ...headers } })
  }
  return respond(method === "HEAD" ? null : `${errors.join("\n")}\n`, {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", ...headers },
  })
}

/** Returns an error that occurred outside the routes, in the format of the API that the path belongs to. */
export function errorAnswer(path: string, status: number, title: string, detail: string): HttpResponse {
  if (isPkiPath(path))
    return respond(JSON.stringify({ errors: [detail] }), { status, headers: { "content-type": "application/json" } })
  return respond(errorDocument(status, title, detail), {
    status,
    headers: { "content-type": "application/vnd.api+json" },
  })
}

/** Returns a JSON:API error document. */
export const errorDocument = (status: number, title: string, detail: string): string =>
  JSON.stringify({ errors: [{ status: String(status), title, detail }] })

// Static pages are equal for every client: they contain no user data, load nothing and run no scripts.

const headers: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
}

/** Returns an HTML page. `title` is plain text and is escaped; `body` is HTML. */
export const staticPage = (title: string, body: string): ApiResponse => ({
  status: 200,
  headers,
  text: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
</head>
<body>
${body}
</body>
</html>
`,
})

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? "")
