// The page for browsers: at the root, at a workspace's `links.self-html`, and at the URL of a run that `terraform` prints
// (`/app/ORGANIZATION/WORKSPACE/runs/RUN`). It is the same for all of them and does not disclose whether the workspace exists.
import { openAddresses } from "../../contracts/tfe/open-address.ts"
import { escapeHtml, staticPage } from "../http/responses.ts"
import { release } from "../release.ts"
import { addressOf, type OpenRoute } from "./route.ts"

const { home, app, workspaces, workspace, workspaceRun, run, signIn } = openAddresses

export const homeRoutes: readonly OpenRoute[] = [home, app, workspaces, workspace, workspaceRun, run].map(
  (address) => ({
    ...addressOf(address),
    handle: async ({ url }) => staticPage(`Chancery on ${url.host}`, homeBody(url)),
  }),
)

/** Returns the HTML of the page. Its links are relative to the prefix under which a proxy may serve this server. */
function homeBody({ host, pathname }: URL): string {
  const base = escapeHtml(pathname.replace(/\/(app(\/.*)?)?$/, ""))
  return `<h1>Chancery ${escapeHtml(release)}</h1>
<p>The control plane on ${escapeHtml(host)} serves workspaces below <code>/api/v2</code> and certificates below <code>/v1</code>.</p>
<ul>
<li><a href="${base}/readyz">Readiness</a> and <a href="${base}/healthz">liveness</a> of this server</li>
<li><a href="${base}${signIn.path}">How to get an API token</a></li>
<li><a href="${base}/.well-known/terraform.json">Services for Terraform and OpenTofu</a></li>
</ul>
<p>Documentation is in the folder <code>docs</code> of the release and in <code>chancery --help</code>. To show a workspace or a run, use
the command line or the API, for example <code>terraform show</code> or <code>GET /api/v2/runs/ID</code>.</p>`
}

// The page that `terraform login` opens for a token (docs/compatibility.md, "Terraform login"). It is the same for all users:
// it holds no secret, prompts for none, and loads nothing.

export const signInRoutes: readonly OpenRoute[] = [
  {
    ...addressOf(openAddresses.signIn),
    handle: async ({ url }) => staticPage(`An API token for ${url.host}`, signInBody(escapeHtml(url.host))),
  },
]

/** Returns the HTML of the page. `host` comes from the request and must be escaped. */
const signInBody = (host: string): string => `<h1>An API token for ${host}</h1>
<p>The administrator of this server creates tokens with the command <code>chancery</code>, on the server's database:</p>
<pre><code>chancery token create --user NAME --description "terraform login" --expires 90d</code></pre>
<p>It prints the token once. Paste it where <code>terraform login ${host}</code> asks for it; Terraform keeps it in
<code>credentials.tfrc.json</code>.</p>
<p>Users who have a token create others with <code>POST /api/v2/users/ID/authentication-tokens</code>. The ID is in the response to
<code>GET /api/v2/account/details</code>.</p>`
