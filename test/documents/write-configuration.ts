// Writes docs/configuration.md from the settings table; with --check, fails if the file differs from the output.
import { readFile, writeFile } from "node:fs/promises"
import { defaultOf } from "../../engine/src/cli/setting-options.ts"
import {
  environmentNameOf,
  flagOf,
  type Setting,
  type SettingName,
  settingNames,
  settings,
} from "../../engine/src/cli/settings.ts"

const target = new URL("../../docs/configuration.md", import.meta.url)

const settingsDocument = (): string => `# Configuration

Written from the settings table by \`npm run docs:config\`; do not edit.

\`chancery serve\` and \`chancery dev\` take every setting below; the commands that open the store themselves take those that
name it. A flag stands above the environment, the environment above the file, the file above the default. An empty
variable counts as unset. The file is one JSON object; \`--config FILE\` or \`CHANCERY_CONFIG\` names it.

\`\`\`json
{ "listen": "0.0.0.0:8420", "storage": "postgres://chancery@db/chancery", "publicUrl": "https://chancery.example" }
\`\`\`

A setting that cannot be read ends the command with exit code 78 and a sentence that says which one, where it came from
and what it must be.

${settingNames.map(section).join("\n")}
## Exit codes

| Code | Meaning                                                       |
| ---- | ------------------------------------------------------------- |
| 0    | done                                                          |
| 1    | failed                                                        |
| 64   | the command line is wrong                                     |
| 69   | the server that a command works on does not answer            |
| 75   | the store does not answer, or the address is taken; try again |
| 78   | a setting is wrong, or what it names cannot be used           |
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

if (!process.argv.includes("--check")) await writeFile(target, settingsDocument())
else if ((await readFile(target, "utf8").catch(() => "")) !== settingsDocument()) {
  process.stderr.write("docs/configuration.md is stale: run `npm run docs:config` and commit what it writes.\n")
  process.exitCode = 1
}
