import { encodeWorkspace, decodeWorkspace } from "../../wire/jsonapi/workspace.ts"

/** Lists of workspaces are long and often read: their encoder is by hand. */
export const workspace = {
  type: "workspaces",
  attributes: {},
  relationships: {},
  encode: encodeWorkspace,
  decode: decodeWorkspace,
}
