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

if (!process.argv.includes("--check")) await writeFile(target, settingsDocument())
else if ((await readFile(target, "utf8").catch(() => "")) !== settingsDocument()) {
  process.stderr.write("docs/configuration.md is stale: run `npm run docs:config` and commit what it writes.\n")
  process.exitCode = 1
}
