import { createHash } from "node:crypto"
import type { Sealer } from "../core/sealing.ts"
import type { StateArchive } from "../workspaces/state-archive.ts"
import { openDocument, sealDocument } from "./key-sealing.ts"

export const sealedStateArchive = (sealer: Sealer): StateArchive => ({
  pack: async (id, document, bytes) => sealDocument(sealer, contentPath(id, document), bytes),
  unpack: async (id, document, chunks) => openDocument(sealer, contentPath(id, document), chunks),
  md5: (bytes) => createHash("md5").update(bytes).digest("hex"),
})

const contentPath = (id: string, document: string) => `state-versions/${id}/${document}`
