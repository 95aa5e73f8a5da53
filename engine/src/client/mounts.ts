import { mounts } from "../contracts/vault/mount.ts"
import { mountPathFaults, mountPathOf } from "../pki/mount.ts"
import type { Mounts } from "../pki/mounts.ts"
import { addressablePath, type PkiCalls } from "./pki-calls.ts"
import { remote } from "./remote-vault-contract.ts"

/** Reads a mount after it is created, tuned or moved, because those answers are empty. The caller needs the right to read it. */
export function remoteMounts(calls: PkiCalls): Mounts {
  const { create, list, tune, delete: remove, move, moved, ...contract } = remote(mounts, calls)
  const get = async (text: string) => {
    const path = mountPathOf(text)
    return (await contract.get(path))(path)
  }
  return {
    async create({ path: text, ...input }) {
      const path = addressablePath(text, mountPathFaults)
      await create(path, { type: "pki", ...input })
      return get(path)
    },
    list,
    get,
    async tune(path, patch) {
      await tune(mountPathOf(path), patch)
      return get(path)
    },
    delete: (path) => remove(mountPathOf(path)),
    async move(from, to) {
      await move({ from, to })
      return get(to)
    },
    moved,
  }
}
