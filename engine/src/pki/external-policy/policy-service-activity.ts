import { LRUCache } from "lru-cache"
import type { Instant } from "../../core/time.ts"
import type { MountId } from "../mount.ts"

interface Success {
  readonly at: Instant
  /** When the settings had been changed that it was made under. */
  readonly settingsOf: Instant | null
}

const rememberedMaximum = 10_000

/** Which services have answered this process. Every server knows of its own requests, and none of them is worth a write. */
export class PolicyServiceActivity {
  readonly #successes = new LRUCache<MountId, Success>({ max: rememberedMaximum })

  succeeded(mountId: MountId, success: Success): void {
    this.#successes.set(mountId, success)
  }

  last(mountId: MountId): Success | undefined {
    return this.#successes.get(mountId)
  }
}
