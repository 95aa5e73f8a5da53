import { isEngineError } from "../../core/errors.ts"
import { tokenMethod } from "../../pki/logins/auth-methods.ts"
import { mountMoveId, mountPathOf } from "../../pki/mount.ts"
import {
  decodeMountInput,
  decodeMountPatch,
  encodeMount,
  encodeMounts,
  encodeMove,
  encodePreflight,
  encodeTune,
  encodeVisible,
  mountParameters,
  remountParameters,
  tuneParameters,
} from "../../wire/pki/mount.ts"
import { answer, nothing, param, type SystemRequest, type SystemRoute } from "../pki-route.ts"

const path = (request: SystemRequest): string => param(request, "path")

/** Mounts, and what may be known of them (pki-facts 4.2). */
export const mountRoutes: readonly SystemRoute[] = [
  {
    operation: "read",
    path: "/sys/mounts",
    handle: async ({ engine }) => ({ ...answer(encodeMounts(await engine.mounts.list())), repeated: true }),
  },
  {
    operation: "read",
    path: "/sys/mounts/*path",
    handle: async (request) => answer(encodeMount(await request.engine.mounts.get(path(request)))),
  },
  {
    operation: "write",
    path: "/sys/mounts/*path",
    parameters: [mountParameters],
    handle: async (request) => {
      const { input, warnings } = decodeMountInput(path(request), request.read(mountParameters))
      await request.engine.mounts.create(input)
      return nothing(warnings)
    },
  },
  {
    operation: "delete",
    path: "/sys/mounts/*path",
    handle: async (request) => {
      try {
        await request.engine.mounts.delete(path(request))
      } catch (error) {
        // Existing clients take it for done where nothing is mounted.
        if (request.dialect !== "vault" || !isEngineError(error, "not-found")) throw error
      }
      return nothing()
    },
  },
  {
    operation: "read",
    path: "/sys/mounts/*path/tune",
    handle: async (request) => answer(encodeTune(await request.engine.mounts.get(path(request)))),
  },
  {
    operation: "write",
    path: "/sys/mounts/*path/tune",
    parameters: [tuneParameters],
    handle: async (request) => {
      await request.engine.mounts.tune(path(request), decodeMountPatch(request.decode(tuneParameters)))
      return nothing()
    },
  },
  {
    operation: "write",
    path: "/sys/remount",
    parameters: [remountParameters],
    handle: async (request) => {
      const { from = "", to = "" } = request.decode(remountParameters)
      const { uuid } = await request.engine.mounts.move(from, to)
      return { ...answer({ migration_id: mountMoveId({ uuid, from, to }) }), repeated: true }
    },
  },
  {
    operation: "read",
    path: "/sys/remount/status/:migration_id",
    handle: async (request) => {
      const move = await request.engine.mounts.moved(param(request, "migration_id"))
      return { ...answer(encodeMove(move)), repeated: true }
    },
  },
  {
    operation: "read",
    path: "/sys/internal/ui/mounts",
    open: true,
    tokenCounts: true,
    handle: async ({ engine }) => {
      const { mounts, authMethods } = await engine.visibleMounts.list()
      return answer({ auth: encodeVisible([...authMethods, tokenMethod]), secret: encodeVisible(mounts) })
    },
  },
  {
    operation: "read",
    path: "/sys/internal/ui/mounts/*path",
    handle: async (request) =>
      answer(encodePreflight(await request.engine.visibleMounts.around(mountPathOf(path(request))))),
  },
]
