import { Command } from "commander"
import { configurationError, usageError } from "./exit-code.ts"
import type { Terminal } from "./terminal.ts"
import { serverUrlOf } from "./with-caller-engine.ts"
import { addStoreOptions, withEngine } from "./with-engine.ts"

export function auditCommand(terminal: Terminal): Command {
  return new Command("audit")
    .description("Compute hashes to search for in the audit log.")
    .addCommand(hashCommand(terminal))
}

function hashCommand(terminal: Terminal): Command {
  const command = new Command("hash")
    .description(
      "Print the hash (HMAC-SHA-256) that the audit log of this store contains in place of a value from a request.",
    )
    .argument(
      "<text>",
      "value to hash, or - to read it from standard input, which hides it from other users of the machine",
    )
  addStoreOptions(command)
  return command.action(async (text: string) => {
    const wanted = text === "-" ? (await terminal.input()).replace(/\r?\n$/, "") : text
    if (wanted === "") throw usageError("The value to hash is empty.")
    if (serverUrlOf(command, terminal.environment) !== undefined)
      throw configurationError(
        "audit hash needs the store, which contains the key of the hashes; run it on the machine of the server, with --data or --storage.",
      )
    await withEngine(command, terminal, async (engine) => terminal.out(engine.audit.hash(wanted)))
  })
}
