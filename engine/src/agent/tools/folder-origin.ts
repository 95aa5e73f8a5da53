// Programs in a folder that the operator of the agent filled: `<folder>/terraform/1.11.4/terraform`, or archives as HashiCorp and OpenTofu
// publish them (`<folder>/terraform_1.11.4_linux_amd64.zip`) with their checksums and signature next to them.
import { constants, createReadStream } from "node:fs"
import { access, readdir, stat } from "node:fs/promises"
import { join } from "node:path"
import { readProgramVersion } from "./program-version.ts"
import type { ReleaseFiles, ReleaseInstaller } from "./release-installer.ts"
import { archiveName, checksumsName, type Platform, type ToolKind, toolNames, type ToolOrigin } from "./tool.ts"
import { ToolError } from "./tool-error.ts"
import { isExactVersion } from "./version-choice.ts"

export interface FolderOriginOptions {
  readonly folder: string
  readonly installer: ReleaseInstaller
  readonly platform: Platform
}

export function folderOrigin({ folder, installer, platform }: FolderOriginOptions): ToolOrigin {
  const files: ReleaseFiles = { name: `the folder ${folder}`, origin: folder, open: (file) => openFile(folder, file) }
  const programOf = (kind: ToolKind, version: string): string =>
    join(folder, toolNames[kind].program, version, toolNames[kind].program)

  return {
    name: files.name,
    async versions(kind) {
      const unpacked = (await list(join(folder, toolNames[kind].program))).filter(isExactVersion)
      const programs = await Promise.all(unpacked.map((version) => isProgram(programOf(kind, version))))
      const [start = "", end = ""] = archiveName(kind, " ", platform).split(" ")
      const archives = (await list(folder))
        .filter((name) => name.startsWith(start) && name.endsWith(end))
        .map((name) => name.slice(start.length, -end.length))
      return [...unpacked.filter((_, index) => programs[index]), ...archives.filter(isExactVersion)]
    },
    async install(kind, version, signal) {
      const program = programOf(kind, version)
      if (await isProgram(program)) {
        const reported = await readProgramVersion(kind, program, signal)
        if (reported !== version)
          throw new ToolError(`${program} is version ${reported}; its folder must have that name`)
        return { kind, version, program, origin: program }
      }
      const archive = archiveName(kind, version, platform)
      if (!(await isFile(join(folder, archive)))) return undefined
      const installed = await installer.install(files, kind, version, signal)
      if (installed === undefined)
        throw new ToolError(
          `${archive} of ${files.name} has no ${checksumsName(kind, version)} next to it; add the file`,
        )
      return installed
    },
  }
}

/** Returns the names in a folder. A missing folder has none. */
async function list(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ENOENT" || code === "ENOTDIR") return []
    throw new ToolError(`${folder} cannot be read (${String(code)})`, error)
  }
}

async function isFile(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined)
  return found?.isFile() ?? false
}

/** Returns whether the file exists and this process may execute it. */
export async function isProgram(file: string): Promise<boolean> {
  if (!(await isFile(file))) return false
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  )
}

async function openFile(
  folder: string,
  { name, maxBytes }: { readonly name: string; readonly maxBytes: number },
): Promise<AsyncIterable<Buffer> | undefined> {
  const file = join(folder, name)
  const found = await stat(file).catch(() => undefined)
  if (found === undefined) return undefined
  if (found.size > maxBytes) throw new ToolError(`${file} has more than ${maxBytes} bytes`)
  // The file may grow while it is read.
  return createReadStream(file, { end: maxBytes - 1 }) as AsyncIterable<Buffer>
}
