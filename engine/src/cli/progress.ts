import { SingleBar } from "cli-progress"
import type { BackupProgress } from "../storage/maintenance/backup.ts"
import type { Terminal } from "./terminal.ts"

export interface Progress {
  show(done: number, total: number): void
  end(): void
}

/** A bar for a person, and else one line per tenth of the way. */
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

function bar(stream: NodeJS.WriteStream, verb: string): Progress {
  const drawn = new SingleBar({
    stream,
    format: `${verb} {bar} {percentage} % ({value}/{total}, {duration_formatted})`,
    barCompleteChar: "#",
    barIncompleteChar: "-",
    hideCursor: true,
  })
  let begun = false
  return {
    show(done, total) {
      if (!begun) drawn.start(total, 0)
      begun = true
      drawn.setTotal(total)
      drawn.update(done)
    },
    end() {
      drawn.stop()
    },
  }
}

export function progressLine(terminal: Terminal, verb: string): { readonly show: BackupProgress; end(): void } {
  const progress = progressOf(terminal, verb)
  return { show: ({ donePages, totalPages }) => progress.show(donePages, totalPages), end: () => progress.end() }
}
