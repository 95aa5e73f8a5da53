// Writes docs/roles.md from the parameters that the server parses; with --check, fails when the file is not what it would write.
import { readFile, writeFile } from "node:fs/promises"
import type { FieldType } from "../../engine/src/wire/pki/parameters.ts"
import { roleParameters } from "../../engine/src/wire/pki/role.ts"

const target = new URL("../../docs/roles.md", import.meta.url)

const typeNames: Readonly<Partial<Record<FieldType, string>>> = { "duration (sec)": "duration", slice: "list" }

const rows = roleParameters.members.map(({ wireName, kind, note }) => [
  `\`${wireName}\``,
  typeNames[kind.type] ?? kind.type,
  `\`${JSON.stringify(note?.default)}\``,
  (note?.rule ?? "").replaceAll("*", "\\*").replaceAll("<oid>;UTF8:<value>", "`<oid>;UTF8:<value>`"),
])

function tableOf(header: readonly string[], body: readonly (readonly string[])[]): string {
  const widths = header.map((_, at) => Math.max(...[header, ...body].map((row) => row[at]?.length ?? 0)))
  const line = (row: readonly string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`
  return [line(header), line(widths.map((width) => "-".repeat(width))), ...body.map(line)].join("\n")
}

const rolesDocument = (): string => `# Parameters of a role

Written from the parameters of the server by \`npm run docs:roles\`; do not edit.

\`POST /v1/<mount>/roles/<name>\` replaces a role: parameters that it leaves out get their defaults. \`PATCH\` keeps them. \`GET\` with
\`?help=1\` (\`vault path-help <mount>/roles/<name>\`) lists the same parameters. Names, periods of validity and dialects are explained
in [authorities.md](authorities.md) and [dialects.md](dialects.md).

Lists are JSON arrays, or one string with commas. Durations are strings such as \`90s\`, \`1h30m\` and \`7d\`, or whole seconds. Booleans
and integers may be strings.

${tableOf(["Parameter", "Type", "Default", "Rule"], rows)}

Answers have \`allow_token_displayname\` as well, which is always false, as in Vault.
`

if (!process.argv.includes("--check")) await writeFile(target, rolesDocument())
else if ((await readFile(target, "utf8").catch(() => "")) !== rolesDocument()) {
  process.stderr.write("docs/roles.md is stale: run `npm run docs:roles` and commit what it writes.\n")
  process.exitCode = 1
}
