// Commands that @chancery/operator adds if it is installed. The engine knows the package by name only: the operator depends on the engine,
// and servers do not need it.
import type { Command } from "commander"
import type { PodExecutorOptions } from "../agent/pod-executor.ts"
import type { RunExecutor } from "../agent/run-executor.ts"
import type { ServedEngine } from "../engine.ts"
import { asksForCompletion } from "./completion.ts"
import { CommandError, exitCodes } from "./exit-code.ts"
import type { ProcessLog } from "./log.ts"
import type { Terminal } from "./terminal.ts"

const operatorPackage = "@chancery/operator"

export interface OperatorModule {
  commands(terminal: Terminal): readonly Command[]
  /** Reconciles the engine with the manifests in a folder until the signal aborts. */
  keepManifests(options: StoredManifests, signal: AbortSignal): Promise<void>
}

export interface StoredManifests {
  readonly folder: string
  /** Folder of the objects and their status. */
  readonly statusFolder: string
  readonly engine: ServedEngine
  /** Organization of objects that name none. */
  readonly organization: string
  readonly log: ProcessLog
  readonly terminal: Terminal
}

/** Module of pods, apart from the commands, because it loads a Kubernetes client. */
export interface PodsModule {
  /** Throws `PodError` if the options or the cluster do not allow pods for runs. */
  readonly openPodExecutor: (options: PodExecutorOptions) => Promise<RunExecutor>
}

/** Returns undefined if the package is not installed. Throws if it cannot be loaded for another reason. */
export const findOperator = (): Promise<OperatorModule | undefined> => findModule<OperatorModule>("cli")

/** Throws if the package is not installed. */
export async function requirePods(): Promise<PodsModule> {
  const pods = await findModule<PodsModule>("pods")
  if (pods === undefined) throw missingOperator("chancery agent --isolation pod")
  return pods
}

async function findModule<Module>(name: string): Promise<Module | undefined> {
  try {
    return (await import(`${operatorPackage}/${name}`)) as Module
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === "ERR_MODULE_NOT_FOUND" && message.includes(`package '${operatorPackage}'`)) return undefined
    throw error
  }
}

const ownWords = ["operator", "reconcile"]
const listingWords: readonly (string | undefined)[] = [undefined, "help", "--help", "-h"]

/**
 * Returns the operator's commands if one of them is run, or completed with Tab, or all are listed. Other commands start without loading the
 * package.
 */
export async function operatorCommands(words: readonly string[], terminal: Terminal): Promise<readonly Command[]> {
  const isCompletion = asksForCompletion(words)
  const word = isCompletion ? words[2] : words[0]
  const isAsked = ownWords.some((own) => (isCompletion && word ? own.startsWith(word) : own === word))
  if (!isAsked && (isCompletion || !listingWords.includes(word))) return []
  const operator = await findOperator()
  if (operator === undefined && isAsked && !isCompletion) throw missingOperator(`chancery ${word}`)
  return operator?.commands(terminal) ?? []
}

const missingOperator = (command: string): CommandError =>
  new CommandError(
    exitCodes.configuration,
    `${command} needs ${operatorPackage}, which is not installed; run npm install ${operatorPackage}.`,
  )
