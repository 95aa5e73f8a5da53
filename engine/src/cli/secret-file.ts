import { chmod, readFile } from "node:fs/promises"

/** The file's one line; undefined when there is no such file. Tightens the file to its owner on the way. */
export async function readSecretFile(path: string): Promise<string | undefined> {
  try {
    const text = await readFile(path, "utf8")
    await chmod(path, 0o600)
    return text.trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}
