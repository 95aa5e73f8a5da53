import { readFileSync } from "node:fs"

/** Of this product. The manifest lies beside the sources and beside what is built from them alike. */
export const release: string = (
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string }
).version
