// Starts k3s, on which the same suites run again. The project exists only if a Docker engine seems available (`vitest.config.ts`).
import { findKubernetes } from "../../toolchain/kubernetes.ts"
import { dockerAnswers } from "../../toolchain/postgres.ts"
import { openCluster, rememberCluster } from "./cluster.ts"
import { startK3s } from "./k3s.ts"

export default async function setup(): Promise<() => Promise<void>> {
  const programs = await findKubernetes()
  if (programs === undefined || !(await dockerAnswers())) {
    // The other project has logged the warning.
    return async () => {}
  }
  await using opening = new AsyncDisposableStack()
  const k3s = opening.use(await startK3s(programs))
  await openCluster(k3s).installDefinitions()
  rememberCluster("k3s", k3s)
  const closing = opening.move()
  return () => closing.disposeAsync()
}
