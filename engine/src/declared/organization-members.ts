// Members that several kinds around workspaces have.
import { member, required } from "./members.ts"
import { filledText, oneOf } from "./types.ts"

export const organizationMember = (description: string) =>
  required(filledText, description, {
    providedBy: "configuration",
    defaultText: "`chancery:organization`",
    forcesReplacement: true,
  })

/** The resource is a part of it. */
export const workspaceMember = (description: string) => required(filledText, description, { forcesReplacement: true })

export const modeMember = (description: string) =>
  member(oneOf("additive", "exclusive"), description, { default: "additive" })
