// What states point at: `require("@chancery/pulumi/provider").v1.KIND`. A contract for ever: `destroy` and `refresh` come here
// with states that any earlier release wrote.
//
// A package that was packed has this code and the engine's a second time, in a few files (`scripts/bundle.ts`): to find, read and
// link seven hundred takes a third of a second, for which Pulumi waits. Beside its sources runs what was compiled last.
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import type * as Providers from "./v1.ts"

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))

const bundle = pathOf("../bundled/v1.js")
const isPacked = existsSync(bundle) && !existsSync(pathOf("../src"))

// A state asks with `require`, for which nothing may be waited for.
export const { v1 } = createRequire(import.meta.url)(isPacked ? bundle : "./v1.js") as typeof Providers
