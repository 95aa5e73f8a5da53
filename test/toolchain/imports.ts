// Reads imports from the text of source files; test files are divided among the test commands by their imports.
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** Packages of this repository by their sources, as paths below the root. */
export const packageSources: readonly { readonly find: RegExp; readonly replacement: string }[] = [
  { find: /^@chancery\/engine$/, replacement: "engine/src/index.ts" },
  { find: /^@chancery\/testing$/, replacement: "engine/testing/index.ts" },
  { find: /^@chancery\/pulumi$/, replacement: "provider/src/index.ts" },
  { find: /^@chancery\/engine\/declared\/(\w+)$/, replacement: "engine/src/declared/$1.ts" },
  { find: /^@chancery\/engine\/(cli|declared|x509)$/, replacement: "engine/src/$1/index.ts" },
]

export interface Import {
  /** Empty for a whole module. */
  readonly names: readonly string[]
  /** A path below the root, or the name of a package or of a module of Node. */
  readonly module: string
  readonly isExport: boolean
}

const statement = /^(import|export) (?!type )(?:(\*[^"]*|\w+|(?:\w+, )?\{[^}]*\}) from )?"([^"]+)"/gm

/** Returns the imports of a file without type imports, which do not exist at run time. */
function importsIn(text: string, from: string): readonly Import[] {
  return [...text.matchAll(statement)].flatMap(([, word, clause = "", specifier = ""]) => {
    const members = clause.startsWith("{") ? clause.slice(1, -1).split(",") : []
    const all = members.map((member) => member.trim()).filter((member) => member !== "")
    const values = all.filter((member) => !member.startsWith("type "))
    if (all.length > 0 && values.length === 0) return []
    const names = values.map((value) => value.split(" as ")[0] ?? value)
    return [{ names, module: moduleOf(specifier, from), isExport: word === "export" }]
  })
}

function moduleOf(specifier: string, from: string): string {
  if (specifier.startsWith(".")) return join(dirname(from), specifier)
  const known = packageSources.find(({ find }) => find.test(specifier))
  return known === undefined ? specifier : specifier.replace(known.find, known.replacement)
}

/** Returns a function that reads each file below `root` once. Packages and JSON files import nothing. */
export function importReader(root: string): (module: string) => readonly Import[] {
  const known = new Map<string, readonly Import[]>()
  return (module) => {
    if (!module.endsWith(".ts")) return []
    const imports = known.get(module) ?? importsIn(readFileSync(join(root, module), "utf8"), module)
    known.set(module, imports)
    return imports
  }
}
