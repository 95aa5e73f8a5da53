// Writes crds/ from the schemas that the operator parses with. With --check, only compares them.
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { stringify } from "yaml"
import { definitionOf } from "../src/api/definition.ts"
import { kinds } from "../src/api/kinds.ts"

const folder = join(import.meta.dirname, "../../crds")
const check = process.argv.includes("--check")

const definitions = kinds.map((kind) => [`${kind.group}_${kind.plural}.yaml`, definitionOf(kind)] as const)
/** Kustomize accepts this file name, and `kubectl apply -f crds/` ignores it. */
const kustomization = {
  apiVersion: "kustomize.config.k8s.io/v1beta1",
  kind: "Kustomization",
  resources: definitions.map(([name]) => name),
}

await mkdir(folder, { recursive: true })
for (const [name, document] of [...definitions, ["Kustomization", kustomization] as const]) {
  const path = join(folder, name)
  const text = `# Written by operator/scripts/write-crds.ts.\n${stringify(document, { lineWidth: 110, aliasDuplicateObjects: false })}`
  if (!check) await writeFile(path, text)
  else if ((await readFile(path, "utf8").catch(() => "")) !== text) {
    process.stderr.write(`crds/${name} is not what its schema says: run \`npm run crds\`\n`)
    process.exitCode = 1
  }
}
