import { readdir, readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { noWeakKeys, parseWeakKeys, type WeakKeyList } from "../x509/weak-key-list.ts"
import { configurationError } from "./exit-code.ts"

/** Debian's package has files of keys of other programs as well. */
const listName = /^blacklist\.RSA-\d+$/

/** Where Debian's package puts its files. */
const defaultFolder = "/usr/share/openssl-blacklist"

/** Reads a file, or the files `blacklist.RSA-<bits>` of a folder. Without a path, a missing default folder is an empty list. */
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
