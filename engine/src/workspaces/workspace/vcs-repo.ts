// VCS connection of a workspace: `null` removes it, an object changes only its own members.
import type { Fault } from "../../core/errors.ts"
import { tokenNotAdmitted } from "../../organizations/vcs-connection.ts"
import type { Checked } from "../access/workspace-authorization.ts"
import type { VcsRepoInput } from "./workspace-input.ts"
import type { VcsRepo } from "./workspace.ts"

/** Existence of the referenced connections in the workspace's organization. */
export interface VcsConnectionFacts {
  readonly oauthTokenExists: boolean
  /** True if workspaces of the project may use the token. */
  readonly oauthTokenAdmits: boolean
  readonly appInstallationExists: boolean
}

const maxIdentifier = 512
const maxBranch = 255
const maxRegex = 512

export function changeVcsRepo(
  before: VcsRepo | null,
  input: VcsRepoInput | null | undefined,
  facts: VcsConnectionFacts,
): Checked<VcsRepo | null> {
  if (input === undefined) return { value: before, faults: [] }
  if (input === null) return { value: null, faults: [] }
  const connection = chooseConnection(before, input)
  const value: VcsRepo = {
    identifier: input.identifier ?? before?.identifier ?? "",
    ...connection,
    branch: input.branch === undefined ? (before?.branch ?? "") : (input.branch ?? ""),
    ingressSubmodules: input.ingressSubmodules ?? before?.ingressSubmodules ?? false,
    tagsRegex: input.tagsRegex === undefined ? (before?.tagsRegex ?? null) : input.tagsRegex || null,
  }
  return {
    value,
    faults: [
      ...identifierFaults(value.identifier),
      ...connectionFaults(value, input, facts),
      ...branchFaults(value.branch),
      ...regexFaults(value.tagsRegex),
    ],
  }
}

/** Returns the connection after the change. Setting one kind of connection replaces the other. */
function chooseConnection(before: VcsRepo | null, input: VcsRepoInput) {
  const { oauthTokenId, githubAppInstallationId } = input
  if (oauthTokenId) return { oauthTokenId, githubAppInstallationId: null }
  if (githubAppInstallationId) return { oauthTokenId: null, githubAppInstallationId }
  return {
    oauthTokenId: oauthTokenId === undefined ? (before?.oauthTokenId ?? null) : null,
    githubAppInstallationId: githubAppInstallationId === undefined ? (before?.githubAppInstallationId ?? null) : null,
  }
}

function connectionFaults(repo: VcsRepo, input: VcsRepoInput, facts: VcsConnectionFacts): Fault[] {
  const faults: Fault[] = []
  if (input.oauthTokenId && input.githubAppInstallationId)
    faults.push({
      field: ["vcsRepo", "githubAppInstallationId"],
      detail: "GitHub App installation and OAuth token cannot be specified at the same time",
    })
  if (repo.oauthTokenId === null && repo.githubAppInstallationId === null)
    faults.push({
      field: ["vcsRepo", "oauthTokenId"],
      detail: "OAuth token or GitHub App installation must be specified for a VCS repository",
    })
  if (input.oauthTokenId && !facts.oauthTokenExists)
    faults.push({ field: ["vcsRepo", "oauthTokenId"], detail: "OAuth token does not exist in this organization" })
  else if (input.oauthTokenId && !facts.oauthTokenAdmits)
    faults.push({ field: ["vcsRepo", "oauthTokenId"], detail: tokenNotAdmitted })
  if (input.githubAppInstallationId && !facts.appInstallationExists)
    faults.push({
      field: ["vcsRepo", "githubAppInstallationId"],
      detail: "GitHub App installation does not exist in this organization",
    })
  return faults
}

/** Accepts `:org/:repo`, `:group/:subgroup/:repo` and `:org/:project/_git/:repo`. */
function identifierFaults(identifier: string): Fault[] {
  const field = ["vcsRepo", "identifier"]
  if (identifier === "") return [{ field, detail: "Identifier can't be blank" }]
  if (identifier.length > maxIdentifier) return [{ field, detail: tooLong("Identifier", maxIdentifier) }]
  const parts = identifier.split("/")
  const wellFormed =
    parts.length >= 2 && parts.every((part) => /^[\w.~+ -]+$/.test(part) && part.trim() === part && !/^\.+$/.test(part))
  return wellFormed ? [] : [{ field, detail: "Identifier must have the form :org/:repo" }]
}

function branchFaults(branch: string): Fault[] {
  const field = ["vcsRepo", "branch"]
  if (branch.length > maxBranch) return [{ field, detail: tooLong("Branch", maxBranch) }]
  // Git refuses these in a reference name.
  return /[\s\p{Cc}~^:?*[\\]|\.\./u.test(branch) ? [{ field, detail: "Branch is not a valid branch name" }] : []
}

function regexFaults(regex: string | null): Fault[] {
  if (regex === null) return []
  const field = ["vcsRepo", "tagsRegex"]
  if (regex.length > maxRegex) return [{ field, detail: tooLong("Tags regex", maxRegex) }]
  return compiles(regex) ? [] : [{ field, detail: "Tags regex is not a valid regular expression" }]
}

/** Patterns come in the dialects of Ruby and Go, which write inline flags and named groups differently. */
function compiles(regex: string): boolean {
  try {
    return new RegExp(regex.replace(/^\(\?[ims]+\)/, "").replaceAll("(?P<", "(?<")) instanceof RegExp
  } catch {
    return false
  }
}

const tooLong = (name: string, maximum: number) => `${name} is too long (maximum is ${maximum} characters)`
