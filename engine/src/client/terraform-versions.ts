import { terraformVersions } from "../contracts/tfe/terraform-version.ts"
import type { TerraformVersions } from "../workspaces/terraform-version.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"

export const remoteTerraformVersions = (transport: Transport): TerraformVersions => remote(terraformVersions, transport)
