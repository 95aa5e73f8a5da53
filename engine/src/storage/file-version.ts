import { stat } from "node:fs/promises"

/**
 * Changes with every way to replace what a path leads to: by writing over it, by renaming, or, as Kubernetes does with
 * secrets, by turning a symbolic link in the path. A watch follows the file and not its name, and hears nothing from a
 * network file system. A pipe has been read once and for all.
 */
export async function fileVersion(path: string): Promise<string> {
  try {
    const found = await stat(path, { bigint: true })
    return found.isFile() ? [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(":") : "no file"
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "unknown"
  }
}
