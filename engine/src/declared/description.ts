// Descriptions of members, for editors, CRDs and the reference.
import type { Documentation } from "./members.ts"

const isTold = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  value !== "" &&
  value !== "0s" &&
  !(typeof value === "object" && Object.keys(value).length === 0)

type Style = "plain" | "markdown"

const asText = (value: unknown, style: Style): string => {
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return style === "plain" || typeof value === "boolean" || typeof value === "number" ? text : `\`${text}\``
}

/** Returns the default as text, or undefined if there is none or it is empty. */
export function defaultTextOf({ default: preset, defaultText }: Documentation, style: Style): string | undefined {
  if (defaultText !== undefined) return style === "plain" ? defaultText.replaceAll("`", "") : defaultText
  if (!isTold(preset)) return undefined
  return Array.isArray(preset) ? preset.map((one) => asText(one, style)).join(", ") : asText(preset, style)
}

/** Returns what a member does, its default and an example. */
export function describe(documentation: Documentation, style: Style = "plain"): string {
  const { description, example, edition } = documentation
  const preset = defaultTextOf(documentation, style)
  return [
    style === "plain" ? description.replaceAll("`", "") : description,
    ...(preset === undefined ? [] : [`Default: ${preset}.`]),
    ...(edition === undefined ? [] : [`Only in the ${edition} edition.`]),
    ...(example === undefined ? [] : [`Example: ${asText(example, style)}.`]),
  ].join(" ")
}
