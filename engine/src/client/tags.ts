import { tags } from "../contracts/tfe/tag.ts"
import type { Tags } from "../workspaces/tags/tag-api.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"

export function remoteTags(transport: Transport): Tags {
  const {
    create,
    ofWorkspace,
    bindings,
    effectiveBindings,
    projectBindings,
    addBindings: _add,
    changeBindings: _change,
    effectiveProjectBindings: _effective,
    ...same
  } = remote(tags, transport)
  return {
    ...same,
    create: (organization, names) => create(organization, { names, many: true }),
    ofWorkspace: (id, page, filter = {}) => ofWorkspace(id, filter, page),
    bindings: (id, showing = {}) => bindings(id, showing),
    effectiveBindings: (id, showing = {}) => effectiveBindings(id, showing),
    projectBindings: (id, showing = {}) => projectBindings(id, showing),
  }
}
