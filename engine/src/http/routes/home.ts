// The page for browsers: at the root, at a workspace's `links.self-html`, and at the address of a run that `terraform` prints
// (`/app/ORGANIZATION/WORKSPACE/runs/RUN`). It is the same for all of them and does not say whether such a workspace exists.
import { openAddresses } from "../../contracts/tfe/open-address.ts"
import { release } from "../release.ts"
import { addressOf, type OpenRoute } from "../route.ts"
import { escapeHtml, staticPage } from "../static-page.ts"

const { home, app, workspaces, workspace, workspaceRun, run, signIn } = openAddresses

export const homeRoutes: readonly OpenRoute[] = [home, app, workspaces, workspace, workspaceRun, run].map(
  (address) => ({
    ...addressOf(address),
    handle: async ({ url }) => staticPage(`Chancery on ${url.host}`, homeBody(url)),
  }),
)

/** A proxy may serve this server below a path. */
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
