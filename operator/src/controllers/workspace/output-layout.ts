// How the outputs of a state stand in a ConfigMap and in a Secret: under which keys, and as which text. Pure.
import type { StateVersionOutput } from "@chancery/engine"

export type Output = Pick<StateVersionOutput, "name" | "sensitive" | "value">

type Texts = Readonly<Record<string, string>>

export interface OutputLayout {
  readonly plain: Texts
  readonly sensitive: Texts
  /** Names that no key can stand for, or that one key would have to stand for together: they are left out. */
  readonly unfit: readonly string[]
}

/** What the apiserver takes of the values of one object together, in bytes; it does not count their keys. */
export const contentBytesMaximum = 1_048_576

/** What keys are made of, and how long they may be (the apiserver's rules for both kinds). */
const foreignCharacter = /[^-._a-zA-Z0-9]/gu
const keyLengthMaximum = 253

/** Names of the tool are identifiers, of letters of any language. */
function keyOf(name: string): string | undefined {
  const key = name.replaceAll(foreignCharacter, "_")
  const isKey = key !== "" && key.length <= keyLengthMaximum && key !== "." && !key.startsWith("..")
  return isKey ? key : undefined
}

export function layoutOf(outputs: readonly Output[]): OutputLayout {
  const [plain, sensitive] = [false, true].map((kind) => textsOf(outputs.filter((one) => one.sensitive === kind)))
  return {
    plain: plain?.texts ?? {},
    sensitive: sensitive?.texts ?? {},
    unfit: [...(plain?.unfit ?? []), ...(sensitive?.unfit ?? [])].toSorted(),
  }
}

function textsOf(outputs: readonly Output[]): { readonly texts: Texts; readonly unfit: readonly string[] } {
  const byKey = Map.groupBy(outputs, ({ name }) => keyOf(name))
  const fit = [...byKey].flatMap(([key, [first, ...others]]) =>
    key === undefined || first === undefined || others.length > 0 ? [] : [[key, textOf(first.value)] as const],
  )
  const unfit = [...byKey].flatMap(([key, all]) => (key === undefined || all.length > 1 ? all : []))
  return { texts: Object.fromEntries(fit), unfit: unfit.map(({ name }) => name) }
}

/** Text as it is, and everything else as JSON. */
const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? null))

export const contentBytesOf = (texts: Texts): number =>
  Object.values(texts).reduce((sum, text) => sum + Buffer.byteLength(text), 0)
