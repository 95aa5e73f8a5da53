import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { cacheFolder } from "./cache.ts"
import { installDebianPackages } from "./debian-packages.ts"

export const installPostgres = (): Promise<void> =>
  installDebianPackages({
    names: ["postgresql"],
    folder: cacheFolder("postgresql"),
    async programs(root) {
      const versions = "usr/lib/postgresql"
      const [newest] = (await readdir(join(root, versions))).toSorted((a, b) => Number(b) - Number(a))
      if (newest === undefined) throw new Error("the packages held no server")
      return ["initdb", "pg_ctl", "postgres"].map((program) => join(versions, newest, "bin", program))
    },
  })
