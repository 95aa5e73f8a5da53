import { readdir, readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { noWeakKeys, parseWeakKeys, type WeakKeyList } from "../x509/weak-key-list.ts"
import { configurationError } from "./exit-code.ts"

/** Debian's package also contains lists for other programs' keys. */
const listName = /^blacklist\.RSA-\d+$/

/** Folder of Debian's openssl-blacklist package. */
const defaultFolder = "/usr/share/openssl-blacklist"

/**
 * Reads a file, or the files `blacklist.RSA-<bits>` of a folder. Without a path, a missing default folder is an empty list. Throws a
 * configuration error if the list cannot be read.
 */
export async function readWeakKeys(path: string | undefined): Promise<WeakKeyList> {
  const source = path ?? defaultFolder
  try {
    return parseWeakKeys(await Promise.all((await filesAt(source)).map((file) => readFile(file, "utf8"))))
  } catch (error) {
    if (path === undefined && (error as NodeJS.ErrnoException).code === "ENOENT") return noWeakKeys
    throw configurationError(`The list of weak keys ${source} cannot be read: ${(error as Error).message}.`)
  }
}

async function filesAt(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  return (await readdir(path)).filter((name) => listName.test(name)).map((name) => join(path, name))
}
