import { readFile } from "node:fs/promises"
import { Command } from "commander"
import { formatInstant } from "../core/time.ts"
import type { BlockedKey } from "../pki/keys/blocked-key.ts"
import { maxListedKeys } from "../pki/mounts/key-page.ts"
import { CommandError, exitCodes, usageError } from "./exit-code.ts"
import { json } from "./report.ts"
import type { Terminal } from "./terminal.ts"
import { addCallerOptions, withCallerEngine } from "./with-caller-engine.ts"

interface AsJson {
  readonly json?: true
}

export function blockedKeyCommand(terminal: Terminal): Command {
  return new Command("blocked-key")
    .description("List, show, add and delete blocked keys, which no mount certifies.")
    .addCommand(listCommand(terminal))
    .addCommand(showCommand(terminal))
    .addCommand(addCommand(terminal))
    .addCommand(deleteCommand(terminal))
}

function listCommand(terminal: Terminal): Command {
  const command = new Command("list")
    .description("List the SHA-256 digests of the blocked keys, one per line.")
    .option("--json", "print a JSON array")
  addCallerOptions(command)
  return command.action(({ json: asJson }: AsJson) =>
    withCallerEngine(command, terminal, async ({ blockedKeys }) => {
      const all: string[] = []
      for (;;) {
        const page = await blockedKeys.list({ after: all.at(-1) ?? "", limit: maxListedKeys })
        all.push(...page)
        if (page.length < maxListedKeys) break
      }
      if (asJson === true) terminal.out(json(all))
      else for (const digest of all) terminal.out(digest)
    }),
  )
}

function showCommand(terminal: Terminal): Command {
  const command = new Command("show")
    .description("Print one blocked key as JSON.")
    .argument("<digest>", "SHA-256 of the SubjectPublicKeyInfo, 64 hexadecimal digits")
  addCallerOptions(command)
  return command.action((digest: string) =>
    withCallerEngine(command, terminal, async ({ blockedKeys }) => {
      terminal.out(json(shown(await blockedKeys.get(digest))))
    }),
  )
}

function addCommand(terminal: Terminal): Command {
  const command = new Command("add")
    .description("Block a key: no mount certifies or imports it, and ACME rejects it as an account key.")
    .argument("[file]", "PEM file with a public key, a certificate or a certificate request; - reads standard input")
    .option("--digest <digest>", "SHA-256 of the SubjectPublicKeyInfo (64 hexadecimal digits), instead of a file")
    .option("--comment <text>", "text to store with the key, at most 1024 characters")
  addCallerOptions(command)
  return command.action(async (file: string | undefined, options: AddOptions) => {
    const { digest, comment } = options
    if ((file === undefined) === (digest === undefined)) throw usageError("Give either a file or --digest.")
    const input = {
      ...(file === undefined ? {} : { key: await contentsOf(file, terminal) }),
      ...(digest === undefined ? {} : { spkiSha256: digest }),
      ...(comment === undefined ? {} : { comment }),
    }
    const key = await withCallerEngine(command, terminal, ({ blockedKeys }) => blockedKeys.add(input))
    terminal.say(`Blocked the key ${key.spkiSha256}.`)
  })
}

interface AddOptions {
  readonly digest?: string
  readonly comment?: string
}

function deleteCommand(terminal: Terminal): Command {
  const command = new Command("delete")
    .description("Unblock a key.")
    .argument("<digest>", "SHA-256 of the SubjectPublicKeyInfo, 64 hexadecimal digits")
  addCallerOptions(command)
  return command.action((digest: string) =>
    withCallerEngine(command, terminal, async ({ blockedKeys }) => {
      await blockedKeys.delete(digest)
      terminal.say(`The key ${digest} is not blocked.`)
    }),
  )
}

const shown = ({ spkiSha256, source, mount, serialNumber, comment, createdAt }: BlockedKey) => ({
  spki_sha256: spkiSha256,
  source,
  mount,
  serial_number: serialNumber,
  comment,
  created_at: formatInstant(createdAt),
})

async function contentsOf(file: string, terminal: Terminal): Promise<string> {
  if (file === "-") return terminal.input()
  try {
    return await readFile(file, "utf8")
  } catch (error) {
    throw new CommandError(exitCodes.failure, `The key cannot be read from ${file}.`, { cause: error })
  }
}
