import { readFile } from "node:fs/promises"
import { Command } from "commander"
import { CommandError, exitCodes } from "./exit-code.ts"
import type { Terminal } from "./terminal.ts"
import { addCallerOptions, withCallerEngine } from "./with-caller-engine.ts"

export function crlCommand(terminal: Terminal): Command {
  return new Command("crl")
    .description("Import a CRL that an issuer published elsewhere.")
    .addCommand(importCommand(terminal))
}

function importCommand(terminal: Terminal): Command {
  const command = new Command("import")
    .description(
      "Import the revocations of a CRL, with their times and reasons. After a failure, run the same command again.",
    )
    .argument("<mount>", "path of the mount, such as pki")
    .argument("<issuer>", "name or id of the issuer that signed the CRL, or default")
    .argument("<file>", "file with the CRL, in PEM or DER")
  addCallerOptions(command)
  return command.action(async (mount: string, issuer: string, file: string) => {
    const crl = await listIn(file)
    const { importedCount, existingCount, warnings } = await withCallerEngine(command, terminal, (engine) =>
      engine.pki(mount).crls.import(issuer, crl),
    )
    for (const warning of warnings) terminal.say(`Warning: ${warning}.`)
    terminal.say(`Imported ${importedCount} revocations; ${existingCount} were already recorded.`)
  })
}

async function listIn(file: string): Promise<string> {
  try {
    const bytes = await readFile(file)
    const text = bytes.toString("latin1")
    return text.includes("-----BEGIN") ? text : bytes.toString("base64")
  } catch (error) {
    throw new CommandError(exitCodes.failure, `The CRL cannot be read from ${file}.`, { cause: error })
  }
}
