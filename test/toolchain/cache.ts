import { homedir } from "node:os"
import { join } from "node:path"

/** Returns the folder of a downloaded tool. It is outside the checkout, so that a clean clone finds it again. */
export const cacheFolder = (tool: string): string =>
  join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "chancery", tool)
