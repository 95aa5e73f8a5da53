// What @chancery/operator adds to the command line where it is installed. The engine knows it by name alone: the operator is
// built on the engine, and a server needs none of it.
import type { Command } from "commander"
import type { ServedEngine } from "../engine.ts"
import { CommandError, exitCodes } from "./exit-code.ts"
import type { ProcessLog } from "./log.ts"
import type { Terminal } from "./terminal.ts"

const operatorPackage = "@chancery/operator"

export interface OperatorModule {
  commands(terminal: Terminal): readonly Command[]
  /** Keeps the engine as the manifests in the folder say, until the signal. */
  keepManifests(options: StoredManifests, signal: AbortSignal): Promise<void>
}

export interface StoredManifests {
  readonly folder: string
  /** Where objects are kept with their status. */
  readonly statusFolder: string
  readonly engine: ServedEngine
  /** Of objects that name none. */
  readonly organization: string
  readonly log: ProcessLog
  readonly terminal: Terminal
}

/** Undefined where it is not installed; whatever else keeps it from being loaded is an error. */
export async function findOperator(): Promise<OperatorModule | undefined> {
  try {
    return (await import(`${operatorPackage}/cli`)) as OperatorModule
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === "ERR_MODULE_NOT_FOUND" && message.includes(`package '${operatorPackage}'`)) return undefined
    throw error
  }
}

/** Its commands, where one of them is asked for or all are to be shown: nothing else waits for it to be loaded. */
export async function operatorCommands([word]: readonly string[], terminal: Terminal): Promise<readonly Command[]> {
  const isAsked = word === "reconcile"
  if (!isAsked && word !== undefined && !["help", "--help", "-h"].includes(word)) return []
  const operator = await findOperator()
  if (operator === undefined && isAsked) {
    const message = `chancery reconcile is a part of ${operatorPackage}, which is not installed; npm install ${operatorPackage} brings it.`
    throw new CommandError(exitCodes.configuration, message)
  }
  return operator?.commands(terminal) ?? []
}
