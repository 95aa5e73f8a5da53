// Preloaded into each process of a stack. In the provider's process it sends itself SIGKILL after the engine has executed a method, before
// Pulumi gets the result. It does so once for each `KIND METHOD` line in the file that CHANCERY_TEST_DIES_AT names.
import { readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"

type Method = (...args: unknown[]) => Promise<unknown>

const note = process.env["CHANCERY_TEST_DIES_AT"]
if (note !== undefined && process.argv[1]?.includes("dynamic-provider") === true) {
  const require = createRequire(join(process.cwd(), "program.js"))
  const { v1 } = require("@chancery/pulumi/provider") as { v1: Readonly<Record<string, Record<string, Method>>> }
  for (const [kind, provider] of Object.entries(v1))
    for (const name of ["create", "update", "delete"]) {
      const method = provider[name]
      if (method === undefined) continue
      provider[name] = async (...args) => {
        const answer = await method(...args)
        const pendingOperations = readFileSync(note, "utf8").split("\n")
        if (!pendingOperations.includes(`${kind} ${name}`)) return answer
        writeFileSync(note, pendingOperations.filter((operation) => operation !== `${kind} ${name}`).join("\n"))
        process.kill(process.pid, "SIGKILL")
        return answer
      }
    }
}
