import { Command } from "commander"
import type { Terminal } from "./terminal.ts"

export function storageCommand(terminal: Terminal): Command {
  return new Command("storage").description("Move the store to another database.").addCommand(copyCommand(terminal))
}

function copyCommand(terminal: Terminal): Command {
  return new Command("copy")
    .description(
      "Copy a whole store into an empty database, of either kind, and compare every table. No server may use them. " +
        "The same command goes on with a copy that was interrupted.",
    )
    .argument("<from>", "the store: a data folder, sqlite:PATH or postgres://…")
    .argument("<to>", "the database to fill, in the same forms; it must be empty")
    .option("--json", "print what was copied as JSON")
    .action(async (from: string, to: string, { json: asJson }: { readonly json?: true }) => {
      const { copyStoreBetween } = await import("./actions/copy-store.ts")
      await copyStoreBetween(from, to, asJson === true, terminal)
    })
}
