// The command `chancery-pulumi`. It only reads from the engine, and writes only new files.
import { writeFile } from "node:fs/promises"
import { parseArgs } from "node:util"
import { readConfiguration } from "../configuration.ts"
import { createEngines } from "../dynamic/engines.ts"
import { explain } from "../dynamic/explain.ts"
import type { Existing } from "../import/candidate.ts"
import { existingIn } from "../import/existing.ts"
import { importFile } from "../import/import-file.ts"
import { programText } from "../import/program-text.ts"

export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>
  say(text: string): void
  complain(text: string): void
}

const usage = `chancery-pulumi import [--organization NAME] [--mount PATH]... [--auth-method PATH]... [--file FILE]
                       [--program FILE]

Writes the file that \`pulumi import --file\` reads, so that a stack can adopt existing resources
unchanged: the resources of an organization, and those of each mount and auth method.

  --organization NAME  organization to import (default: CHANCERY_ORGANIZATION, otherwise none)
  --mount PATH         mount to import with its roles and issuers, such as pki; repeat it for several
  --auth-method PATH   auth method to import with its users or certificate roles, such as userpass;
                       repeat it for several
  --file FILE          file to write for \`pulumi import\`; it must not exist (default: import.json)
  --program FILE       TypeScript program to write, which declares the resources; it must not exist
                       (default: none)
  -h, --help           print this help

CHANCERY_ENGINE_URL is the URL of the server, such as https://chancery.example. CHANCERY_TOKEN is an
API token, or CHANCERY_TOKEN_FILE is a file with one.
`

const succeeded = 0
const failed = 1
const misused = 2

/** Runs the command. Returns the exit code. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const command = commandOf(args)
  if (command === "help") {
    terminal.say(usage)
    return succeeded
  }
  if (typeof command === "string") {
    terminal.complain(`chancery-pulumi: ${command}\n\n${usage}`)
    return misused
  }
  try {
    await importing(command, terminal)
    return succeeded
  } catch (error) {
    terminal.complain(`chancery-pulumi: ${explain(error, "import", "read")}\n`)
    return failed
  }
}

interface Command {
  readonly organization: string | undefined
  readonly mounts: readonly string[]
  readonly authMethods: readonly string[]
  readonly file: string
  readonly program: string | undefined
}

/** Returns the parsed command, or a message if the arguments are invalid. */
function commandOf(args: readonly string[]): Command | string {
  const text = { type: "string" } as const
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        organization: text,
        mount: { ...text, multiple: true },
        "auth-method": { ...text, multiple: true },
        file: text,
        program: text,
        help: { type: "boolean", short: "h" },
      },
    })
    if (values.help === true) return "help"
    if (positionals.join(" ") !== "import") return "the command must be import"
    const { organization, mount: mounts = [], "auth-method": authMethods = [] } = values
    const { file = "import.json", program } = values
    return { organization, mounts, authMethods, file, program }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

async function importing(command: Command, terminal: Terminal): Promise<void> {
  const configuration = readConfiguration(() => undefined, terminal.environment)
  const configured = configuration.defaults.organization
  const organization = command.organization ?? configured
  const { mounts, authMethods } = command
  if (organization === undefined && mounts.length + authMethods.length === 0)
    throw new Error(
      "an organization (--organization or CHANCERY_ORGANIZATION), a mount (--mount) or an auth method (--auth-method) is required",
    )
  const engines = createEngines(new AbortController().signal)
  try {
    const { resources, leftOut } = await engines.use(configuration, (engine) =>
      existingIn(engine, { organization, mounts, authMethods }),
    )
    await writeNew(command.file, importFile(resources))
    if (command.program !== undefined) await writeNew(command.program, programText(resources, configured))
    for (const sentence of leftOut) terminal.say(`Left out: ${sentence}.\n`)
    terminal.say(`${counted(resources)} in ${command.file}. Import them into the stack with\n\n`)
    terminal.say(`  pulumi import --file ${command.file} --generate-code=false --protect=false\n`)
  } finally {
    await engines.close()
  }
}

const counted = ({ length }: readonly Existing[]): string =>
  length === 1 ? "1 resource is" : `${length} resources are`

async function writeNew(file: string, content: string): Promise<void> {
  try {
    await writeFile(file, content, { flag: "wx" })
  } catch (error) {
    const isThere = (error as { readonly code?: unknown }).code === "EEXIST"
    throw new Error(isThere ? `${file} already exists; use another file` : `${file} cannot be written`, {
      cause: error,
    })
  }
}
