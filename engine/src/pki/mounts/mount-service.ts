import { allowsPath, authorizePath, type Capability } from "../../core/access.ts"
import type { Caller } from "../../core/caller.ts"
import { conflict, notFound, rejectFaults, unprocessable } from "../../core/errors.ts"
import { newId, newUuid } from "../../core/ids.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Storage } from "../../core/storage.ts"
import type { MountDirectory } from "./mount-directory.ts"
import {
  initialMountConfig,
  initialMountTraits,
  type Mount,
  mountFaults,
  type MountInput,
  mountInTheWay,
  type MountMove,
  mountOptionsAfter,
  type MountPatch,
  mountPathFaults,
  mountPathOf,
  type MountRepository,
  type Mounts,
  type MountView,
  parseMountMoveId,
} from "./mount.ts"

interface UsedRepositories {
  readonly mounts: MountRepository
}

const writing = ["create", "update"] as const
/** All mounts are cached in memory and returned by one list request. */
const maxMounts = 10_000

export class MountService implements Mounts {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #directory: MountDirectory
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, directory: MountDirectory, caller: Caller) {
    this.#storage = storage
    this.#runtime = runtime
    this.#directory = directory
    this.#caller = caller
  }

  async create({ path: text, description = "", config, traits, options = {} }: MountInput): Promise<MountView> {
    this.#authorize(text, writing)
    const { random, clock } = this.#runtime
    const mount: Mount = {
      id: newId("mnt", random),
      path: mountPathOf(text),
      type: "pki",
      description,
      config: { ...initialMountConfig, ...config },
      traits: { ...initialMountTraits, ...traits },
      options: mountOptionsAfter({}, options),
      accessor: `pki_${Buffer.from(random.bytes(4)).toString("hex")}`,
      uuid: newUuid(random),
      createdAt: clock.now(),
    }
    rejectFaults([...mountPathFaults(mount.path), ...mountFaults(mount)])
    return this.#storage.transact(async ({ mounts }) => {
      const others = await mounts.list()
      if (others.length >= maxMounts) throw unprocessable(`the maximum of ${maxMounts} mounts is reached`)
      rejectTakenPath(mount.path, others)
      await mounts.insert(mount)
      return mountViewOf(mount)
    })
  }

  async list(): Promise<readonly MountView[]> {
    authorizePath(this.#caller, { path: "sys/mounts", capability: "read" })
    return this.#storage.read(async ({ mounts }) => (await mounts.list()).map(mountViewOf))
  }

  async get(path: string): Promise<MountView> {
    const mountPath = `sys/mounts/${mountPathOf(path)}`
    // The right to read the tuned settings includes the rest of the mount's view.
    if (!allowsPath(this.#caller, { path: `${mountPath}/tune`, capability: "read" }))
      authorizePath(this.#caller, { path: mountPath, capability: "read" })
    return mountViewOf((await this.#directory.current()).at(path))
  }

  async tune(path: string, { description, config, options = {} }: MountPatch): Promise<MountView> {
    this.#authorize(`${mountPathOf(path)}/tune`, writing)
    return this.#storage.transact(async (repositories) => {
      const before = (await this.#directory.within(repositories)).at(path)
      const after: Mount = {
        ...before,
        description: description ?? before.description,
        config: { ...before.config, ...config },
        options: mountOptionsAfter(before.options, options),
      }
      rejectFaults(mountFaults(after))
      await repositories.mounts.save(after)
      return mountViewOf(after)
    })
  }

  async delete(path: string): Promise<void> {
    this.#authorize(path, "delete")
    await this.#storage.transact(async (repositories) => {
      const { id } = (await this.#directory.within(repositories)).at(path)
      await repositories.mounts.remove(id)
    })
  }

  async move(from: string, to: string): Promise<MountView> {
    authorizePath(this.#caller, { path: "sys/remount", capability: writing, sudo: true })
    const path = mountPathOf(to)
    rejectFaults(mountPathFaults(path))
    return this.#storage.transact(async (repositories) => {
      const before = (await this.#directory.within(repositories)).at(from)
      rejectTakenPath(
        path,
        (await repositories.mounts.list()).filter(({ id }) => id !== before.id),
      )
      const after = { ...before, path }
      await repositories.mounts.save(after)
      return mountViewOf(after)
    })
  }

  async moved(moveId: string): Promise<MountMove> {
    authorizePath(this.#caller, { path: `sys/remount/status/${moveId}`, capability: "read" })
    const move = parseMountMoveId(moveId)
    const { mounts } = await this.#directory.current()
    if (move === undefined || mounts.every(({ uuid }) => uuid !== move.uuid)) throw notFound()
    return move
  }

  #authorize(path: string, capability: Capability | readonly Capability[]): void {
    authorizePath(this.#caller, { path: `sys/mounts/${mountPathOf(path)}`, capability })
  }
}

function rejectTakenPath(path: string, others: readonly Mount[]): void {
  const existing = mountInTheWay(path, others)
  if (existing !== undefined) throw conflict(`path is already in use at ${existing.path}/`)
}

export const mountViewOf = ({ id: _id, createdAt: _createdAt, ...shown }: Mount): MountView => shown
