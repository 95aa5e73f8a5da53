import type { Command } from "commander"
import { describe, expect, test } from "vitest"
import { examples } from "./examples.ts"
import { createProgram } from "./program.ts"
import { storeSettingNames } from "./setting-options.ts"
import { flagOf } from "./settings.ts"
import type { Terminal } from "./terminal.ts"

const quiet: Terminal = { out: () => undefined, say: () => undefined, input: async () => "", environment: {} }

interface Leaf {
  readonly path: string
  readonly command: Command
}

const leavesOf = (parent: Command, words: readonly string[] = []): Leaf[] =>
  parent.commands.flatMap((command) => {
    const path = [...words, command.name()]
    return command.commands.length === 0 ? [{ path: path.join(" "), command }] : leavesOf(command, path)
  })

const leaves = leavesOf(createProgram(quiet))

/** Returns the whole help text, with the parts added by `addHelpText`. */
function helpOf(command: Command): string {
  let text = ""
  command.configureOutput({ writeOut: (part) => void (text += part), getOutHelpWidth: () => 80 })
  command.outputHelp()
  return text
}

describe.each(leaves)("[F-C2] the help of $path", ({ path, command }) => {
  const help = helpOf(command)

  test("help is wrapped at the width of the terminal", () => {
    const tooLong = help.split("\n").filter((line) => line.length > 80 && !line.startsWith("  chancery "))
    // A line of a single word cannot be wrapped.
    expect(tooLong.filter((line) => line.trim().includes(" "))).toEqual([])
  })

  test("help lists the options of the command before those of the server and the store", () => {
    const flags = [...help.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag)
    const first = flags.findIndex((flag) => storeSettingNames.some((name) => flagOf(name) === flag))
    // The agent opens no store; its --data is a folder of its own.
    if (first === -1 || ["serve", "dev", "doctor", "agent"].includes(path)) return
    expect(flags.indexOf("--help")).toBeLessThan(first)
    expect(help.indexOf("Store options:")).toBeGreaterThan(help.indexOf("\nOptions:"))
  })

  test("help has examples that the command accepts", () => {
    const lines = examples[path] ?? []
    expect(lines).not.toEqual([])
    for (const line of lines) {
      expect(help).toContain(`  chancery ${line}`)
      const words = line.split(/ (?=(?:[^']*'[^']*')*[^']*$)/).map((word) => word.replaceAll("'", ""))
      expect(words.slice(0, path.split(" ").length).join(" ")).toBe(path)
      const { operands, unknown } = command.parseOptions(words.slice(path.split(" ").length))
      expect(unknown).toEqual([])
      expect(operands.length).toBeGreaterThanOrEqual(
        command.registeredArguments.filter(({ required }) => required).length,
      )
    }
  })
})
