// Lifecycles of all kinds, by the name that states use.
import type { Runtime } from "@chancery/engine"
import { systemRuntime } from "@chancery/engine/declared/shared"
import { certificateLifecyclesBy } from "./certificate-lifecycles.ts"
import type { KindName } from "./kind-name.ts"
import type { Lifecycle } from "./lifecycle.ts"
import { workspaceLifecyclesBy } from "./workspace-lifecycles.ts"

export const lifecyclesBy = (clock: Runtime["clock"]): Readonly<Record<KindName, Lifecycle>> => ({
  ...workspaceLifecyclesBy(clock),
  ...certificateLifecyclesBy(clock),
})

export const lifecycles = lifecyclesBy(systemRuntime().clock)
