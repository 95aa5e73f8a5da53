import type { BackupProgress } from "../storage/backup.ts"
import type { Terminal } from "./terminal.ts"

/** One line per tenth of the way. */
export function progressLine(terminal: Terminal, verb: string): { readonly show: BackupProgress; end(): void } {
  let shown = 0
  const say = (percent: number): void => {
    if (percent <= shown) return
    shown = percent
    terminal.say(`${verb} ${percent} %`)
  }
  return {
    show: ({ donePages, totalPages }) => say(totalPages === 0 ? 0 : Math.floor((donePages / totalPages) * 10) * 10),
    end: () => say(100),
  }
}
