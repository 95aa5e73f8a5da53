import { chmod, readFile } from "node:fs/promises"

/** Returns the trimmed content, or undefined if the file does not exist. Restricts the file to its owner (mode 600). */
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
