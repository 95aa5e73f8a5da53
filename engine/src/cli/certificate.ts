import { readFile } from "node:fs/promises"
import { Command } from "commander"
import { CommandError, exitCodes } from "./exit-code.ts"
import type { Terminal } from "./terminal.ts"
import { addCallerOptions, withCallerEngine } from "./with-caller-engine.ts"

export function certificateCommand(terminal: Terminal): Command {
  return new Command("certificate")
    .description("Import certificates that an authority issued elsewhere.")
    .addCommand(importCommand(terminal))
}

function importCommand(terminal: Terminal): Command {
  const command = new Command("import")
    .description("Record certificates that issuers of a mount signed elsewhere. Repeat it after a failure.")
    .argument("<mount>", "path of the mount, such as pki")
    .argument("<files...>", "PEM files with any number of certificates, or DER files with one each")
  addCallerOptions(command)
  return command.action(async (mount: string, files: readonly string[]) => {
    const { importedCertificatesMaximum } = await import("../pki/certificates/certificate-import.ts")
    const texts = (await Promise.all(files.map(certificatesIn))).flat()
    let [imported, existing] = [0, 0]
    await withCallerEngine(command, terminal, async (engine) => {
      const { certificates } = engine.pki(mount)
      for (let at = 0; at < texts.length; at += importedCertificatesMaximum) {
        const part = await certificates.import(texts.slice(at, at + importedCertificatesMaximum))
        imported += part.imported.length
        existing += part.existing.length
      }
    })
    terminal.say(`Imported ${imported} certificates; ${existing} were on record.`)
  })
}

async function certificatesIn(file: string): Promise<readonly string[]> {
  let bytes
  try {
    bytes = await readFile(file)
  } catch (error) {
    throw new CommandError(exitCodes.failure, `The certificates cannot be read from ${file}.`, { cause: error })
  }
  const text = bytes.toString("latin1")
  const blocks = text.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g)
  return blocks ?? [bytes.toString("base64")]
}
