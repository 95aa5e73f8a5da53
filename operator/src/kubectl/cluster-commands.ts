// Commands for objects in a Kubernetes cluster: subcommands of `chancery operator` and of `kubectl chancery`. Their definitions load no
// Kubernetes client.
import type { Command, Terminal } from "@chancery/engine/cli"
import { eventsCommand } from "./events-command.ts"
import { inspectCommand } from "./inspect-command.ts"
import { renewCommand } from "./renew-command.ts"
import { statusCommand } from "./status-command.ts"

export const clusterCommands = (terminal: Terminal): readonly Command[] => [
  statusCommand(terminal),
  renewCommand(terminal),
  inspectCommand(terminal),
  eventsCommand(terminal),
]
