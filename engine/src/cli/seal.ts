// The command `seal`: rotates, lists and retires the keys that seal secrets. It opens the database itself, while servers run; these follow
// the key file.
import { Command } from "commander"
import { settingsOf } from "./setting-options.ts"
import type { Settings } from "./settings.ts"
import type { Terminal } from "./terminal.ts"
import { addStoreOptions, withEngine } from "./with-engine.ts"

export function sealCommand(terminal: Terminal): Command {
  return new Command("seal")
    .description("Manage the seal keys, which encrypt the secrets in the store.")
    .addCommand(rotateCommand(terminal))
    .addCommand(statusCommand(terminal))
    .addCommand(retireCommand(terminal))
}

function rotateCommand(terminal: Terminal): Command {
  const command = new Command("rotate")
    .description(
      "Add a new key at the front of the seal key file, and re-encrypt every secret in the store with it. " +
        "Works while servers are running. Old keys stay in the file until they are retired.",
    )
    .option("--no-new-key", "create no key, and re-encrypt every secret with the first key of the file")
  addStoreOptions(command)
  return command.action(async ({ newKey }: { readonly newKey: boolean }) => {
    const { rotateSeal } = await import("./actions/seal.ts")
    await assertStore(settingsOf(command, terminal, true))
    await withEngine(command, terminal, (_engine, settings) => rotateSeal(settings, newKey, terminal))
  })
}

function statusCommand(terminal: Terminal): Command {
  const command = new Command("status")
    .description("List the seal keys, and the number of secrets that each one encrypts.")
    .option("--json", "print a JSON array")
  addStoreOptions(command)
  return command.action(async ({ json: asJson }: { readonly json?: true }) => {
    const settings = settingsOf(command, terminal, true)
    const { showSeal } = await import("./actions/seal.ts")
    await assertStore(settings)
    await showSeal(settings, asJson === true, terminal)
  })
}

function retireCommand(terminal: Terminal): Command {
  const command = new Command("retire")
    .description(
      "Remove a seal key that encrypts no secret any more from the key file. The store then opens without it.",
    )
    .argument("<key>", "id of the key, from `chancery seal status`")
  addStoreOptions(command)
  return command.action(async (keyId: string) => {
    const { retireSealKey } = await import("./actions/seal.ts")
    await assertStore(settingsOf(command, terminal, true))
    await withEngine(command, terminal, (_engine, settings) => retireSealKey(settings, keyId, terminal))
  })
}

async function assertStore(settings: Settings): Promise<void> {
  const { assertStoreExists } = await import("./store.ts")
  assertStoreExists(settings)
}
