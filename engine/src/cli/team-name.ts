import { usageError } from "./exit-code.ts"

export interface TeamName {
  readonly organization: string
  readonly team: string
}

/** Parses the value of `--team`, such as `acme/owners`. Throws a usage error otherwise. */
export function parseTeamName(text: string): TeamName {
  const [, organization, team] = /^([^/]+)\/(.+)$/.exec(text) ?? []
  if (organization === undefined || team === undefined) {
    throw usageError("--team must contain the organization and the team, such as acme/owners.")
  }
  return { organization, team }
}
