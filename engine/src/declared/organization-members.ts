// Members that several workspace resources have.
import { member, required } from "./members.ts"
import { filledText, oneOf } from "./types.ts"

export const organizationMember = (description: string) =>
  required(filledText, description, {
    providedBy: "configuration",
    defaultText: "`chancery:organization`",
    forcesReplacement: true,
  })

/** Returns the member that names the workspace of a resource. A change forces replacement. */
export const workspaceMember = (description: string) => required(filledText, description, { forcesReplacement: true })

export const modeMember = (description: string) =>
  member(oneOf("additive", "exclusive"), description, { default: "additive" })
