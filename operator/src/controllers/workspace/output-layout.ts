// Layout of a state's outputs in a ConfigMap and a Secret: keys and values. Pure functions.
import type { StateVersionOutput } from "@chancery/engine"

export type Output = Pick<StateVersionOutput, "name" | "sensitive" | "value">

type Texts = Readonly<Record<string, string>>

export interface OutputLayout {
  readonly plain: Texts
  readonly sensitive: Texts
  /** Names that are left out, because they have no valid key or share one with another output. */
  readonly unfit: readonly string[]
}

/** Limit of the API server for the total size of the values in one object, in bytes. Keys do not count. */
export const maxContentBytes = 1_048_576

/** Valid characters and length of keys, by the API server's rules for both kinds. */
const foreignCharacter = /[^-._a-zA-Z0-9]/gu
const maxKeyLength = 253

/** Returns the key of an output, or undefined. Output names are Terraform identifiers, which may contain letters of any script. */
function keyOf(name: string): string | undefined {
  const key = name.replaceAll(foreignCharacter, "_")
  const isKey = key !== "" && key.length <= maxKeyLength && key !== "." && !key.startsWith("..")
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

/** Returns strings unchanged, and other values as JSON. */
const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? null))

export const contentBytesOf = (texts: Texts): number =>
  Object.values(texts).reduce((sum, text) => sum + Buffer.byteLength(text), 0)
