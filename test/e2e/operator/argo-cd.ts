// Evaluates our health script for Argo CD on an object, in a real Lua interpreter.
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
    // Plain tables, as Argo CD makes them from the object, instead of JavaScript values behind a proxy.
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

/** Escapes every byte by its number, so that none has a meaning in Lua. */
const textOf = (text: string): string =>
  `"${[...Buffer.from(text)].map((octet) => `\\${String(octet).padStart(3, "0")}`).join("")}"`
