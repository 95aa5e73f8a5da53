// Where `terraform login` sends people for a token (workspace-facts 2.5). The page is the same for everybody: it holds no secret,
// asks for none, and loads nothing.
import type { OpenRoute } from "../route.ts"

const path = "/app/settings/tokens"

export const signInRoutes: readonly OpenRoute[] = [
  {
    method: "GET",
    path,
    handle: async ({ url }) => ({
      status: 200,
      text: page(url.host),
      headers: {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
      },
    }),
  },
]

/** `host` is whatever the request says it is. */
const page = (host: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>An API token for ${escaped(host)}</title>
</head>
<body>
<h1>An API token for ${escaped(host)}</h1>
<p>Tokens are made by whoever runs this server, with the command <code>chancery</code> on its store:</p>
<pre><code>chancery token create --user NAME --description "terraform login" --expires 90d</code></pre>
<p>It prints the token once. Paste it where <code>terraform login ${escaped(host)}</code> asks for it; Terraform keeps it in
<code>credentials.tfrc.json</code>.</p>
<p>Whoever has a token of their own makes another one with <code>POST /api/v2/users/ID/authentication-tokens</code>; the ID is in
the answer to <code>GET /api/v2/account/details</code>.</p>
</body>
</html>
`

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? "")
