// How an object fares by the script that we give to Argo CD, in a real Lua.
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { LuaFactory } from "wasmoon"
import { deployFolder } from "./helm.ts"

export interface Health {
  readonly status: string
  readonly message: string
}

export async function argoHealth(object: unknown): Promise<Health> {
  const script = await readFile(join(deployFolder, "argo-cd/health.lua"), "utf8")
  const lua = await new LuaFactory().createEngine()
  try {
    // Plain tables, as Argo CD makes them of the object, and not another language's values behind a proxy.
    return (await lua.doString(`obj = ${tableOf(object)}\n${script}`)) as Health
  } finally {
    lua.global.close()
  }
}

function tableOf(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(tableOf).join(", ")}}`
  if (typeof value === "object" && value !== null)
    return `{${Object.entries(value)
      .map(([name, member]) => `[${tableOf(name)}] = ${tableOf(member)}`)
      .join(", ")}}`
  return typeof value === "string" ? textOf(value) : (JSON.stringify(value) ?? "nil").replace("null", "nil")
}

/** Every octet that could mean something to Lua by its number. */
const textOf = (text: string): string =>
  `"${[...Buffer.from(text)].map((octet) => `\\${String(octet).padStart(3, "0")}`).join("")}"`
