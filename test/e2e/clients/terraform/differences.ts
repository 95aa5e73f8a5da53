// Differences in behaviour between Terraform and OpenTofu against the same server.
import type { TerraformProgram } from "../../../toolchain/terraform.ts"

interface ToolDifferences {
  /** True if `tags` of a configuration may be a map. */
  readonly tagsWithValues: boolean
  /** True if the tool compares the tags of a workspace with those of the configuration on every command. */
  readonly readsTags: boolean
  /** True if the tool writes a tag without a value again unless it is both a flat tag and a binding (hashicorp/terraform#39107). */
  readonly wantsTagsTwice: boolean
  /** Request that adds a tag to an existing workspace. */
  readonly addsTags: { readonly method: string; readonly path: string }
}

export const habits: Readonly<Record<TerraformProgram["kind"], ToolDifferences>> = {
  terraform: {
    tagsWithValues: true,
    readsTags: true,
    wantsTagsTwice: true,
    addsTags: { method: "PATCH", path: "tag-bindings" },
  },
  opentofu: {
    tagsWithValues: false,
    readsTags: false,
    wantsTagsTwice: false,
    addsTags: { method: "POST", path: "relationships/tags" },
  },
}
