import { readFileSync } from "node:fs"

/** Version of this product. The manifest has the same relative path from the sources and from the build output. */
export const release: string = (
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string }
).version
