// Terraform Enterprise's Admin Terraform Versions API. `url` and `sha` repeat the entry of `archs` for amd64.
import { z } from "zod"
import { formatInstant } from "../../core/time.ts"
import {
  amd64Binary,
  type TerraformVersionFilter,
  type TerraformVersionInput,
  type TerraformVersionView,
} from "../../workspaces/terraform-version.ts"
import { MembersReader, readResource } from "./answer.ts"
import { decodeDocument, encodeDocument, type RequestDocument, type Resource } from "./document.ts"
import { given } from "./given.ts"
import { dashedMembers } from "./member-name.ts"

export function encodeTerraformVersion(version: TerraformVersionView): Resource {
  const { id, archs } = version
  const amd64 = amd64Binary(archs)
  return {
    id,
    type: "terraform-versions",
    attributes: {
      version: version.version,
      url: amd64?.url ?? null,
      sha: amd64?.sha ?? null,
      official: version.official,
      deprecated: version.deprecated,
      "deprecated-reason": version.deprecatedReason,
      enabled: version.enabled,
      beta: version.beta,
      usage: version.usage,
      "created-at": formatInstant(version.createdAt),
      archs: archs.map(({ url, sha, os, arch }) => ({ url, sha, os, arch })),
    },
    links: { self: `/api/v2/admin/terraform-versions/${id}` },
  }
}

const settings = z.object({
  url: z.string().nullish(),
  sha: z.string().nullish(),
  archs: z.array(z.object({ url: z.string(), sha: z.string(), os: z.string(), arch: z.string() })).nullish(),
  official: z.boolean().optional(),
  deprecated: z.boolean().optional(),
  "deprecated-reason": z.string().nullish(),
  enabled: z.boolean().optional(),
  beta: z.boolean().optional(),
})
const input = z.object({ attributes: settings.extend({ version: z.string() }) })
const patch = z.object({ attributes: settings.extend({ version: z.string().optional() }).prefault({}) })
const types = { types: ["terraform-versions"] }

export function decodeTerraformVersionInput(body: unknown): TerraformVersionInput {
  const { attributes } = decodeDocument(body, input, types)
  return { ...toPatch(attributes), version: attributes.version }
}

export const decodeTerraformVersionPatch = (body: unknown): Partial<TerraformVersionInput> =>
  toPatch(decodeDocument(body, patch, types).attributes)

const toPatch = ({
  archs,
  "deprecated-reason": deprecatedReason,
  ...members
}: z.infer<typeof patch>["attributes"]): Partial<TerraformVersionInput> =>
  given({ ...members, archs: archs ?? undefined, deprecatedReason })

export const decodeTerraformVersionFilter = (query: URLSearchParams): TerraformVersionFilter =>
  given({
    version: query.get("filter[version]") || undefined,
    search: query.get("search[version]") || undefined,
  })

/** The other direction of `decodeTerraformVersionFilter`. */
export const encodeTerraformVersionFilter = ({
  version,
  search,
}: TerraformVersionFilter): readonly (readonly [string, string | undefined])[] => [
  ["filter[version]", version],
  ["search[version]", search],
]

/** The other direction of `encodeTerraformVersion`. */
export function decodeTerraformVersion(resource: unknown): TerraformVersionView {
  const { id, attributes: own } = readResource(resource, "terraform-versions")
  return {
    id,
    version: own.text("version"),
    archs: own.list("archs").map((entry) => {
      const binary = new MembersReader(entry, "terraform-versions.archs")
      return {
        url: binary.text("url"),
        sha: binary.text("sha"),
        os: binary.text("os"),
        arch: binary.text("arch"),
      }
    }),
    official: own.flag("official"),
    deprecated: own.flag("deprecated"),
    deprecatedReason: own.textOrNull("deprecatedReason"),
    enabled: own.flag("enabled"),
    beta: own.flag("beta"),
    usage: own.number("usage"),
    createdAt: own.instant("createdAt"),
  }
}

/** Of an input as well as of a patch. */
export const encodeTerraformVersionPatch = (patch: Partial<TerraformVersionInput>): RequestDocument =>
  encodeDocument("terraform-versions", dashedMembers(patch))
