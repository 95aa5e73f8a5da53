import { invalid } from "../core/errors.ts"
import { mountPathFaults, mountPathOf } from "../pki/mount.ts"
import type { Mounts } from "../pki/mounts.ts"
import {
  decodeMount,
  decodeMounts,
  decodeMove,
  encodeMountInput,
  encodeMountPatch,
  mountParameters,
  tuneParameters,
} from "../wire/pki/mount.ts"
import { namesOf, pathOfMount, type PkiCalls } from "./pki-calls.ts"
import { path } from "./transport.ts"

/** What is created, tuned or moved is read back, because those answers are empty: whoever does it must be allowed to read it. */
export const remoteMounts = (calls: PkiCalls): Mounts => {
  const get = async (path: string) =>
    decodeMount(mountPathOf(path), (await calls.read(`/sys/mounts${pathOfMount(path)}`)).data)
  return {
    async create(input) {
      const path = addressable(input.path)
      await calls.write(`/sys/mounts${pathOfMount(path)}`, {
        document: encodeMountInput(input),
        names: { ...namesOf(tuneParameters), ...namesOf(mountParameters) },
      })
      return get(path)
    },
    list: async () => decodeMounts((await calls.read("/sys/mounts")).data),
    get: async (path) => get(path),
    async tune(path, patch) {
      await calls.write(`/sys/mounts${pathOfMount(path)}/tune`, {
        document: encodeMountPatch(patch),
        names: namesOf(tuneParameters),
      })
      return get(path)
    },
    async delete(path) {
      await calls.delete(`/sys/mounts${pathOfMount(path)}`)
    },
    async move(from, to) {
      await calls.write("/sys/remount", { document: { from, to }, names: {} })
      return get(to)
    },
    moved: async (moveId) => decodeMove((await calls.read(path`/sys/remount/status/${moveId}`)).data),
  }
}

/** A path that no address can carry is refused here, as it would be there. */
function addressable(text: string): string {
  const path = mountPathOf(text)
  const faults = mountPathFaults(path)
  const carried = path.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..")
  if (!carried && faults.length > 0) throw invalid(faults)
  return path
}
