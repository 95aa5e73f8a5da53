import {
  initialMountConfig,
  type MountConfig,
  type MountMove,
  mountMoveId,
  parseMountMoveId,
} from "../../pki/mounts/mount.ts"
import { decodeAnswer, type Document, encodeMembers, unreadable } from "./format/parameters.ts"
import { type Answer, contract, dataOf, nothing, warnings } from "./endpoint.ts"
import {
  enableBody,
  encodeMounted,
  encodeTune,
  type Mounted,
  mountConfigMembers,
  mountedAnswers,
  tuneBody,
  tuneMembers,
  unsupportedConfig,
} from "./mounted.ts"
import { bodyOf, fields, parameter, record } from "./record.ts"
import { text, unsupported } from "./types.ts"

const unsupportedMountConfig = {
  ...unsupportedConfig,
  tokenType: parameter(unsupported(text, " by mounts, only by auth methods"), "Not supported by mounts."),
}
const config = record(mountConfigMembers, { defaults: initialMountConfig, unsupported: unsupportedMountConfig })
const mounted = mountedAnswers(config, (type) => (type === "pki" ? type : undefined))

export const enableMount = enableBody<"pki", MountConfig>(config.input, (type, faults) => {
  if (type === "pki") return type
  faults.push({ field: ["type"], detail: `"type" must be "pki"` })
  return undefined
})
export const tuneMount = tuneBody<MountConfig>(record(tuneMembers, { unsupported: unsupportedMountConfig }).change)

const remount = fields({
  from: parameter(text, "Path of the mount.", { example: "pki" }),
  to: parameter(text, "New path, which must be free.", { example: "team/pki" }),
})
const migrationId = { migrationId: parameter(text, "Id of the move.", { example: "MGU5YzJmNmU" }) }
const move = fields(migrationId)

interface Visible {
  readonly path: string
  readonly type: string
  readonly description: string
}
const encodeVisible = (visible: readonly Visible[]): Document =>
  Object.fromEntries(visible.map(({ path, type, description }) => [`${path}/`, { type, description, options: null }]))

const visible: Answer<{ readonly auth: readonly Visible[]; readonly secret: readonly Visible[] }, unknown> = {
  kind: "data",
  encode: ({ auth, secret }) => ({ data: { auth: encodeVisible(auth), secret: encodeVisible(secret) } }),
}
const preflight: Answer<Mounted<string, MountConfig>, unknown> = {
  kind: "data",
  encode: (view) => ({
    data: {
      ...encodeMounted(view, encodeTune(view, encodeMembers(config.table, view.config, "native"))),
      path: `${view.path}/`,
    },
  }),
}

export const mounts = contract({
  list: {
    operation: "read",
    path: "/sys/mounts",
    summary: "Returns all mounts, by path.",
    rights: "read",
    answers: mounted.all,
  },
  get: {
    operation: "read",
    path: "/sys/mounts/*path",
    summary: "Returns a mount as it was set up.",
    rights: "read",
    answers: mounted.one,
  },
  create: {
    operation: "write",
    path: "/sys/mounts/*path",
    summary: "Mounts a certificate authority at a path.",
    rights: "create or update",
    body: enableMount,
    answers: warnings,
  },
  delete: {
    operation: "delete",
    path: "/sys/mounts/*path",
    summary: "Deletes a mount with its issuers, keys, roles and certificates.",
    rights: "delete",
    answers: nothing,
  },
  getTuned: {
    operation: "read",
    path: "/sys/mounts/*path/tune",
    summary: "Returns the configuration that holds for a mount, with the defaults of the system.",
    rights: "read",
    answers: mounted.tuned,
  },
  tune: {
    operation: "write",
    path: "/sys/mounts/*path/tune",
    summary: "Changes the configuration of a mount: parameters left out keep their values.",
    rights: "create or update",
    body: tuneMount,
    answers: nothing,
  },
  move: {
    operation: "write",
    path: "/sys/remount",
    summary: "Moves a mount to another path. The move is complete when the answer arrives.",
    rights: "update and sudo",
    body: bodyOf(remount),
    answers: {
      ...dataOf(
        move,
        (moved: MountMove) => ({ data: { migration_id: mountMoveId(moved) } }),
        (_envelope): unknown => undefined,
      ),
      repeated: true,
    },
  },
  moved: {
    operation: "read",
    path: "/sys/remount/status/:migration_id",
    summary: "Returns the state of a move, which is always success.",
    rights: "read",
    answers: {
      ...dataOf(
        move,
        (moved: MountMove) => ({
          data: {
            migration_id: mountMoveId(moved),
            migration_info: { source_mount: `${moved.from}/`, target_mount: `${moved.to}/`, status: "success" },
          },
        }),
        ({ data }) => {
          const moved = parseMountMoveId(decodeAnswer(move, data).migrationId)
          if (moved === undefined) throw unreadable("it contains no migration")
          return moved
        },
      ),
      repeated: true,
    },
  },
  visible: {
    operation: "read",
    path: "/sys/internal/ui/mounts",
    summary:
      "Returns the mounts and auth methods that the caller may use, or, without a token, those with listing_visibility unauth.",
    rights: "none",
    open: true,
    tokenCounts: true,
    answers: visible,
  },
  preflight: {
    operation: "read",
    path: "/sys/internal/ui/mounts/*path",
    summary: "Returns the mount or auth method that an address lies in, if the caller may use anything in it.",
    rights: "none",
    answers: preflight,
  },
})
