// Writes docs/openapi/ from the contracts; with --check, fails if a document differs from the output.
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { tfeOpenApi } from "../../engine/src/contracts/tfe/openapi.ts"
import { vaultOpenApi } from "../../engine/src/contracts/vault/openapi.ts"

const folder = new URL("../../docs/openapi/", import.meta.url)

await mkdir(folder, { recursive: true })
for (const [name, document] of Object.entries({ tfe: tfeOpenApi(), vault: vaultOpenApi() })) {
  const target = new URL(`${name}.json`, folder)
  const text = `${JSON.stringify(document, undefined, 2)}\n`
  if (!process.argv.includes("--check")) await writeFile(target, text)
  else if ((await readFile(target, "utf8").catch(() => "")) !== text) {
    process.stderr.write(
      `docs/openapi/${name}.json is stale: run \`npm run docs:openapi\` and commit what it writes.\n`,
    )
    process.exitCode = 1
  }
}
