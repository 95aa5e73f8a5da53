import { remoteStateConsumers } from "../../contracts/tfe/remote-state-consumers.ts"
import { implement } from "../implement.ts"

export const remoteStateConsumerRoutes = implement(remoteStateConsumers, {
  list: ({ engine }, id, page) => engine.remoteStateConsumers.list(id, page),
  replace: ({ engine }, id, consumerIds) => engine.remoteStateConsumers.replace(id, consumerIds),
  add: ({ engine }, id, consumerIds) => engine.remoteStateConsumers.add(id, consumerIds),
  remove: ({ engine }, id, consumerIds) => engine.remoteStateConsumers.remove(id, consumerIds),
})
