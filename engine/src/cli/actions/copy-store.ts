import { existsSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import { CopyRefused } from "../../storage/maintenance/copy-side.ts"
import { sqliteFile } from "../../storage/sql/database.ts"
import { CopySideFailed, copyStore, type StoreCopyProgress } from "../../storage/maintenance/store-copy.ts"
import { CommandError, exitCodes, usageError } from "../exit-code.ts"
import { progressOf, type Progress } from "../progress.ts"
import { json } from "../report.ts"
import { databaseFileName, describeStorage, reasonOf, storeError } from "../store.ts"
import type { Terminal } from "../terminal.ts"

/** Copies the whole database `from` into the empty database `to`, or resumes an earlier copy, and prints a report. */
export async function copyStoreBetween(from: string, to: string, asJson: boolean, terminal: Terminal): Promise<void> {
  const [source, target] = [storeAt(from), storeAt(to)]
  const shown = progressOfSteps(terminal)
  const { tables, resumedRows, sealKeyIds } = await copyStore({
    from: source,
    to: target,
    progress: shown.show,
  }).catch(throwCommandError)
  shown.end()
  if (asJson) {
    terminal.out(json({ from: describeStorage(source), to: describeStorage(target), tables, resumedRows, sealKeyIds }))
    return
  }
  const rowCount = Object.values(tables).reduce((sum, { rows }) => sum + rows, 0)
  const earlier = resumedRows === 0 ? "" : `, ${resumedRows} of them by an earlier run`
  terminal.out(
    `Copied ${describeStorage(source)} to ${describeStorage(target)}: ${rowCount} rows${earlier}, all tables verified.`,
  )
  if (sealKeyIds.length > 0)
    terminal.out(`The copy uses the seal keys of the old store (${sealKeyIds.join(", ")}); give them to its servers.`)
}

/** Returns the database URL. A folder, or a file that exists, means the embedded database. */
function storeAt(location: string): string {
  if (/^postgres(ql)?:\/\//.test(location)) return location
  const file = sqliteFile(location)
  if (file !== undefined && file !== "") return `sqlite:${resolve(file)}`
  if (location === "" || /^[a-z]+:/i.test(location))
    throw usageError(
      `"${location.split(":", 1)[0]}:…" cannot be copied; give a data folder, sqlite:PATH or postgres://….`,
    )
  const isFile = existsSync(location) && statSync(location).isFile()
  return `sqlite:${resolve(isFile ? location : join(location, databaseFileName))}`
}

const verbs = { copy: "Copied", compare: "Compared" } as const

function progressOfSteps(terminal: Terminal): { readonly show: StoreCopyProgress; end(): void } {
  let current: { readonly name: keyof typeof verbs; readonly progress: Progress } | undefined
  return {
    show({ name, doneRows, totalRows }) {
      if (current?.name !== name) {
        current?.progress.end()
        current = { name, progress: progressOf(terminal, verbs[name]) }
      }
      current.progress.show(doneRows, totalRows)
    },
    end: () => current?.progress.end(),
  }
}

function throwCommandError(error: unknown): never {
  if (error instanceof CopySideFailed && error.isInFlight)
    throw new CommandError(
      exitCodes.busy,
      `The store ${describeStorage(error.url)} failed (${reasonOf(error.cause)}); run the same command again to continue.`,
      { cause: error },
    )
  if (error instanceof CopySideFailed) throw storeError(error.url, error.cause)
  if (!(error instanceof CopyRefused)) throw error
  throw new CommandError(error.isTemporary ? exitCodes.busy : exitCodes.configuration, error.message, { cause: error })
}
