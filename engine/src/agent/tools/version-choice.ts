// Chooses a version among those that a source has. The syntax is that of `terraform-version` of workspaces.
import { isEngineVersion, resolveEngineVersion, versionOrder } from "../../workspaces/workspace/terraform-version.ts"
import { ToolError } from "./tool-error.ts"

export const isExactVersion = (text: string): boolean => resolveEngineVersion(text, []) === text

/** Throws `ToolError` if the text is not a version, a constraint or `latest`. */
export function assertVersionText(text: string): void {
  if (!isEngineVersion(text))
    throw new ToolError(
      `terraform-version ${JSON.stringify(text)} is invalid; use a version (1.11.4), a constraint (~> 1.11.0) or latest`,
    )
}

/** Sorts oldest first, without duplicates and texts that are not versions. */
export const sortVersions = (versions: Iterable<string>): readonly string[] =>
  [...new Set(versions)].filter(isExactVersion).toSorted((one, other) => {
    const [a, b] = [versionOrder(one), versionOrder(other)]
    return a < b ? -1 : a > b ? 1 : 0
  })

/**
 * Returns the newest version that matches. A pre-release matches only itself, as in HashiCorp's documentation of version constraints
 * (https://developer.hashicorp.com/terraform/language/expressions/version-constraints).
 */
export function chooseVersion(text: string, versions: readonly string[]): string | undefined {
  if (isExactVersion(text)) return versions.includes(text) ? text : undefined
  return resolveEngineVersion(
    text,
    sortVersions(versions).filter((version) => !version.includes("-")),
  )
}
