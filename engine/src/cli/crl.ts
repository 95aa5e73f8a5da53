import { readFile } from "node:fs/promises"
import { Command } from "commander"
import { CommandError, exitCodes } from "./exit-code.ts"
import type { Terminal } from "./terminal.ts"
import { addCallerOptions, withCallerEngine } from "./with-caller-engine.ts"

export function crlCommand(terminal: Terminal): Command {
  return new Command("crl")
    .description("Import a revocation list that an authority published elsewhere.")
    .addCommand(importCommand(terminal))
}

function importCommand(terminal: Terminal): Command {
  const command = new Command("import")
    .description("Record the revocations of a list with their times and reasons. Repeat it after a failure.")
    .argument("<mount>", "path of the mount, such as pki")
    .argument("<issuer>", "name or id of the issuer that signed the list, or default")
    .argument("<file>", "the list, PEM or DER")
  addCallerOptions(command)
  return command.action(async (mount: string, issuer: string, file: string) => {
    const crl = await listIn(file)
    const { importedCount, existingCount, warnings } = await withCallerEngine(command, terminal, (engine) =>
      engine.pki(mount).crls.import(issuer, crl),
    )
    for (const warning of warnings) terminal.say(`Warning: ${warning}.`)
    terminal.say(`Imported ${importedCount} revocations; ${existingCount} were on record.`)
  })
}

async function listIn(file: string): Promise<string> {
  try {
    const bytes = await readFile(file)
    const text = bytes.toString("latin1")
    return text.includes("-----BEGIN") ? text : bytes.toString("base64")
  } catch (error) {
    throw new CommandError(exitCodes.failure, `The list cannot be read from ${file}.`, { cause: error })
  }
}
