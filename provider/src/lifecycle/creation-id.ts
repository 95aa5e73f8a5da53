// Identifies the declaration of a resource, so that a resource whose creation response was lost is found again. Each state contains the id
// twice. So programs write only what Pulumi's process for dynamic resources cannot determine: the stack, and a name that is in no argument.
import { maxOrigin, maxOwner, type Values } from "@chancery/engine/declared/shared"
import type { NamingMember } from "./kind-name.ts"

/** Organization name of self-managed backends, such as files or buckets. */
const onlyOrganization = "organization"

const namingMembers = ["name", "path"] as const satisfies readonly NamingMember[]

export interface Place {
  readonly organization: string
  readonly project: string
  readonly stack: string
}

/** Returns the short form: `prod`, `acme/prod`, or `prod:api` if no argument has the name. Stack names contain no colon. */
export function formatCreationId(
  { organization, stack }: Omit<Place, "project">,
  name: string,
  inputs: Values,
): string {
  const place = organization === onlyOrganization ? stack : `${organization}/${stack}`
  return namedBy(inputs) === name ? place : `${place}:${name}`
}

/** Returns the full id, such as `pulumi:acme/site/prod/api`. It is unique to a resource. */
export function completeCreationId(written: unknown, project: string, inputs: Values): string {
  const { organization, stack, resourceName } = parseCreationId(written)
  const name = resourceName ?? namedBy(inputs) ?? ""
  return `pulumi:${organization}/${project}/${stack}/${name}`.slice(0, maxOrigin)
}

const ownerKind = "pulumi:"

/**
 * Returns the owner of tags that a stack's resources write (docs/tag-owners.md), such as `pulumi:site/prod`. The format must never change,
 * since stacks recognize their tags by it. Long names are truncated at the start of the project. Returns undefined if the marker has no
 * stack, as for resources that are read by id.
 */
export function ownerOf(written: unknown, project: string): string | undefined {
  const { stack } = parseCreationId(written)
  if (stack === "" || project === "") return undefined
  return `${ownerKind}${`${project}/${stack}`.slice(ownerKind.length - maxOwner)}`
}

function parseCreationId(written: unknown) {
  const [, organization = onlyOrganization, stack = "", resourceName] =
    /^(?:([^/:]*)\/)?([^:]*)(?::(.*))?$/s.exec(typeof written === "string" ? written : "") ?? []
  return { organization, stack, resourceName }
}

const namedBy = (inputs: Values): string | undefined =>
  namingMembers.map((name) => inputs[name]).find((value) => typeof value === "string")
