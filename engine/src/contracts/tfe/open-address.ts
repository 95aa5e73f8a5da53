// Endpoints without a token: they disclose nothing that needs one, or their URL contains a credential. Paths are from the root.
import { bytes, contract, nothing, requiredText, wholeNumber } from "./endpoint.ts"

const rights = "None."
const page = bytes("text/html; charset=utf-8")
const pageAt = <const Path extends string>(path: Path, summary: string) =>
  ({ method: "GET", path, summary, rights, answers: page }) as const

export const openAddresses = contract({
  discovery: {
    method: "GET",
    path: "/.well-known/terraform.json",
    summary: "Returns the paths of the API, for Terraform and OpenTofu.",
    rights,
    answers: bytes("application/json"),
  },
  ping: {
    method: "GET",
    path: "/api/v2/ping",
    summary: "Returns the version of the API in the header TFP-API-Version.",
    rights,
    answers: nothing,
  },
  signIn: pageAt("/app/settings/tokens", "Returns the page that terraform login opens for a token."),
  home: pageAt("/", "Returns the page for browsers."),
  app: pageAt("/app", "Returns the same page."),
  workspaces: pageAt("/app/:organization_name/workspaces", "Returns the same page, whatever the name is."),
  workspace: pageAt(
    "/app/:organization_name/workspaces/:workspace_name",
    "Returns the same page at self-html of a workspace.",
  ),
  workspaceRun: pageAt(
    "/app/:organization_name/workspaces/:workspace_name/runs/:run_id",
    "Returns the same page at the address of a run.",
  ),
  run: pageAt("/app/:organization_name/:workspace_name/runs/:run_id", "Returns the same page at the address of a run."),
})

const credential = {
  parameter: "credential",
  schema: requiredText("credential"),
  rule: "Credential, as in the address that the API returned.",
  example: "7kLmQ3pVJqvFzamy",
  required: true as const,
}
const signed = "The credential in the address."

/** Endpoints whose URL contains the credential. Downloads of states have the same path with a credential and with a token. */
export const signedAddresses = contract({
  uploadState: {
    method: "PUT",
    path: "/uploads/state-versions/:state_version_id/:document",
    summary: "Uploads the state (state), or the tool's rendering of it (json-state), of a state version.",
    rights: signed,
    query: { credential },
    bytes: {},
    answers: nothing,
  },
  uploadConfiguration: {
    method: "PUT",
    path: "/uploads/configuration-versions/:configuration_version_id",
    summary: "Uploads the archive of a configuration version.",
    rights: signed,
    query: { credential },
    bytes: {},
    answers: nothing,
  },
  readLog: {
    method: "GET",
    path: "/logs/:id/:credential",
    summary: "Returns the log of a plan or an apply, as far as it is.",
    rights: signed,
    query: {
      offset: {
        parameter: "offset",
        schema: wholeNumber("offset"),
        rule: "Number of bytes to leave out; 0 by default.",
        example: 4096,
      },
      limit: {
        parameter: "limit",
        schema: wholeNumber("limit"),
        rule: "Maximum number of bytes; 1 MiB by default.",
        example: 65536,
      },
    },
    answers: bytes("text/plain; charset=utf-8"),
  },
})
