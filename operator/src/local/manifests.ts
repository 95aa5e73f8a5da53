// Reads manifests from a folder, with file and line of each object and of each fault.
import { readdir, readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { type Document, isMap, isNode, LineCounter, parseAllDocuments } from "yaml"

/** Object as declared, not validated yet. */
export interface Manifest {
  /** Path relative to the folder. */
  readonly file: string
  /** First line of the object, counted from 1. */
  readonly line: number
  readonly object: Readonly<Record<string, unknown>>
  /** Returns the line of a member, or of its nearest existing parent. */
  lineOf(path: readonly string[]): number
}

/** Reason why a declaration is not applied. */
export interface ManifestFault {
  readonly file: string
  readonly line: number
  readonly message: string
}

export interface ManifestFolder {
  readonly manifests: readonly Manifest[]
  readonly faults: readonly ManifestFault[]
  /** Files that could not be read. Their objects stay, since their declarations are unknown. */
  readonly unreadable: ReadonlySet<string>
}

const maxFiles = 10_000
const maxFolders = 1_000
const maxFileBytes = 4 * 1024 * 1024
const maxAliases = 100

/** Returns all `.yaml`, `.yml` and `.json` files in the folder and below it, except hidden ones. Throws if there are too many. */
export async function manifestFiles(folder: string): Promise<readonly string[]> {
  const files: string[] = []
  const folders = [""]
  for (let index = 0; index < folders.length; index += 1) {
    if (folders.length > maxFolders) throw new Error(`${folder} contains more than ${maxFolders} folders`)
    const below = folders[index] ?? ""
    for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
      if (entry.name.startsWith(".")) continue
      const path = join(below, entry.name)
      const isFolder = entry.isSymbolicLink() ? await isFolderBehind(join(folder, path)) : entry.isDirectory()
      // A link to a folder could form a cycle.
      if (isFolder && !entry.isSymbolicLink()) folders.push(path)
      else if (!isFolder && /\.(ya?ml|json)$/.test(entry.name)) files.push(path)
    }
    if (files.length > maxFiles) throw new Error(`${folder} contains more than ${maxFiles} manifests`)
  }
  return files.toSorted()
}

const isFolderBehind = (path: string): Promise<boolean> =>
  stat(path).then(
    (behind) => behind.isDirectory(),
    () => false,
  )

export async function readManifests(folder: string, files: readonly string[]): Promise<ManifestFolder> {
  const manifests: Manifest[] = []
  const faults: ManifestFault[] = []
  const unreadable = new Set<string>()
  for (const file of files) {
    const read = await readManifestFile(folder, file)
    manifests.push(...read.manifests)
    faults.push(...read.faults)
    if (read.faults.length > 0) unreadable.add(file)
  }
  return { manifests, faults, unreadable }
}

async function readManifestFile(folder: string, file: string): Promise<Omit<ManifestFolder, "unreadable">> {
  const path = join(folder, file)
  const fault = (message: string) => ({ manifests: [], faults: [{ file, line: 1, message }] })
  try {
    const { size } = await stat(path)
    if (size > maxFileBytes) return fault(`is larger than ${maxFileBytes} bytes`)
    return parseManifests(file, await readFile(path, "utf8"))
  } catch (error) {
    return fault(`cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`)
  }
}

export function parseManifests(file: string, text: string): Omit<ManifestFolder, "unreadable"> {
  const lines = new LineCounter()
  const manifests: Manifest[] = []
  const faults: ManifestFault[] = []
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, schema: "core" })
  for (const document of Array.isArray(documents) ? documents : []) {
    const [error] = document.errors
    if (error !== undefined) {
      faults.push({ file, line: lines.linePos(error.pos[0]).line, message: `is not valid YAML: ${error.message}` })
      continue
    }
    // Documents with only comments declare nothing.
    if (document.contents === null || document.toJS({ maxAliasCount: maxAliases }) === null) continue
    const lineOf = (path: readonly string[]) => lineIn(document, lines, path)
    if (!isMap(document.contents)) {
      faults.push({ file, line: lineOf([]), message: "must be an object with apiVersion and kind" })
      continue
    }
    const object = document.toJS({ maxAliasCount: maxAliases }) as Record<string, unknown>
    const { kind, items } = object
    if (kind !== "List" || !Array.isArray(items)) {
      manifests.push({ file, line: lineOf([]), object, lineOf })
      continue
    }
    for (const [index, item] of items.entries()) {
      const above = ["items", String(index)]
      const line = lineOf(above)
      if (typeof item === "object" && item !== null && !Array.isArray(item))
        manifests.push({ file, line, object: item, lineOf: (path) => lineOf([...above, ...path]) })
      else faults.push({ file, line, message: `items.${index} must be an object` })
    }
  }
  return { manifests, faults }
}

function lineIn(document: Document, lines: LineCounter, path: readonly string[]): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line
  }
  return 1
}
