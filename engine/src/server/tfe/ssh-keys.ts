import { sshKeys } from "../../contracts/tfe/ssh-key.ts"
import { implement } from "./implement.ts"

export const sshKeyRoutes = implement(sshKeys, {
  create: ({ engine }, organization, input) => engine.sshKeys.create(organization, input),
  list: ({ engine }, organization, page) => engine.sshKeys.list(organization, page),
  get: ({ engine }, id) => engine.sshKeys.get(id),
  update: ({ engine }, id, patch) => engine.sshKeys.update(id, patch),
  delete: ({ engine }, id) => engine.sshKeys.delete(id),
  assign: ({ engine }, id, sshKeyId) => engine.workspaces.assignSshKey({ id }, sshKeyId),
})
