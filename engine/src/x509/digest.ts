import { hash } from "node:crypto"

/** Hex. */
export const sha256 = (data: Uint8Array): string => hash("sha256", data, "hex")
