import type { ToolKind } from "../agent/tools/index.ts"

export const developmentOrganization = "default"

/** Relative to the working directory: found if the command runs in a clone of the repository. */
export const defaultManifests = "examples/manifests"

export interface DevOptions {
  readonly manifests?: string | undefined
  /** True if no tool was named. */
  readonly agent?: ToolKind | true | undefined
}
