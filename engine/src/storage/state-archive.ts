import { createHash } from "node:crypto"
import type { Sealer } from "../core/sealing.ts"
import type { StateArchive } from "../workspaces/state-archive.ts"
import { openDocument, sealDocument } from "./key-sealing.ts"
import { sealPaths } from "./seal-paths.ts"

export const sealedStateArchive = (sealer: Sealer): StateArchive => ({
  pack: async (id, document, bytes) => sealDocument(sealer, sealPaths.stateDocument(id, document), bytes),
  unpack: async (id, document, chunks) => openDocument(sealer, sealPaths.stateDocument(id, document), chunks),
  md5: (bytes) => createHash("md5").update(bytes).digest("hex"),
})
