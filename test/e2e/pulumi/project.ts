// A program as users have it: a folder with a `Pulumi.yaml`, run by the command `pulumi`.
import { execFile } from "node:child_process"
import { cp, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { TestStack } from "./stack.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))

export interface Project {
  /** Returns the output of the command, which does not prompt. */
  readonly pulumi: (...args: readonly string[]) => Promise<string>
  /** Runs the program. */
  readonly up: () => Promise<string>
  /** Throws if there are changes. */
  readonly expectNoChanges: () => Promise<string>
  readonly destroy: () => Promise<string>
}

/** Copies an example next to the stack's own program, with the stack's engine. `program` replaces the example's program. */
export async function openProject(stack: TestStack, example: string, program?: string): Promise<Project> {
  const folder = join(stack.folder, example)
  const isSource = (path: string) => !path.includes("node_modules")
  await cp(join(root, "examples", example), folder, { recursive: true, filter: isSource })
  if (program !== undefined) await writeFile(join(folder, "index.ts"), program)
  await symlink(join(root, "node_modules"), join(folder, "node_modules"))
  const pulumi = async (...args: readonly string[]): Promise<string> => {
    const env = {
      ...process.env,
      ...stack.environment,
      PULUMI_HOME: join(stack.folder, "home"),
      PULUMI_BACKEND_URL: `file://${join(stack.folder, "backend")}`,
    }
    const command = join(stack.folder, "bin/pulumi")
    const { stdout } = await promisify(execFile)(command, [...args, "--non-interactive", "--color=never"], {
      cwd: folder,
      env,
    })
    return stdout
  }
  await pulumi("stack", "init", "example")
  return {
    pulumi,
    up: () => pulumi("up", "--yes", "--skip-preview"),
    expectNoChanges: () => pulumi("preview", "--expect-no-changes"),
    destroy: () => pulumi("destroy", "--yes", "--skip-preview"),
  }
}
