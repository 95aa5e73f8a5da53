// Finds the unit tests: they use no database, network, file system, process or thread. Their imports show that, so a new test file needs no
// entry here.
import { globSync } from "node:fs"
import { importReader } from "./imports.ts"

const modulesOfNode = [
  ...["child_process", "cluster", "dgram", "dns", "fs", "http", "http2", "https", "net", "sqlite", "tls"],
  "worker_threads",
]
const packages = ["@kubernetes/client-node", "@pulumi/pulumi", "acme-client", "pg", "testcontainers", "undici"]

const isOutside = (module: string): boolean =>
  packages.includes(module) || modulesOfNode.some((name) => `${module}/`.startsWith(`node:${name}/`))

/** They compare with other libraries, which takes as long as all the unit tests together. */
const slow: readonly string[] = ["test/x509/differential.test.ts"]

/** Returns the unit tests among `patterns`, as paths below `root`. */
export function unitTests(root: string, patterns: readonly string[], excluded: readonly string[]): string[] {
  const importsOf = importReader(root)
  const isUnit = (test: string): boolean => {
    const reached = new Set([test])
    for (const module of reached) for (const { module: next } of importsOf(module)) reached.add(next)
    return ![...reached].some(isOutside)
  }
  return globSync([...patterns], { cwd: root, exclude: [...excluded, ...slow] })
    .filter(isUnit)
    .toSorted()
}
