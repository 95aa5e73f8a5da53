import type { BackupProgress } from "../storage/maintenance/backup.ts"
import type { Terminal } from "./terminal.ts"

export interface Progress {
  show(done: number, total: number): void
  end(): void
}

/** Returns a progress bar on a terminal, and otherwise one line per ten percent. */
export function progressOf(terminal: Terminal, verb: string): Progress {
  if (terminal.screen !== undefined) return bar(terminal.screen, verb)
  let shown = 0
  const say = (percent: number): void => {
    if (percent <= shown) return
    shown = percent
    terminal.say(`${verb} ${percent} %`)
  }
  return {
    show: (done, total) => say(total === 0 ? 0 : Math.floor((done / total) * 10) * 10),
    end: () => say(100),
  }
}

const barWidth = 40

/** Redraws the same line. */
function bar(stream: NodeJS.WriteStream, verb: string): Progress {
  return {
    show(done, total) {
      const share = total === 0 ? 0 : done / total
      const filled = Math.round(share * barWidth)
      const text = `${verb} ${"#".repeat(filled)}${"-".repeat(barWidth - filled)} ${Math.floor(share * 100)} % (${done}/${total})`
      stream.write(`\r\u001B[2K${text}`)
    },
    end: () => void stream.write("\n"),
  }
}

export function progressLine(terminal: Terminal, verb: string): { readonly show: BackupProgress; end(): void } {
  const progress = progressOf(terminal, verb)
  return { show: ({ donePages, totalPages }) => progress.show(donePages, totalPages), end: () => progress.end() }
}
