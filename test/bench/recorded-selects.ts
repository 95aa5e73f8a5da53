// Records the SELECTs that work sends to SQLite, at the driver, so that a baseline can send the same ones.
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"

export interface RecordedSelect {
  readonly text: string
  readonly values: readonly SQLInputValue[]
}

export async function recordSelects(work: () => Promise<unknown>): Promise<RecordedSelect[]> {
  using memory = new DatabaseSync(":memory:")
  const prototype = Object.getPrototypeOf(memory.prepare("select 1")) as Record<"all" | "get", Ask>
  const { all, get } = prototype
  const recorded: RecordedSelect[] = []
  const recording = (original: Ask): Ask =>
    function record(this: StatementSync, ...values) {
      if (/^\s*(with|select)\b/i.test(this.sourceSQL)) recorded.push({ text: this.sourceSQL, values })
      return original.apply(this, values)
    }
  prototype.all = recording(all)
  prototype.get = recording(get)
  try {
    await work()
  } finally {
    prototype.all = all
    prototype.get = get
  }
  return recorded
}

type Ask = (this: StatementSync, ...values: SQLInputValue[]) => unknown
