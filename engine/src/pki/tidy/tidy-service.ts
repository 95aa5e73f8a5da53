import { rejectFaults } from "../../core/errors.ts"
import { authorizeOnMount, type MountAccess, type PkiRepositories } from "../pki-context.ts"
import { changeMount, currentSnapshot, readMount, transactOnMount } from "../mounts/with-mount-snapshot.ts"
import type { MountSnapshot } from "../mounts/mount-snapshot.ts"
import { autoTidyFaults, type AutoTidyPatch, autoTidyView, type AutoTidyView } from "./auto-tidy.ts"
import {
  defaultTidyOptions,
  resolvedTidyOptions,
  tidiesAnything,
  tidyOptionFaults,
  type TidyOptions,
} from "./tidy-options.ts"
import { nextPhase, type TidyRun } from "./tidy-run.ts"
import { tidyJob } from "./tidy-mounts.ts"
import type { Tidy, TidyInput, TidyRunView, TidyStatus } from "./tidy-api.ts"

const writing = ["create", "update"] as const

export class TidyService implements Tidy {
  readonly #access: MountAccess

  constructor(access: MountAccess) {
    this.#access = access
  }

  async start(input: TidyInput): Promise<readonly string[]> {
    authorizeOnMount(this.#access, writing, "tidy")
    const requested: TidyOptions = { ...defaultTidyOptions, ...input }
    rejectFaults(tidyOptionFaults(requested))
    const options = resolvedTidyOptions(requested)
    const isBegun = await transactOnMount(this.#access, ({ mount }, { tidyRuns }) =>
      tidyRuns.begin({
        mountId: mount.id,
        automatic: false,
        options,
        progress: nextPhase(options),
        startedAt: this.#access.context.runtime.clock.now(),
      }),
    )
    // Wakes the job also for an active run, whose server may have died.
    this.#access.context.wakeJob(tidyJob.name)
    if (!isBegun) return ["Tidy operation already in progress."]
    return [
      tidiesAnything(requested)
        ? "Tidy operation successfully started. Read its progress from tidy-status."
        : "Manual tidy requested but no tidy operations were set. Enable at least one tidy operation to be run (tidy_cert_store / tidy_revoked_certs / …).",
    ]
  }

  async cancel() {
    authorizeOnMount(this.#access, writing, "tidy-cancel")
    const { isCancelled, status } = await transactOnMount(this.#access, async (snapshot, repositories) => {
      const cancelled = await repositories.tidyRuns.cancel(snapshot.mount.id)
      return { isCancelled: cancelled, status: await statusIn(snapshot, repositories) }
    })
    if (isCancelled) this.#access.context.wakeJob(tidyJob.name)
    const isGoingOn = status.run?.state === "cancelling"
    return {
      status,
      warnings: isGoingOn ? [] : ["Tidy operation cannot be cancelled as none is currently running."],
    }
  }

  async getStatus(): Promise<TidyStatus> {
    authorizeOnMount(this.#access, "read", "tidy-status")
    return readMount(this.#access, statusIn)
  }

  async getAutomatic(): Promise<AutoTidyView> {
    authorizeOnMount(this.#access, "read", "config/auto-tidy")
    return autoTidyView((await currentSnapshot(this.#access)).settings.autoTidy)
  }

  async changeAutomatic(patch: AutoTidyPatch): Promise<AutoTidyView> {
    authorizeOnMount(this.#access, writing, "config/auto-tidy")
    return changeMount(this.#access, async ({ mount, settings: { autoTidy } }, { mountSettings }) => {
      const changed = { ...autoTidy, ...patch }
      rejectFaults(autoTidyFaults(changed))
      await mountSettings.save(mount.id, "autoTidy", changed)
      return autoTidyView(changed)
    })
  }
}

async function statusIn(
  { mount, settings }: MountSnapshot,
  { tidyRuns, statistics }: PkiRepositories,
): Promise<TidyStatus> {
  const { run, lastAutomaticFinishedAt } = await tidyRuns.find(mount.id)
  const isCounted = settings.autoTidy.maintainStoredCertificateCounts
  const counted = isCounted ? await statistics.find(mount.id) : undefined
  return {
    run: run && viewOf(run),
    lastAutomaticFinishedAt,
    stored: counted && {
      certificates: counted.valid + counted.expired + counted.revoked,
      revoked: counted.revoked,
    },
    mountUuid: mount.uuid,
  }
}

const viewOf = ({
  mountId: _mount,
  number: _number,
  step: _step,
  progress: _progress,
  automatic: _automatic,
  ...view
}: TidyRun): TidyRunView => view
