import { Command } from "commander"
import { systemRuntime } from "../core/runtime.ts"
import { rotateKeyFile } from "../storage/seal-keys.ts"
import { UnusableStore } from "../storage/unusable-store.ts"
import { configurationError } from "./exit-code.ts"
import { settingsOf } from "./setting-options.ts"
import { sealKeyFileOf } from "./store.ts"
import type { Terminal } from "./terminal.ts"
import { addStoreOptions } from "./with-engine.ts"

export function sealKeyCommand(terminal: Terminal): Command {
  return new Command("seal-key")
    .description("Manage the key that seals secrets in the store.")
    .addCommand(rotateCommand(terminal))
}

function rotateCommand(terminal: Terminal): Command {
  const command = new Command("rotate").description(
    "Put a new key first in the seal key file: it seals from the next start of the server on. " +
      "The old keys stay, because they open what they sealed.",
  )
  addStoreOptions(command)
  return command.action(async () => {
    const file = sealKeyFileOf(settingsOf(command, terminal, true))
    try {
      const { current } = await rotateKeyFile(file, systemRuntime().random)
      terminal.out(`The key ${current.id} is first in ${file}. Copy the file to a safe place, then restart the server.`)
    } catch (error) {
      if (error instanceof UnusableStore)
        throw configurationError(`The seal key file ${file} is left as it was. ${error.message}`)
      throw configurationError(`The seal key file ${file} cannot be changed (${(error as Error).message}).`)
    }
  })
}
