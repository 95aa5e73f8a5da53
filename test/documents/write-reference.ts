// Writes docs/reference/ from the contracts; with --check, fails if a page differs from the output.
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { acme, directoryPaths } from "../../engine/src/contracts/acme/directory.ts"
import type { AcmeEndpoint } from "../../engine/src/contracts/acme/endpoint.ts"
import type { Json } from "../../engine/src/contracts/openapi.ts"
import type { Definition } from "../../engine/src/contracts/tfe/document.ts"
import type * as tfe from "../../engine/src/contracts/tfe/endpoint.ts"
import { type Resource as TfeResource, tfeResources } from "../../engine/src/contracts/tfe/index.ts"
import { openAddresses, signedAddresses } from "../../engine/src/contracts/tfe/open-address.ts"
import { requestSchema, resourceSchema } from "../../engine/src/contracts/tfe/openapi.ts"
import type * as vault from "../../engine/src/contracts/vault/endpoint.ts"
import { keyPage } from "../../engine/src/contracts/vault/endpoint.ts"
import { type Above, type Resource as VaultResource, vaultResources } from "../../engine/src/contracts/vault/index.ts"
import type { Table } from "../../engine/src/contracts/vault/record.ts"
import type { FieldType } from "../../engine/src/contracts/vault/types.ts"
import { declaredResources, defaultTextOf, type Definition as Declared } from "../../engine/src/declared/index.ts"
import { tableOf } from "./markdown-table.ts"

const folder = new URL("../../docs/reference/", import.meta.url)
const generated = "Written from the contract of the endpoints by `npm run docs:reference`; do not edit."

const code = (value: unknown): string => (value === undefined ? "" : `\`${JSON.stringify(value)}\``)
/** Placeholders are shown as code, because both are markup otherwise: `<name>` of HTML, `{{name}}` of the website's pages. */
const sentence = (text: string): string =>
  text
    .replaceAll("*", "\\*")
    .replaceAll("|", "\\|")
    .replaceAll(/<oid>;UTF8:<value>|\{\{\w+\}\}|[\w/.:-]*<\w+>/g, "`$&`")

/** Describes the type of a JSON Schema in words. */
function typeOf(schema: Json): string {
  if (Array.isArray(schema["enum"])) return schema["enum"].map((value) => `\`${String(value)}\``).join(" or ")
  if (Array.isArray(schema["anyOf"])) return schema["anyOf"].map((one) => typeOf(one as Json)).join(" or ")
  const types = [schema["type"] ?? "any"].flat().map(String)
  return types.map((type) => (type === "array" ? "list" : type)).join(" or ")
}
const memberOf = (schema: Json, ...names: readonly string[]): Readonly<Record<string, Json>> =>
  names.reduce<unknown>((value, name) => (value as Json)[name], schema) as Readonly<Record<string, Json>>

function attributeRows(definition: Definition, create: tfe.Endpoint["body"]): readonly (readonly string[])[] {
  const sent = create === undefined ? {} : memberOf(requestSchema(create), ...data, "attributes")
  const required: readonly unknown[] = [sent["required"] ?? []].flat()
  return Object.entries(memberOf(resourceSchema(definition), "properties", "attributes", "properties")).map(
    ([name, schema]) => [
      `\`${name}\``,
      typeOf(schema),
      schema["readOnly"] === true
        ? "read-only"
        : required.some((one) => one === name)
          ? "required"
          : code(schema["default"]),
      sentence(String(schema["description"])),
      code([schema["examples"]].flat()[0]),
    ],
  )
}
const data = ["properties", "data", "properties"] as const

/** Lists the members of attributes that are objects. */
const memberLists = (definition: Definition): readonly string[] =>
  Object.entries(memberOf(resourceSchema(definition), "properties", "attributes", "properties")).flatMap(
    ([name, { properties: own, anyOf }]) => {
      const properties = own ?? ([anyOf].flat()[0] as Json | undefined)?.["properties"]
      return typeof properties !== "object" || properties === null
        ? []
        : [
            `Members of \`${name}\`: ${Object.keys(properties)
              .map((one) => `\`${one}\``)
              .join(", ")}.`,
          ]
    },
  )

const relationshipRows = (definition: Definition): readonly (readonly string[])[] =>
  Object.entries(memberOf(resourceSchema(definition), "properties", "relationships", "properties")).map(
    ([name, { description, properties }]) => {
      const linkage = (properties as Readonly<Record<string, Json>> | undefined)?.["data"]
      const types = [...JSON.stringify(linkage ?? {}).matchAll(/"(?:const|enum)":(?:"([a-z-]+)"|\["([a-z",-]+)"\])/g)]
      const type = types.flatMap(([, one, several]) => one ?? several?.split('","') ?? []).join("` or `")
      const resources = type === "" ? "link" : `\`${type}\`${linkage?.["type"] === "array" ? ", a list" : ""}`
      return [`\`${name}\``, resources, sentence(String(description))]
    },
  )

const queryRows = (contract: tfe.Contract): readonly (readonly string[])[] =>
  Object.values(contract).flatMap(({ method, path, query = {} }) =>
    Object.values(query).map(({ parameter, rule, example, required }) => [
      `\`${method} ${path}\``,
      `\`${parameter}\``,
      `${sentence(rule)}${required === true ? " Required." : ""}`,
      `\`${String(example)}\``,
    ]),
  )

const headerRows = (contract: tfe.Contract): readonly (readonly string[])[] =>
  Object.values(contract).flatMap(({ method, path, headers = {} }) =>
    Object.entries(headers).map(([header, { rule, example }]) => [
      `\`${method} ${path}\``,
      `\`${header}\``,
      sentence(rule),
      `\`${String(example)}\``,
    ]),
  )

const section = (title: string, rows: readonly (readonly string[])[], header: readonly string[], note = ""): string =>
  rows.length === 0 ? "" : `\n## ${title}\n\n${tableOf(header, rows)}\n${note === "" ? "" : `\n${note}\n`}`

/** Renders the page of a contract, with its documents. */
function tfePage(
  { title, contracts, documents }: TfeResource,
  introduction = "Paths are relative to `/api/v2`. [permissions.md](../permissions.md) lists the required permissions.",
): string {
  const contract = joined<tfe.Endpoint>(contracts)
  return `# ${title}

${generated}

## Endpoints

${introduction}

${tableOf(
  ["Endpoint", "Description", "Required permission"],
  Object.values(contract).map(({ method, path, summary, rights }) => [
    `\`${method} ${path}\``,
    sentence(summary),
    sentence(rights),
  ]),
)}
${section("Query parameters", queryRows(contract), ["Endpoint", "Parameter", "Rule", "Example"])}${section(
    "Headers",
    headerRows(contract),
    ["Endpoint", "Header", "Rule", "Example"],
  )}${
    Object.values(contract).some(({ answers }) => answers.paged === true)
      ? "\nLists have pages: `page[number]` and `page[size]`, at most 100.\n"
      : ""
  }${documents
    .map(({ title: name, document, create }) => {
      const suffix = documents.length === 1 ? "" : ` of ${name}`
      return `${section(
        `Attributes${suffix}`,
        attributeRows(document, create),
        ["Field", "Type", "Default", "Rule", "Example"],
        memberLists(document).join("\n\n"),
      )}${section(`Relationships${suffix}`, relationshipRows(document), ["Field", "Resources", "Rule"])}`
    })
    .join("")}`
}

const typeNames: Readonly<Partial<Record<FieldType, string>>> = { "duration (sec)": "duration", slice: "list" }
const methods = { read: "GET", write: "POST", patch: "PATCH", list: "LIST", delete: "DELETE" } as const

const parameterRows = ({ members }: Table): readonly (readonly string[])[] =>
  members.map(({ wireName, kind, note }) => [
    `\`${wireName}\``,
    typeNames[kind.type] ?? kind.type,
    code(note?.default),
    sentence(note?.rule ?? ""),
    code(note?.example),
  ])

const basePaths: Readonly<Record<Above, string>> = {
  root: "/v1",
  mount: "/v1/<mount>",
  approle: "/v1/auth/<method>",
  cert: "/v1/auth/<method>",
  kubernetes: "/v1/auth/<method>",
  userpass: "/v1/auth/<method>",
}

function vaultPage({ title, below, introduction, contracts, record }: VaultResource): string {
  const contract = joined<vault.Endpoint>(contracts)
  return record === undefined
    ? pageOfTables(title, contract, introduction, basePaths[below])
    : pageOfRecord(title, record, contract, introduction)
}

const pageOfRecord = (
  title: string,
  { table, constants = {} }: vault.AnswerRecord,
  contract: vault.Contract,
  introduction: string,
): string => `# ${title}

${generated}

## Endpoints

Paths are relative to \`/v1/<mount>\`. [permissions.md](../permissions.md) lists the required permissions.

${tableOf(
  ["Endpoint", "Description", "Required capability"],
  Object.values(contract).map(({ operation, path, summary, rights }) => [
    `\`${methods[operation]} ${path}\``,
    sentence(summary),
    sentence(rights),
  ]),
)}

## Parameters

${introduction}

Lists are JSON arrays, or one string with commas. Durations are strings such as \`90s\`, \`1h30m\` and \`7d\`, or whole seconds. Booleans
and integers may be strings.

${tableOf(["Parameter", "Type", "Default", "Rule", "Example"], parameterRows(table))}
${Object.entries(constants)
  .map(
    ([name, value]) => `\nAnswers have \`${name}\` as well, which is always ${JSON.stringify(value)}, as in Vault.\n`,
  )
  .join("")}`

/** Renders a page of endpoints of several resources or tables, with a section for every table of parameters or members. */
const pageOfTables = (
  title: string,
  contract: vault.Contract,
  introduction: string,
  base: string,
): string => `# ${title}

${generated}

${introduction}

## Endpoints

Paths are relative to \`${base}\`. [permissions.md](../permissions.md) lists the required permissions.

${tableOf(
  ["Endpoint", "Description", "Required capability"],
  Object.values(contract).map((endpoint) => [
    [endpoint.path, ...(endpoint.alsoAt ?? [])].map((path) => `\`${addressOf({ ...endpoint, path })}\``).join(", "),
    sentence(endpoint.summary),
    endpoint.open === true ? "none; no token is needed" : sentence(endpoint.rights),
  ]),
)}

${[
  ...sections("Parameters of", contract, ({ body }) =>
    body === undefined || body.table === keyPage.table ? [] : [body.table],
  ),
  ...sections("Members of objects in", contract, ({ body }) => body?.nested ?? []),
  ...sections("Answers of", contract, ({ body, answers }) =>
    answers.record === undefined || answers.record.table === body?.table ? [] : [answers.record.table],
  ),
  `Lists in requests are JSON arrays, or one string with commas. Durations are strings such as \`90s\`, \`1h30m\` and \`7d\`, or whole seconds.
Booleans and integers may be strings. LIST takes \`after\` (a key to begin behind) and \`limit\`.`,
].join("\n\n")}
`

const addressOf = ({ operation, path }: vault.Endpoint): string => `${methods[operation]} ${path}`

function sections(
  heading: string,
  contract: vault.Contract,
  tablesIn: (endpoint: vault.Endpoint) => readonly Table[],
): readonly string[] {
  const tables = new Map<Table, vault.Endpoint[]>()
  for (const endpoint of Object.values(contract))
    for (const table of tablesIn(endpoint)) tables.set(table, [...(tables.get(table) ?? []), endpoint])
  return [...tables].map(([table, [first, ...others]]) =>
    [
      `## ${heading} \`${first === undefined ? "" : addressOf(first)}\``,
      ...(others.length === 0 ? [] : [`Also of ${others.map((one) => `\`${addressOf(one)}\``).join(", ")}.`]),
      tableOf(["Member", "Type", "Default", "Rule", "Example"], parameterRows(table)),
    ].join("\n\n"),
  )
}

/** Joins several contracts for one page. */
const joined = <Endpoint>(
  contracts: Readonly<Record<string, Readonly<Record<string, Endpoint>>>>,
): Readonly<Record<string, Endpoint>> =>
  Object.fromEntries(
    Object.entries(contracts).flatMap(([prefix, contract]) =>
      Object.entries(contract).map(([name, endpoint]) => [`${prefix}.${name}`, endpoint]),
    ),
  )

/** Renders the page of the endpoints below the ACME directories of a mount. */
const acmePage = (): string => `# ACME

${generated}

A directory of a mount is an ACME server (RFC 8555). Its addresses are in the answer of \`GET /directory\`. Paths below are relative to a
directory, which is one of ${directoryPaths.map((path) => `\`/v1/<mount>${path}\``).join(", ")}.
GET is open. POST is a JWS, signed as the table says; without payload it is a POST-as-GET (section 6.3).
Settings, limits and clients are explained in [acme.md](../acme.md).

## Endpoints

${tableOf(
  ["Endpoint", "Description", "Signed by", "Payload"],
  Object.values<AcmeEndpoint>(acme).map(({ method, path, summary, signer, payload, payloadOptional }) => [
    `\`${method} ${path}\``,
    sentence(summary),
    signer === undefined ? "" : `key of the ${signer}`.replace("key of the new key", "new key"),
    payload === undefined ? "" : payloadOptional === true ? "optional" : "required",
  ]),
)}

${Object.values<AcmeEndpoint>(acme)
  .filter(({ payload }) => Object.keys(payload?.members ?? {}).length > 0)
  .map(({ method, path, payload }) =>
    [
      `## Payload of \`${method} ${path}\``,
      tableOf(
        ["Member", "Type", "Default", "Rule", "Example"],
        Object.entries(payload?.members ?? {}).map(([name, one]) => [
          `\`${name}\``,
          typeOf("const" in one.schema ? { enum: [one.schema["const"]] } : one.schema),
          one.required === true ? "required" : code(one.default),
          sentence(one.rule),
          code(one.example),
        ]),
      ),
    ].join("\n\n"),
  )
  .join("\n\n")}
`

const titleOf = ({ name }: Declared): string => name.charAt(0).toUpperCase() + name.slice(1)

const memberRows = ({ members }: Declared): readonly (readonly string[])[] =>
  Object.entries(members).map(([name, member]) => [
    `\`${name}\``,
    member.label,
    member.providedBy === "name"
      ? "name of the resource"
      : (defaultTextOf(member, "markdown") ?? (member.isRequired ? "required" : "")),
    member.forcesReplacement === true ? "yes" : "",
    sentence(
      `${member.description}${member.edition === undefined ? "" : ` Only in the ${member.edition} edition.`}${member.secret === undefined ? "" : " Secret."}`,
    ),
    code(member.example),
  ])

const outputRows = ({ outputs, members, adoption }: Declared): readonly (readonly string[])[] =>
  [
    ...Object.entries(outputs),
    ...Object.entries(members).filter(([name, { isHidden }]) => isHidden !== true && !(name in outputs)),
    ...(adoption === undefined
      ? []
      : [["adopted", { description: "The resource existed before and was adopted." }] as const]),
  ].map(([name, { description }]) => [`\`${name}\``, sentence(description)])

const declaredPage = (resource: Declared): string => `# ${titleOf(resource)}

Written from the declared resource by \`npm run docs:reference\`; do not edit.

${resource.description}

## Fields

${resource.argsDescription ?? "A field that is not declared is not managed."}

${tableOf(["Field", "Type", "Default", "Forces replacement", "Rule", "Example"], memberRows(resource))}

## Outputs

${resource.outputsDescription}

${tableOf(["Output", "Meaning"], outputRows(resource))}
`

const declaredPages = declaredResources.map(
  (resource) =>
    [
      `declared/${resource.name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.md`,
      declaredPage(resource),
    ] as const,
)

type Pages = Readonly<Record<string, string>>

const groups: Readonly<Record<string, Pages>> = {
  "Workspaces (`/api/v2`)": {
    ...Object.fromEntries(Object.entries(tfeResources).map(([name, resource]) => [`${name}.md`, tfePage(resource)])),
    "open-addresses.md": tfePage(
      { title: "Addresses without a token", contracts: { openAddresses, signedAddresses }, documents: [] },
      "Paths are from the root of the server. Addresses with a credential are in the documents of the API.",
    ),
  },
  "Certificates (`/v1`)": {
    ...Object.fromEntries(
      Object.entries(vaultResources).map(([name, resource]) => [`${name}.md`, vaultPage(resource)]),
    ),
    "acme.md": acmePage(),
  },
  "Declared resources": Object.fromEntries(declaredPages),
}

const indexPage = `# Reference

Written from the contracts and the declared resources by \`npm run docs:reference\`; do not edit. Each page lists the endpoints or the fields of
one resource.
${Object.entries(groups)
  .map(([heading, pages]) => `\n## ${heading}\n\n${linksOf(pages)}\n`)
  .join("")}`

function linksOf(pages: Pages): string {
  const titles = Object.entries(pages).map(([file, page]) => ({ file, title: /^# (.+)$/m.exec(page)?.[1] ?? file }))
  return titles
    .toSorted((a, b) => (a.title < b.title ? -1 : 1))
    .map(({ file, title }) => `- [${title}](${file})`)
    .join("\n")
}

const pages: Pages = { ...Object.assign({}, ...Object.values(groups)), "README.md": indexPage }

await mkdir(new URL("declared/", folder), { recursive: true })
for (const [name, page] of Object.entries(pages)) {
  const target = new URL(name, folder)
  if (!process.argv.includes("--check")) await writeFile(target, page)
  else if ((await readFile(target, "utf8").catch(() => "")) !== page) {
    process.stderr.write(`docs/reference/${name} is stale: run \`npm run docs:reference\` and commit what it writes.\n`)
    process.exitCode = 1
  }
}
