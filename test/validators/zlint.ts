import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Validator } from "./validator.ts"
import { run } from "./run.ts"

/** Validates with the program in the folder `zlint`. */
export function zlintValidator(zlint: string): Validator {
  return {
    name: "zlint",
    async validate({ certificates, crls, answers, requests, folder, path }) {
      const manifest = join(folder, "zlint.txt")
      const lines = [
        ...certificates.map(({ name, der }) => ["certificate", name, path(der)]),
        ...crls.map(({ name, der }) => ["crl", name, path(der)]),
        ...answers.map(({ name, der }) => ["ocsp", name, path(der)]),
        ...requests.map(({ name, der }) => ["request", name, path(der)]),
      ]
      await writeFile(manifest, lines.map((line) => `${line.join("\t")}\n`).join(""))
      const { code, stdout, stderr } = await run(zlint, [manifest])
      if (code !== 0) throw new Error(`zlint ended with ${code}: ${stderr}`)
      return stdout
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => {
          const { name, code, detail } = JSON.parse(line) as Record<"name" | "code" | "detail", string>
          return { validator: "zlint", subject: name, code, detail }
        })
    },
  }
}
