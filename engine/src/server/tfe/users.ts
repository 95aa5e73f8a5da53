import { users } from "../../contracts/tfe/user.ts"
import { implement } from "./implement.ts"

export const userRoutes = implement(users, {
  get: ({ engine }, id) => engine.users.get(id),
  account: ({ engine }) => engine.users.account(),
  updateAccount: ({ engine }, patch) => engine.users.updateAccount(patch),
  updateAccountAsClients: ({ engine }, patch) => engine.users.updateAccount(patch),
  list: ({ engine }, { search }, page) => engine.users.list(search, page),
  create: ({ engine }, input) => engine.users.create(input),
  getAsAdministrator: ({ engine }, id) => engine.users.getAsAdministrator(id),
  delete: ({ engine }, id) => engine.users.delete(id),
  grantAdmin: ({ engine }, id) => engine.users.setSiteAdmin(id, true),
  revokeAdmin: ({ engine }, id) => engine.users.setSiteAdmin(id, false),
})
