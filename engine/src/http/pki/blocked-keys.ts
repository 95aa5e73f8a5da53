import { keysMaximum } from "../../pki/key-page.ts"
import { blockedKeyParameters, encodeBlockedKey } from "../../wire/pki/blocked-key.ts"
import { keyPageParameters } from "../../wire/pki/key-page.ts"
import { answer, listedUpTo, nothing, param, type SystemRoute } from "../pki-route.ts"

/** The server's list of keys that are never certified. */
export const blockedKeyRoutes: readonly SystemRoute[] = [
  {
    operation: "list",
    path: "/sys/blocked-keys",
    parameters: [keyPageParameters],
    handle: async (request) =>
      listedUpTo(keysMaximum, await request.engine.blockedKeys.list(request.decode(keyPageParameters))),
  },
  {
    operation: "write",
    path: "/sys/blocked-keys",
    parameters: [blockedKeyParameters],
    handle: async (request) =>
      answer(encodeBlockedKey(await request.engine.blockedKeys.add(request.decode(blockedKeyParameters)))),
  },
  {
    operation: "read",
    path: "/sys/blocked-keys/:digest",
    handle: async (request) => answer(encodeBlockedKey(await request.engine.blockedKeys.get(param(request, "digest")))),
  },
  {
    operation: "write",
    path: "/sys/blocked-keys/:digest",
    parameters: [blockedKeyParameters],
    handle: async (request) => {
      const input = { ...request.decode(blockedKeyParameters), spkiSha256: param(request, "digest") }
      return answer(encodeBlockedKey(await request.engine.blockedKeys.add(input)))
    },
  },
  {
    operation: "delete",
    path: "/sys/blocked-keys/:digest",
    handle: async (request) => {
      await request.engine.blockedKeys.delete(param(request, "digest"))
      return nothing()
    },
  },
]
