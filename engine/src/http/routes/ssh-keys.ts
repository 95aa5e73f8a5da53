import { encodePage } from "../../wire/jsonapi/links.ts"
import { decodePage } from "../../wire/jsonapi/query.ts"
import {
  decodeSshKeyAssignment,
  decodeSshKeyInput,
  decodeSshKeyPatch,
  encodeSshKey,
} from "../../wire/jsonapi/ssh-key.ts"
import { encodeWorkspace } from "../../wire/jsonapi/workspace.ts"
import { type ApiRequest, created, noContent, ok, param, type Route } from "../route.ts"

const organization = (request: ApiRequest) => param(request, "organization_name")
const key = (request: ApiRequest) => param(request, "ssh_key_id")

/** SSH keys and their assignment to workspaces. */
export const sshKeyRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/organizations/:organization_name/ssh-keys",
    handle: async (request) => {
      const input = decodeSshKeyInput(await request.body())
      return created({ data: encodeSshKey(await request.engine.sshKeys.create(organization(request), input)) })
    },
  },
  {
    method: "GET",
    path: "/organizations/:organization_name/ssh-keys",
    handle: async (request) => {
      const found = await request.engine.sshKeys.list(organization(request), decodePage(request.query))
      return ok(encodePage(found, encodeSshKey, request.url))
    },
  },
  {
    method: "GET",
    path: "/ssh-keys/:ssh_key_id",
    handle: async (request) => ok({ data: encodeSshKey(await request.engine.sshKeys.get(key(request))) }),
  },
  {
    method: "PATCH",
    path: "/ssh-keys/:ssh_key_id",
    handle: async (request) => {
      const patch = decodeSshKeyPatch(await request.body())
      return ok({ data: encodeSshKey(await request.engine.sshKeys.update(key(request), patch)) })
    },
  },
  {
    method: "DELETE",
    path: "/ssh-keys/:ssh_key_id",
    handle: async (request) => {
      await request.engine.sshKeys.delete(key(request))
      return noContent
    },
  },
  {
    method: "PATCH",
    path: "/workspaces/:workspace_id/relationships/ssh-key",
    handle: async (request) => {
      const sshKeyId = decodeSshKeyAssignment(await request.body())
      const ref = { id: param(request, "workspace_id") }
      return ok({ data: encodeWorkspace(await request.engine.workspaces.assignSshKey(ref, sshKeyId)) })
    },
  },
]
