// Gives tests the blocks of a guide. Blocks can only be run through this module, which records the commands that have run.
import { execFile } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { relative } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, expect } from "vitest"
import { printNotice } from "../toolchain/missing.ts"
import { blocksOf, root } from "./guide-blocks.ts"
import { type DocExample, docExamples } from "./doc-examples.ts"

const execute = promisify(execFile)

export interface Shell {
  readonly folder: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Replaces the values in the guide's script with those of the test. It must not remove a command. */
  readonly placed?: (script: string) => string
  /** Run before the script; not part of the guide. */
  readonly before?: string
  /** Run after the script. */
  readonly after?: string
}

export interface Block {
  readonly language: string
  readonly commands: readonly string[]
  /** Returns the commands that match. */
  only(pattern: RegExp): Block
  /** Returns the commands that do not match. */
  without(pattern: RegExp): Block
  /** Runs the commands in a shell that stops at the first failing one, and returns the standard output. */
  type(shell: Shell): Promise<string>
  /** Returns the words of a single command, for a test that starts the program itself. */
  words(): readonly string[]
  /** Writes a block that is no command to the file that the guide describes. */
  write(path: string): Promise<void>
}

export interface Page {
  /** Returns the first block below the heading, or the one at `index`. */
  block(heading: string, index?: number): Block
}

/**
 * Opens a guide for the test file at `testUrl`. If all tests of the file pass, the last hook checks that they ran every command that
 * `docExamples` assigns to the file.
 */
export function typedPage(testUrl: string, document: string): Page {
  const test = relative(fileURLToPath(root), fileURLToPath(testUrl))
  const blocks = blocksOf(document)
  const mine = Object.entries(docExamples[document] ?? {}).filter(([, example]) => example.test === test)
  const left = new Map<string, Set<string>>()
  for (const [heading, example] of mine) left.set(heading, new Set(commandsOf(blocks, heading, example)))

  // Vitest passes the suite as the second argument, and requires a destructuring pattern as the first. No fixture is needed here.
  // oxlint-disable-next-line eslint/no-empty-pattern
  afterAll(({}, suite) => {
    const untyped = [...left].flatMap(([heading, commands]) => [...commands].map((command) => ({ heading, command })))
    if (untyped.length > 0 && !haveAllPassed(suite)) {
      // The failure is reported separately, and so are missing programs.
      printNotice(
        `Of ${document} ${untyped.length} commands were not typed, because not all tests of ${test} have run.`,
      )
      return
    }
    expect(untyped, `${test} types every command of ${document} that it is named for in typists.ts`).toEqual([])
  })

  return {
    block(heading, index = 0) {
      const found = blocks.filter((block) => block.heading === heading)[index]
      if (found === undefined) throw new Error(`${document} has no block ${index} below "${heading}"`)
      return blockOf(found.language, found.commands, (command) => left.get(heading)?.delete(command))
    },
  }
}

const commandsOf = (blocks: ReturnType<typeof blocksOf>, heading: string, { except = {} }: DocExample) =>
  blocks
    .filter((block) => block.heading === heading)
    .flatMap(({ commands }) => commands)
    .filter((command) => !Object.hasOwn(except, command))

function blockOf(language: string, commands: readonly string[], typed: (command: string) => void): Block {
  const part = (isIncluded: (command: string) => boolean) => {
    const chosen = commands.filter(isIncluded)
    if (chosen.length === 0) throw new Error(`none of these commands: ${commands.join("; ")}`)
    return blockOf(language, chosen, typed)
  }
  const done = () => {
    for (const command of commands) typed(command)
  }
  return {
    language,
    commands,
    only: (pattern) => part((command) => pattern.test(command)),
    without: (pattern) => part((command) => !pattern.test(command)),
    async type({ folder, environment, placed = (script) => script, before = "", after = "" }) {
      const script = [before, placed(commands.join("\n")), after].join("\n")
      const { stdout } = await execute("sh", ["-e", "-c", script], { cwd: folder, env: { ...environment } })
      done()
      return stdout
    },
    words() {
      const [command = "", ...others] = commands
      if (others.length > 0 || /[\n|;&<>$`]/.test(command)) throw new Error(`not one plain command: ${command}`)
      done()
      return [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3] ?? "")
    },
    async write(path) {
      await writeFile(path, `${commands.join("\n")}\n`)
      done()
    },
  }
}

type Outcome = Parameters<Parameters<typeof afterAll>[0]>[1]["tasks"][number]

/** Returns true if all tests of a file have passed; call it after the last one. */
function haveAllPassed({ tasks }: { readonly tasks: readonly Outcome[] }): boolean {
  return tasks.every((task) => (task.type === "suite" ? haveAllPassed(task) : task.result?.state === "pass"))
}
