// The program on the PATH of the agent. It has one version, and it is used only for requests that this version matches.
import { delimiter, isAbsolute, join } from "node:path"
import { isProgram } from "./folder-origin.ts"
import { readProgramVersion } from "./program-version.ts"
import { type ToolKind, toolNames, type ToolOrigin } from "./tool.ts"

export function pathOrigin(path: string): ToolOrigin {
  // A relative folder would depend on the working directory, which a run can fill.
  const folders = path.split(delimiter).filter(isAbsolute)

  async function find(kind: ToolKind, signal: AbortSignal) {
    for (const folder of folders) {
      const program = join(folder, toolNames[kind].program)
      if (await isProgram(program)) return { program, version: await readProgramVersion(kind, program, signal) }
    }
    return undefined
  }

  return {
    name: "PATH",
    async versions(kind, signal) {
      const found = await find(kind, signal)
      return found === undefined ? [] : [found.version]
    },
    async install(kind, version, signal) {
      const found = await find(kind, signal)
      if (found?.version !== version) return undefined
      return { kind, version, program: found.program, origin: `PATH (${found.program})` }
    },
  }
}
