// Starts one control plane for all suites of a run that need one.
import { findKubernetes, kubernetesInstallation } from "../../toolchain/kubernetes.ts"
import { printNotice, warnMissing } from "../../toolchain/missing.ts"
import { dockerAnswers } from "../../toolchain/postgres.ts"
import { openCluster, rememberCluster } from "./cluster.ts"
import { startControlPlane } from "./control-plane.ts"
import { kstatusProgram } from "./kstatus.ts"
import { recordStatuses } from "./status-recorder.ts"

export default async function setup(): Promise<() => Promise<void>> {
  const programs = await findKubernetes()
  if (programs === undefined) {
    warnMissing(kubernetesInstallation)
    return async () => {}
  }
  await using opening = new AsyncDisposableStack()
  const controlPlane = opening.use(await startControlPlane(programs))
  const cluster = openCluster(controlPlane)
  await cluster.installDefinitions()
  const recorder = kstatusProgram === undefined ? undefined : opening.use(await recordStatuses(cluster.adminAccess()))
  rememberCluster("plane", controlPlane)
  if (!(await dockerAnswers()))
    printNotice("No Docker engine answers, so the operator's suites do not run on k3s besides.")
  const closing = opening.move()
  return async () => {
    await using _ = closing
    await recorder?.assertFaultless()
  }
}
