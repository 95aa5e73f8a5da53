// Terraform Enterprise's Admin Terraform Versions API. `url` and `sha` repeat the entry of `archs` for amd64.
import { z } from "zod"
import { amd64Binary, type TerraformBinary } from "../../workspaces/workspace/terraform-version.ts"
import { instant, nullAsAbsent } from "../codec.ts"
import { computed, document, readOnly, writable } from "./document.ts"
import { contract, created, filledText, nothing, page, resource } from "./endpoint.ts"

const binaries = z.array(z.object({ url: z.string(), sha: z.string(), os: z.string(), arch: z.string() })) as z.ZodType<
  readonly TerraformBinary[]
>

/** Returns an attribute that is a member of the amd64 binary. */
const ofAmd64 = (name: "url" | "sha", rule: string, example: string) => ({
  ...computed(
    z.string().nullable(),
    ({ archs }: { readonly archs: readonly TerraformBinary[] }) => amd64Binary(archs)?.[name] ?? null,
    { rule: `${rule} Short for archs with one entry, for amd64.`, default: null, example },
  ),
  input: z.string().nullable(),
})

export const terraformVersion = document("terraform-versions", {
  id: z.custom<string>(),
  self: (id) => `/api/v2/admin/terraform-versions/${id}`,
  attributes: {
    version: writable(z.string(), {
      required: true,
      rule: "Version, unique on the server: N.N.N, with a suffix for pre-releases and bundles.",
      example: "1.5.7",
    }),
    url: ofAmd64("url", "Address of the zip archive.", "https://releases.example.com/terraform_1.5.7_linux_amd64.zip"),
    sha: ofAmd64(
      "sha",
      "SHA-256 of the zip archive, in hexadecimal.",
      "c0ed7bc32ee52ae255af9982c8c88a7a4c610485cf1d55feeb037eab75fa082c",
    ),
    official: writable(z.boolean(), {
      rule: "A release of HashiCorp. Stored and returned.",
      default: false,
      example: true,
    }),
    deprecated: writable(z.boolean(), { rule: "Workspaces should leave the version.", default: false, example: true }),
    deprecatedReason: writable(z.string().nullable(), {
      rule: "Reason, if the version is deprecated.",
      default: null,
      example: "A defect of its backend",
    }),
    enabled: writable(z.boolean(), { rule: "Workspaces may choose the version.", default: true, example: false }),
    beta: writable(z.boolean(), { rule: "A pre-release.", default: false, example: true }),
    usage: readOnly(z.number(), { rule: "Number of workspaces with exactly this version." }),
    createdAt: readOnly(instant, { rule: "Time of the creation.", example: "2026-11-26T12:00:00.000Z" }),
    archs: writable(binaries, {
      input: nullAsAbsent(binaries),
      rule: "Binaries by architecture, each with url, sha, os and arch. At least one, here or as url and sha.",
      default: [],
      example: [{ url: "https://releases.example.com/arm64.zip", sha: "c0ed…", os: "linux", arch: "arm64" }],
    }),
  },
  relationships: {},
})

const all = "/admin/terraform-versions"
const rights = "Site administrators."

export const terraformVersions = contract({
  list: {
    method: "GET",
    path: all,
    summary: "Lists the versions that workspaces may choose.",
    rights,
    query: {
      version: { parameter: "filter[version]", schema: filledText, rule: "The whole version.", example: "1.5.7" },
      search: {
        parameter: "search[version]",
        schema: filledText,
        rule: "Part of the version; ignored with filter[version].",
        example: "1.5",
      },
    },
    answers: page(terraformVersion),
  },
  create: {
    method: "POST",
    path: all,
    summary: "Creates a version.",
    rights,
    body: terraformVersion.input,
    answers: created(terraformVersion),
  },
  get: {
    method: "GET",
    path: `${all}/:id`,
    summary: "Returns a version.",
    rights,
    answers: resource(terraformVersion),
  },
  update: {
    method: "PATCH",
    path: `${all}/:id`,
    summary: "Changes a version. Attributes left out keep their values.",
    rights,
    body: terraformVersion.patch,
    answers: resource(terraformVersion),
  },
  delete: {
    method: "DELETE",
    path: `${all}/:id`,
    summary: "Deletes a version that no workspace uses.",
    rights,
    answers: nothing,
  },
})
