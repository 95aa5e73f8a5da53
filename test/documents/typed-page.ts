// A guide in the hands of a test: blocks are typed through this alone, so that it is known which lines of them have been.
import { execFile } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { relative } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, expect } from "vitest"
import { sayLoudly } from "../toolchain/missing.ts"
import { blocksOf, root } from "./guide-blocks.ts"
import { type Typist, typists } from "./doc-examples.ts"

const execute = promisify(execFile)

export interface Shell {
  readonly folder: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Puts what is there into the places that the guide names. Takes no command away. */
  readonly placed?: (script: string) => string
  /** Typed before it, and no part of the guide. */
  readonly before?: string
  /** Typed after it. */
  readonly after?: string
}

export interface Block {
  readonly language: string
  readonly commands: readonly string[]
  /** The commands that match. */
  only(pattern: RegExp): Block
  /** The commands that do not. */
  without(pattern: RegExp): Block
  /** By a shell that ends with the first command that fails; its standard output. */
  type(shell: Shell): Promise<string>
  /** Of a single command: its words, for a test that starts the program itself. */
  words(): readonly string[]
  /** What is no command, into the file that the guide speaks of. */
  write(path: string): Promise<void>
}

export interface Page {
  /** The first below the heading unless another is asked for. */
  block(heading: string, index?: number): Block
}

/**
 * For the test file at `testUrl`. Where all of its tests have passed, it has typed every command that `typists` says it types, or
 * fails at its end.
 */
export function typedPage(testUrl: string, document: string): Page {
  const test = relative(fileURLToPath(root), fileURLToPath(testUrl))
  const blocks = blocksOf(document)
  const mine = Object.entries(typists[document] ?? {}).filter(([, typist]) => typist.test === test)
  const left = new Map<string, Set<string>>()
  for (const [heading, typist] of mine) left.set(heading, new Set(commandsOf(blocks, heading, typist)))

  // Which suite it was is told only beside a pattern, and nothing here is wanted of what that could name.
  // oxlint-disable-next-line eslint/no-empty-pattern
  afterAll(({}, suite) => {
    const untyped = [...left].flatMap(([heading, commands]) => [...commands].map((command) => ({ heading, command })))
    if (untyped.length > 0 && !haveAllPassed(suite)) {
      // The failure is told by itself; what is not there to be run has been said.
      sayLoudly(`Of ${document} ${untyped.length} commands were not typed, because not all tests of ${test} have run.`)
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

const commandsOf = (blocks: ReturnType<typeof blocksOf>, heading: string, { except = {} }: Typist) =>
  blocks
    .filter((block) => block.heading === heading)
    .flatMap(({ commands }) => commands)
    .filter((command) => !Object.hasOwn(except, command))

function blockOf(language: string, commands: readonly string[], typed: (command: string) => void): Block {
  const part = (kept: (command: string) => boolean) => {
    const chosen = commands.filter(kept)
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

/** Of a file, when its last test has ended. */
function haveAllPassed({ tasks }: { readonly tasks: readonly Outcome[] }): boolean {
  return tasks.every((task) => (task.type === "suite" ? haveAllPassed(task) : task.result?.state === "pass"))
}
