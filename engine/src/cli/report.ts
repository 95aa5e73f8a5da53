import { totalPages, type Page, type PageRequest, maximumPageSize } from "../core/page.ts"

/** Formats rows as columns, each as wide as its widest cell, separated by two spaces. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows]
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n")
}

export const json = (value: unknown): string => JSON.stringify(value, undefined, 2)

export async function everyItem<T>(list: (page: PageRequest) => Promise<Page<T>>): Promise<readonly T[]> {
  const items: T[] = []
  for (let number = 1; ; number += 1) {
    const page = await list({ number, size: maximumPageSize })
    items.push(...page.items)
    if (number >= totalPages(page)) return items
  }
}
