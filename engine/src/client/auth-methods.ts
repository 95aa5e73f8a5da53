import { invalid } from "../core/errors.ts"
import { authMethodPathFaults } from "../pki/logins/auth-method.ts"
import type { AuthMethods } from "../pki/logins/auth-methods.ts"
import { mountPathOf } from "../pki/mount.ts"
import {
  authMethodParameters,
  authMethodTuneParameters,
  decodeAuthMethod,
  decodeAuthMethods,
  encodeAuthMethodInput,
  encodeAuthMethodPatch,
} from "../wire/pki/auth-method.ts"
import { namesOf, pathOfMount, type PkiCalls } from "./pki-calls.ts"

/** What is enabled or tuned is read back, because those answers are empty: whoever does it must be allowed to read it. */
export const remoteAuthMethods = (calls: PkiCalls): AuthMethods => {
  const get = async (path: string) =>
    decodeAuthMethod(mountPathOf(path), (await calls.read(`/sys/auth${pathOfMount(path)}`)).data)
  return {
    async enable(input) {
      const path = addressable(input.path)
      await calls.write(`/sys/auth${pathOfMount(path)}`, {
        document: encodeAuthMethodInput(input),
        names: { ...namesOf(authMethodTuneParameters), ...namesOf(authMethodParameters) },
      })
      return get(path)
    },
    list: async () => decodeAuthMethods((await calls.read("/sys/auth")).data),
    get: async (path) => get(path),
    async tune(path, patch) {
      await calls.write(`/sys/auth${pathOfMount(path)}/tune`, {
        document: encodeAuthMethodPatch(patch),
        names: namesOf(authMethodTuneParameters),
      })
      return get(path)
    },
    async disable(path) {
      await calls.delete(`/sys/auth${pathOfMount(path)}`)
    },
  }
}

/** A path that no address can carry is refused here, as it would be there. */
function addressable(text: string): string {
  const path = mountPathOf(text)
  const faults = authMethodPathFaults(path)
  // Below the last of these is another endpoint.
  const carried = !path.endsWith("/tune") && path.split("/").every((one) => one !== "" && one !== "." && one !== "..")
  if (!carried && faults.length > 0) throw invalid(faults)
  return path
}
