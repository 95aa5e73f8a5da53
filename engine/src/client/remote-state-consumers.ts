import { remoteStateConsumers } from "../contracts/tfe/remote-state-consumers.ts"
import type { RemoteStateConsumers } from "../workspaces/remote-state-consumers.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"

export const remoteRemoteStateConsumers = (transport: Transport): RemoteStateConsumers =>
  remote(remoteStateConsumers, transport)
