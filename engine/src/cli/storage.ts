import { Command } from "commander"
import type { Terminal } from "./terminal.ts"

export function storageCommand(terminal: Terminal): Command {
  return new Command("storage").description("Copy the store to another database.").addCommand(copyCommand(terminal))
}

function copyCommand(terminal: Terminal): Command {
  return new Command("copy")
    .description(
      "Copy a whole store to an empty database, embedded or PostgreSQL, and compare every table. No server may use either of them. " +
        "Run the same command again to continue an interrupted copy.",
    )
    .argument("<from>", "store to copy: a data folder, sqlite:PATH or postgres://…")
    .argument("<to>", "empty database to copy to, in the same forms")
    .option("--json", "print the result as JSON")
    .action(async (from: string, to: string, { json: asJson }: { readonly json?: true }) => {
      const { copyStoreBetween } = await import("./actions/copy-store.ts")
      await copyStoreBetween(from, to, asJson === true, terminal)
    })
}
