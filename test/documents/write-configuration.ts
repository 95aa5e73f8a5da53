// Writes docs/configuration.md from the settings table, and the table of options in docs/agents.md from the command; with --check, fails if
// a file differs from the output.
import { readFile, writeFile } from "node:fs/promises"
import { hostname } from "node:os"
import { agentCommand } from "../../engine/src/cli/agent.ts"
import { defaultOf } from "../../engine/src/cli/setting-options.ts"
import {
  environmentNameOf,
  flagOf,
  type Setting,
  type SettingName,
  settingNames,
  settings,
} from "../../engine/src/cli/settings.ts"
import { tableOf } from "./markdown-table.ts"

const settingsDocument = (): string => `# Configuration

Written from the settings table by \`npm run docs:config\`; do not edit.

\`chancery serve\` and \`chancery dev\` accept all settings below. Commands that open the database accept the settings that
name it. A flag overrides the environment, the environment overrides the file, and the file overrides the default. An empty
variable counts as unset. The file is one JSON object; \`--config FILE\` or \`CHANCERY_CONFIG\` names it.

\`\`\`json
{ "listen": "0.0.0.0:8420", "storage": "postgres://chancery@db/chancery", "publicUrl": "https://chancery.example" }
\`\`\`

If a setting is invalid, the command ends with exit code 78 and names the setting, its source and the expected value.

${settingNames.map(section).join("\n")}
## Exit codes

| Code | Meaning                                                   |
| ---- | --------------------------------------------------------- |
| 0    | done                                                      |
| 1    | failed                                                    |
| 64   | the command line is wrong                                 |
| 69   | the server of the command does not respond                |
| 75   | the database does not respond, or the address is in use   |
| 78   | a setting is invalid, or its file or database is unusable |
`

function section(name: SettingName): string {
  const setting: Setting = settings[name]
  const secret = setting.secret === true
  const sources = secret
    ? `\`${environmentNameOf(name)}\` only, because other users of the machine can read a command line`
    : `\`${flagOf(name)} ${setting.placeholder}\`, \`${environmentNameOf(name)}\`, \`"${name}"\` in the file`
  const [serve, dev] = [defaultOf(name, false), defaultOf(name, true)]
  return `## \`${name}\`

${setting.summary} It must be ${setting.expects}.

- Set by: ${sources}.
- Default: ${serve}${serve === dev ? "" : `; in dev: ${dev}`}.
`
}

const begin = "<!-- options: written by `npm run docs:config` -->"
const end = "<!-- end of options -->"

function agentsDocument(text: string): string {
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)]
  if (from < begin.length || to < from) throw new Error("docs/agents.md has lost the marks around its options")
  return `${text.slice(0, from)}\n\n${optionsOf()}\n\n${text.slice(to)}`
}

function optionsOf(): string {
  const command = agentCommand({ out() {}, say() {}, input: async () => "", environment: {} })
  const rows = command.options.map(({ flags, description, argChoices, defaultValue }) => [
    `\`${flags}\``.replaceAll("|", "\\|"),
    [description, ...(argChoices === undefined ? [] : [`one of ${argChoices.map((one) => `\`${one}\``).join(", ")}`])]
      .join(": ")
      .replaceAll(/docs\/([\w-]+\.md)/g, "[$1]($1)"),
    defaultValue === hostname() ? "name of the machine" : defaultValue === undefined ? "" : `\`${defaultValue}\``,
  ])
  return tableOf(["Option", "Meaning", "Default"], rows)
}

const documents: Readonly<Record<string, (text: string) => string>> = {
  "docs/configuration.md": settingsDocument,
  "docs/agents.md": agentsDocument,
}
for (const [name, write] of Object.entries(documents)) {
  const target = new URL(`../../${name}`, import.meta.url)
  const before = await readFile(target, "utf8").catch(() => "")
  if (!process.argv.includes("--check")) await writeFile(target, write(before))
  else if (before !== write(before)) {
    process.stderr.write(`${name} is stale: run \`npm run docs:config\` and commit what it writes.\n`)
    process.exitCode = 1
  }
}
