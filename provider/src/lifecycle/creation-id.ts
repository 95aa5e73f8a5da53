// Who declares a resource, so that a creation whose answer was lost is known again. Every state has it twice, so a program says
// only what Pulumi's process for dynamic resources cannot find out by itself: the stack, and a name that no argument says.
import { originMaximum, ownerMaximum, type Values } from "@chancery/engine/declared/shared"
import type { NamingMember } from "./kinds.ts"

/** What a file or a bucket for a backend calls its only organization. */
const onlyOrganization = "organization"

const namingMembers = ["name", "path"] as const satisfies readonly NamingMember[]

export interface Place {
  readonly organization: string
  readonly project: string
  readonly stack: string
}

/** `prod`, `acme/prod`, or where no argument has the name, `prod:api`. A stack has no colon in its name. */
export function writtenMarker({ organization, stack }: Omit<Place, "project">, name: string, inputs: Values): string {
  const place = organization === onlyOrganization ? stack : `${organization}/${stack}`
  return namedBy(inputs) === name ? place : `${place}:${name}`
}

/** `pulumi:acme/site/prod/api`: of one resource, and of no other. */
export function wholeMarker(written: unknown, project: string, inputs: Values): string {
  const { organization, stack, said } = readMarker(written)
  const name = said ?? namedBy(inputs) ?? ""
  return `pulumi:${organization}/${project}/${stack}/${name}`.slice(0, originMaximum)
}

const ownerKind = "pulumi:"

/**
 * `pulumi:site/prod`: who holds the tags that a stack's resources write (docs/tag-owners.md). For ever, or a stack would no longer
 * know its own. The stack is told whole, and of a project with a very long name the end. Undefined where the marker says no stack:
 * of what is read by its id alone.
 */
export function ownerOf(written: unknown, project: string): string | undefined {
  const { stack } = readMarker(written)
  if (stack === "" || project === "") return undefined
  return `${ownerKind}${`${project}/${stack}`.slice(ownerKind.length - ownerMaximum)}`
}

function readMarker(written: unknown) {
  const [, organization = onlyOrganization, stack = "", said] =
    /^(?:([^/:]*)\/)?([^:]*)(?::(.*))?$/s.exec(typeof written === "string" ? written : "") ?? []
  return { organization, stack, said }
}

const namedBy = (inputs: Values): string | undefined =>
  namingMembers.map((name) => inputs[name]).find((value) => typeof value === "string")
