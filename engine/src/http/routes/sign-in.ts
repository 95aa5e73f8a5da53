// The page that `terraform login` opens for a token (docs/compatibility.md, "Signing in with Terraform"). It is the same for all users:
// it holds no secret, prompts for none, and loads nothing.
import { openAddresses } from "../../contracts/tfe/open-address.ts"
import { addressOf, type OpenRoute } from "../route.ts"
import { escapeHtml, staticPage } from "../static-page.ts"

export const signInRoutes: readonly OpenRoute[] = [
  {
    ...addressOf(openAddresses.signIn),
    handle: async ({ url }) => staticPage(`An API token for ${url.host}`, signInBody(escapeHtml(url.host))),
  },
]

/** `host` is whatever the request says it is, escaped. */
const signInBody = (host: string): string => `<h1>An API token for ${host}</h1>
<p>Tokens are made by whoever runs this server, with the command <code>chancery</code> on its store:</p>
<pre><code>chancery token create --user NAME --description "terraform login" --expires 90d</code></pre>
<p>It prints the token once. Paste it where <code>terraform login ${host}</code> asks for it; Terraform keeps it in
<code>credentials.tfrc.json</code>.</p>
<p>Whoever has a token of their own makes another one with <code>POST /api/v2/users/ID/authentication-tokens</code>; the ID is in
the answer to <code>GET /api/v2/account/details</code>.</p>`
