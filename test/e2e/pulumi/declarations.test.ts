// The published type declarations, as a program of the official TypeScript template compiles them.
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { installPackedProvider } from "./packed-provider.ts"
import { buildProvider } from "./stack.ts"

const program = `
import { Workspace } from "@chancery/pulumi"
const api = new Workspace("api", { autoApply: true })
export const id = api.id
`

/** Options of the template's tsconfig.json (`pulumi new typescript`). */
const template: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2020,
  module: ts.ModuleKind.CommonJS,
  moduleResolution: ts.ModuleResolutionKind.Node10,
  // TypeScript 6 requires both; version 5, the template's, does not.
  ignoreDeprecations: "6.0",
  types: ["node"],
  sourceMap: true,
  experimentalDecorators: true,
  noFallthroughCasesInSwitch: true,
  noImplicitReturns: true,
  forceConsistentCasingInFileNames: true,
}

let folder: string
/** Compiled once for all tests, because it includes Pulumi's declarations. */
let compiled: ts.Program
beforeAll(async () => {
  await buildProvider()
  folder = await mkdtemp(join(tmpdir(), "chancery-template-"))
  await installPackedProvider(folder)
  await mkdir(join(folder, "node_modules/@types"), { recursive: true })
  const types = fileURLToPath(new URL("../../../node_modules/@types/node", import.meta.url))
  await symlink(types, join(folder, "node_modules/@types/node"))
  await writeFile(join(folder, "index.ts"), program)
  compiled = ts.createProgram([join(folder, "index.ts")], {
    ...template,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    typeRoots: [join(folder, "node_modules/@types")],
  })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe("the official TypeScript template", () => {
  test("[F-U1] compiles without skipLibCheck, with the declarations of the provider and of Pulumi alone", () => {
    const complaints = ts
      .getPreEmitDiagnostics(compiled)
      .map(({ messageText, file }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`)
    expect(complaints).toEqual([])
    const files = compiled.getSourceFiles().map(({ fileName }) => fileName)
    expect(files.filter((name) => /\/(engine\/dist|kysely|zod|hono|undici|pkijs)\//.test(name))).toEqual([])
    expect(files.filter((name) => name.includes("/@chancery/pulumi/")).length).toBeLessThan(40)
  })

  test("[F-U2] finds the declarations with moduleResolution node", () => {
    const { resolvedModule } = ts.resolveModuleName("@chancery/pulumi", join(folder, "index.ts"), template, ts.sys)
    expect(resolvedModule?.resolvedFileName).toMatch(/@chancery\/pulumi\/dist\/index\.d\.ts$/)
  })
})

test("[F-U6] every output of every resource is documented, and existing ones are read with get", () => {
  const checker = compiled.getTypeChecker()
  const all = resources(checker)
  expect(all.size).toBe(23)
  expect([...all].filter(([, { hasGet }]) => !hasGet).map(([name]) => name)).toEqual([])
  const outputs = [...all].flatMap(([name, one]) => one.outputs.map((output) => ({ name, output })))
  expect(outputs.length).toBeGreaterThan(200)
  const bare = outputs.filter(({ output }) => output.getDocumentationComment(checker).length === 0)
  expect(bare.map(({ name, output }) => `${name}.${output.name}`)).toEqual([])
})

interface ResourceClass {
  readonly hasGet: boolean
  /** Members of its instances in addition to those of Pulumi's own class. */
  readonly outputs: readonly ts.Symbol[]
}

/** Returns the exported classes by name. */
function resources(checker: ts.TypeChecker): ReadonlyMap<string, ResourceClass> {
  const index = compiled.getSourceFiles().find(({ fileName }) => fileName.endsWith("/@chancery/pulumi/dist/index.d.ts"))
  const exported = index === undefined ? undefined : checker.getSymbolAtLocation(index)
  const found = new Map<string, ResourceClass>()
  for (const alias of exported === undefined ? [] : checker.getExportsOfModule(exported)) {
    const symbol = alias.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(alias) : alias
    if (!(symbol.flags & ts.SymbolFlags.Variable)) continue
    const type = checker.getTypeOfSymbol(symbol)
    const [constructor] = type.getConstructSignatures()
    if (constructor === undefined) continue
    const outputs = constructor
      .getReturnType()
      .getProperties()
      .filter(({ declarations }) => declarations?.every((one) => one.getSourceFile().fileName.includes("@chancery")))
    found.set(alias.name, { hasGet: type.getProperty("get") !== undefined, outputs })
  }
  return found
}
