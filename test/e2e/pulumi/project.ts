// A program as users have it: a folder with a `Pulumi.yaml`, run by Pulumi's command.
import { execFile } from "node:child_process"
import { cp, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { TestStack } from "./stack.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))

export interface Project {
  /** What the command prints; it is not asked anything. */
  readonly pulumi: (...args: readonly string[]) => Promise<string>
  /** Runs the program. */
  readonly up: () => Promise<string>
  /** Fails when there is anything to do. */
  readonly expectNoChanges: () => Promise<string>
  readonly destroy: () => Promise<string>
}

/** A copy of an example, beside the stack's own program and with its engine; or another program in its place. */
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
