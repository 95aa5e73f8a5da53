import { sshKeys } from "../contracts/tfe/ssh-key.ts"
import type { SshKeys } from "../organizations/ssh-key.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"

export function remoteSshKeys(transport: Transport): SshKeys {
  const { assign: _, ...same } = remote(sshKeys, transport)
  return same
}
