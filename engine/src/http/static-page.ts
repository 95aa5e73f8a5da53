// Pages that are the same for every client: they hold no data of users, load nothing and run no script.
import type { ApiResponse } from "./route.ts"

const headers: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
}

/** `title` is text, `body` is HTML. */
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
