import { dayMs, hourMs, minuteMs, secondMs } from "../core/time.ts"

const units: Readonly<Record<string, number>> = { ms: 1, s: secondMs, m: minuteMs, h: hourMs, d: dayMs }

/** `500ms`, `30s`, `5m`, `12h`, `90d`; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? []
  const unitMs = units[unit ?? ""]
  return unitMs === undefined ? undefined : Number(count) * unitMs
}
