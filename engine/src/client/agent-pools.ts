import { agentPools } from "../contracts/tfe/agent-pool.ts"
import type { AgentPools } from "../organizations/agent-pool.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"

export const remoteAgentPools = (transport: Transport): AgentPools => remote(agentPools, transport)
