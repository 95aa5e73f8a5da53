import { type Command, Help } from "commander"
import { examples } from "./examples.ts"

/** Longer terms get a line of their own. */
const maxTermWidth = 26

/** Wraps descriptions at the terminal's width (80 columns if the output is not a terminal), and appends the examples of the command. */
export function layOutHelp(command: Command, path: string): void {
  const usual = new Help()
  command.configureHelp({
    minWidthToWrap: 20,
    // The command's own options come first, even if `--help` is the only one.
    groupItems(unsorted, visible, groupOf) {
      const groups = [...usual.groupItems(unsorted, visible, groupOf)]
      return new Map([
        ...groups.filter(([name]) => name === "Options:"),
        ...groups.filter(([name]) => name !== "Options:"),
      ])
    },
    padWidth: (one, helper) => Math.min(maxTermWidth, usual.padWidth(one, helper)),
    formatItem: (term, termWidth, description, helper) =>
      description === "" || helper.displayWidth(term) <= termWidth
        ? usual.formatItem.call(helper, term, termWidth, description, helper)
        : `  ${term}\n${usual.formatItem.call(helper, "", termWidth, description, helper)}`,
  })
  const lines = examples[path]
  if (lines !== undefined)
    command.addHelpText("after", ["", "Examples:", ...lines.map((line) => `  chancery ${line}`)].join("\n"))
}
