// Archives of configurations, which are searched for a readme.
import { gzipSync } from "node:zlib"
import { isEngineError } from "../../engine/src/core/errors.ts"
import type { Sealer } from "../../engine/src/core/sealing.ts"
import { sealedConfigurationArchive } from "../../engine/src/storage/repositories/workspaces/configuration-archive.ts"
import { tar } from "../../engine/testing/tar-archive.ts"
import { byteMutations } from "./mutations.ts"
import type { FuzzTarget } from "./target.ts"

const blockBytes = 512

const corpus: readonly Uint8Array[] = [
  tar({ "README.md": "# Network", "main.tf": 'resource "x" "y" {}\n'.repeat(40), "modules/a/README.md": "# A" }),
  tar({ "./readme.md": Buffer.alloc(2_000, "é"), [`${"long/".repeat(18)}a.tf`]: "", "work/README.md": "# Work" }),
  // An extended header (POSIX pax), whose records name the following file.
  ofType("x", tar({ "PaxHeader/a": "18 path=README.md\n19 size=00000000009\n", a: "# Network" })),
]

export const archives = (): readonly FuzzTarget[] => [
  { name: "archive", corpus, mutations: byteMutations, repair: checked, attempt: (input) => read(gzipSync(input)) },
  {
    name: "compressed archive",
    corpus: corpus.map((each) => Uint8Array.from(gzipSync(each))),
    mutations: byteMutations,
    attempt: read,
  },
]

/** Inspecting an archive opens no sealed data, so there is no sealer. */
const archive = sealedConfigurationArchive(undefined as unknown as Sealer)

async function read(bytes: Uint8Array): Promise<string | undefined> {
  try {
    const { digest, readme } = await archive.inspect(bytes, "work")
    if (readme?.includes("\0") === true || readme?.isWellFormed() === false)
      return "has a readme that no store can keep"
    return digest.length === 64 ? undefined : "has no digest"
  } catch (error) {
    if (isEngineError(error, "unprocessable") || isEngineError(error, "too-large")) return undefined
    throw error
  }
}

function ofType(type: string, archived: Buffer): Uint8Array {
  archived.write(type, 156)
  return checked(archived)
}

/** Returns the archive with the checksums of its changed headers. */
function checked(input: Uint8Array): Uint8Array {
  const bytes = Buffer.from(input)
  for (let at = 0; at + blockBytes <= bytes.length; at += blockBytes) {
    const header = bytes.subarray(at, at + blockBytes)
    if (header.toString("latin1", 257, 262) !== "ustar") continue
    header.fill(" ", 148, 156)
    const sum = header.reduce((total, byte) => total + byte, 0)
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148)
  }
  return bytes
}
