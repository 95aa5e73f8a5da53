import { isEngineError } from "../../core/errors.ts"
import {
  authMethodParameters,
  authMethodTuneParameters,
  decodeAuthMethodInput,
  decodeAuthMethodPatch,
  encodeAuthMethod,
  encodeAuthMethods,
  encodeAuthMethodTune,
} from "../../wire/pki/auth-method.ts"
import { answer, nothing, param, type SystemRequest, type SystemRoute } from "../pki-route.ts"

const path = (request: SystemRequest): string => param(request, "path")

/** Methods of logging in (pki-facts 4.2). */
export const authMethodRoutes: readonly SystemRoute[] = [
  {
    operation: "read",
    path: "/sys/auth",
    handle: async ({ engine }) => ({ ...answer(encodeAuthMethods(await engine.authMethods.list())), repeated: true }),
  },
  // Clients read one at either address.
  ...["/sys/auth/*path", "/sys/mounts/auth/*path"].map((address): SystemRoute => ({
    operation: "read",
    path: address,
    handle: async (request) => answer(encodeAuthMethod(await request.engine.authMethods.get(path(request)))),
  })),
  {
    operation: "write",
    path: "/sys/auth/*path",
    parameters: [authMethodParameters],
    handle: async (request) => {
      const { input, warnings } = decodeAuthMethodInput(path(request), request.read(authMethodParameters))
      await request.engine.authMethods.enable(input)
      return nothing(warnings)
    },
  },
  {
    operation: "delete",
    path: "/sys/auth/*path",
    handle: async (request) => {
      try {
        await request.engine.authMethods.disable(path(request))
      } catch (error) {
        // Existing clients take it for done where nothing is enabled.
        if (request.dialect !== "vault" || !isEngineError(error, "not-found")) throw error
      }
      return nothing()
    },
  },
  // Clients use either address.
  ...["/sys/auth/*path/tune", "/sys/mounts/auth/*path/tune"].flatMap((address): SystemRoute[] => [
    {
      operation: "read",
      path: address,
      handle: async (request) => answer(encodeAuthMethodTune(await request.engine.authMethods.get(path(request)))),
    },
    {
      operation: "write",
      path: address,
      parameters: [authMethodTuneParameters],
      handle: async (request) => {
        const patch = decodeAuthMethodPatch(request.decode(authMethodTuneParameters))
        await request.engine.authMethods.tune(path(request), patch)
        return nothing()
      },
    },
  ]),
]
