// The command `seal`: rotates, lists and retires the keys that seal secrets. It opens the database itself, while servers run; these follow
// the key file.
import { Command } from "commander"
import { settingsOf } from "./setting-options.ts"
import type { Settings } from "./settings.ts"
import type { Terminal } from "./terminal.ts"
import { addStoreOptions, withEngine } from "./with-engine.ts"

export function sealCommand(terminal: Terminal): Command {
  return new Command("seal")
    .description("Manage the keys that seal secrets in the store.")
    .addCommand(rotateCommand(terminal))
    .addCommand(statusCommand(terminal))
    .addCommand(retireCommand(terminal))
}

function rotateCommand(terminal: Terminal): Command {
  const command = new Command("rotate")
    .description(
      "Put a new key first in the seal key file, and every secret in the store under it, beside running servers. " +
        "The old keys stay in the file until they are retired.",
    )
    .option("--no-new-key", "make no key, and put every secret under the key that is first already")
  addStoreOptions(command)
  return command.action(async ({ newKey }: { readonly newKey: boolean }) => {
    const { rotateSeal } = await import("./actions/seal.ts")
    await assertStore(settingsOf(command, terminal, true))
    await withEngine(command, terminal, (_engine, settings) => rotateSeal(settings, newKey, terminal))
  })
}

function statusCommand(terminal: Terminal): Command {
  const command = new Command("status")
    .description("List the seal keys, and how many secrets in the store are sealed under each.")
    .option("--json", "print them as JSON")
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
      "Take a seal key that seals nothing any more out of its file; the store opens without it from then on.",
    )
    .argument("<key>", "the id of the key, as `chancery seal status` lists it")
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
