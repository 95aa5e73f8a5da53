/** Returns a Markdown table with aligned columns, as the formatter writes it. */
export function tableOf(header: readonly string[], body: readonly (readonly string[])[]): string {
  const widths = header.map((_, at) => Math.max(...[header, ...body].map((row) => row[at]?.length ?? 0)))
  const line = (row: readonly string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`
  return [line(header), line(widths.map((width) => "-".repeat(width))), ...body.map(line)].join("\n")
}
