// Implementation of `Cluster` with a folder. Manifests declare objects. A second folder, which only its owner may read, contains each
// object as `kubectl get -o yaml` shows it. An object is on disk before any follower is notified. Writes are atomic: a crash leaves the old
// or the new object. Reconcilers see no difference to a Kubernetes cluster.
import { mkdir, readdir, readFile, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { writeDurably } from "@chancery/engine/cli"
import { parse, stringify } from "yaml"
import { ApiError, type ApplyOptions, type Cluster, type Followed, type Following } from "../kube/cluster.ts"
import type { Kind } from "../api/definition.ts"
import {
  apiVersionOf,
  keyOf,
  type KubernetesObject,
  type ObjectKey,
  type ObjectMetadata,
  parseKey,
  type Resource,
  secondTime,
} from "../kube/kubernetes-object.ts"
import type { ObjectStore } from "../kube/object-store.ts"
import type { OperatorRuntime } from "../runtime.ts"
import { admit, type Declared, defaultNamespace, plainResources } from "./admission.ts"
import type { Manifest, ManifestFault, ManifestFolder } from "./manifests.ts"

export interface DirectoryClusterOptions {
  /** Created if it is missing. */
  readonly folder: string
  readonly kinds: readonly Kind<unknown>[]
  readonly runtime: Pick<OperatorRuntime, "clock" | "random">
}

export interface Declaration {
  readonly faults: readonly ManifestFault[]
  /** Number of objects of foreign kinds, which are skipped. */
  readonly passedOver: number
}

/** Fields of an object that one field manager applies. */
interface Part {
  readonly declared: Declared & { readonly metadata?: Partial<ObjectMetadata> }
  /** File of the manifest, relative to the folder. */
  readonly file?: string
}

interface StoredObject {
  readonly resource: Resource
  readonly object: KubernetesObject
  readonly parts: ReadonlyMap<string, Part>
}

interface Follower {
  readonly what: Followed
  readonly store: ObjectStore
  readonly changed: (key: ObjectKey, how: "found" | "changed", previous: KubernetesObject | undefined) => void
}

/** Field manager of manifests. */
const manifestManager = "manifest"

export class DirectoryCluster implements Cluster {
  readonly #options: DirectoryClusterOptions
  readonly #resources: readonly Resource[]
  readonly #stored = new Map<string, Map<ObjectKey, StoredObject>>()
  readonly #followers = new Set<Follower>()
  /** Objects that were declared again while under deletion, by place. */
  readonly #awaited = new Map<string, Part>()
  #version = 0
  #writing: Promise<unknown> = Promise.resolve()

  private constructor(options: DirectoryClusterOptions) {
    this.#options = options
    this.#resources = [...options.kinds, ...plainResources]
    for (const resource of this.#resources) this.#stored.set(nameOf(resource), new Map())
  }

  /** Opens the cluster and reads all stored objects. */
  static async open(options: DirectoryClusterOptions): Promise<DirectoryCluster> {
    const cluster = new DirectoryCluster(options)
    for (const resource of cluster.#resources) await cluster.#read(resource)
    return cluster
  }

  /** Returns all current objects of a kind. */
  list(resource: Resource): readonly KubernetesObject[] {
    return [...(this.#stored.get(nameOf(resource))?.values() ?? [])].map(({ object }) => object)
  }

  /**
   * Applies the manifests: creates, changes and deletes objects to match them. Rejected objects stay unchanged, and so do objects from
   * files that cannot be read now.
   */
  async declare({ manifests, faults, unreadable }: ManifestFolder): Promise<Declaration> {
    const found = [...faults]
    const declaredIn = new Map<string, Manifest>()
    let passedOver = 0
    this.#awaited.clear()
    for (const manifest of manifests) {
      const place = this.#placeOf(manifest)
      const first = place === undefined ? undefined : declaredIn.get(place)
      if (first !== undefined) {
        const { kind, metadata } = manifest.object as unknown as KubernetesObject
        const message = `the ${kind} ${metadata.name} is already declared in ${first.file}:${first.line}`
        found.push({ file: manifest.file, line: manifest.line, message })
        continue
      }
      // A rejected object counts as declared, so it is not deleted.
      if (place !== undefined) declaredIn.set(place, manifest)
      const admitted = admit(
        manifest,
        this.#options.kinds,
        (resource, key) => this.#living(resource, key)?.object["spec"],
      )
      if (admitted === undefined) passedOver += 1
      else if (Array.isArray(admitted)) {
        found.push(
          ...admitted.map(({ field, message }) => ({
            file: manifest.file,
            line: manifest.lineOf(field.split(".")),
            message: `${field}: ${message}`,
          })),
        )
      } else if ("key" in admitted) {
        const { resource, key, declared } = admitted
        await this.#say(resource, key, manifestManager, { declared, file: manifest.file })
      }
    }
    for (const objects of this.#stored.values()) {
      for (const [key, { resource, parts }] of objects) {
        const file = parts.get(manifestManager)?.file
        if (file !== undefined && !declaredIn.has(placeOf(resource, key)) && !unreadable.has(file))
          await this.#retract(resource, key)
      }
    }
    return { faults: found, passedOver }
  }

  follow(what: Followed, store: ObjectStore, changed: Follower["changed"]): Following {
    const follower = { what, store, changed }
    let over = false
    let hasSynced = false
    const synced = Promise.resolve().then(() => {
      if (over) return
      this.#followers.add(follower)
      for (const object of this.list(what.resource)) {
        if (!matches(what, object)) continue
        const previous = store.set(object)
        changed(keyOf(object), "found", previous)
      }
      hasSynced = true
    })
    return {
      get hasSynced() {
        return hasSynced
      },
      whenSynced: () => synced,
      stop: async () => {
        over = true
        this.#followers.delete(follower)
      },
    }
  }

  async get(resource: Resource, key: ObjectKey): Promise<KubernetesObject | undefined> {
    return this.#stored.get(nameOf(resource))?.get(key)?.object
  }

  async apply(
    resource: Resource,
    object: KubernetesObject,
    fieldManager: string,
    { dryRun = false }: ApplyOptions = {},
  ): Promise<KubernetesObject> {
    // This cluster rejects no writes.
    if (dryRun) return object
    const { apiVersion: _, kind: __, metadata, status: ___, ...rest } = object
    return this.#say(
      resource,
      keyOf(object),
      fieldManager,
      { declared: { ...aboutOf(metadata), ...rest } },
      metadata.uid,
    )
  }

  async dataManagers(resource: Resource, key: ObjectKey): Promise<readonly string[]> {
    const parts = this.#stored.get(nameOf(resource))?.get(key)?.parts ?? new Map<string, Part>()
    return [...parts].flatMap(([manager, { declared }]) => ("data" in declared ? [manager] : []))
  }

  applyStatus(
    resource: Resource,
    { metadata: { name, namespace, uid } }: KubernetesObject,
    status: unknown,
    _fieldManager: string,
    { resourceVersion }: { readonly resourceVersion?: string } = {},
  ): Promise<KubernetesObject> {
    const key = namespace === undefined ? name : `${namespace}/${name}`
    return this.#serially(async () => {
      const stored = this.#existing(resource, key, uid, resourceVersion)
      return this.#put(key, { ...stored, object: { ...stored.object, status } })
    })
  }

  /** A folder has no users. */
  async isPermitted(): Promise<boolean> {
    return false
  }

  setFinalizers(
    resource: Resource,
    { metadata: { name, namespace, uid, resourceVersion } }: KubernetesObject,
    finalizers: readonly string[],
  ): Promise<KubernetesObject> {
    const key = namespace === undefined ? name : `${namespace}/${name}`
    return this.#serially(async () => {
      const stored = this.#existing(resource, key, uid, resourceVersion)
      const { finalizers: _, ...metadata } = stored.object.metadata
      const object = { ...stored.object, metadata: { ...metadata, ...(finalizers.length > 0 && { finalizers }) } }
      if (metadata.deletionTimestamp === undefined || finalizers.length > 0)
        return this.#put(key, { ...stored, object })
      await this.#remove(resource, key)
      return object
    })
  }

  delete(resource: Resource, key: ObjectKey, uid?: string): Promise<void> {
    return this.#serially(() => this.#delete(resource, key, uid))
  }

  #living(resource: Resource, key: ObjectKey): StoredObject | undefined {
    const stored = this.#stored.get(nameOf(resource))?.get(key)
    return stored?.object.metadata.deletionTimestamp === undefined ? stored : undefined
  }

  /** Returns the place that the manifest declares; undefined if its kind is unknown or its name is missing. */
  #placeOf({ object: { apiVersion, kind, metadata } }: Manifest): string | undefined {
    const { name, namespace = defaultNamespace } = (metadata ?? {}) as Partial<ObjectMetadata>
    const resource = this.#resources.find((one) => apiVersionOf(one) === apiVersion && one.kind === kind)
    if (resource === undefined || name === undefined) return undefined
    return placeOf(resource, resource.scope === "Cluster" ? name : `${namespace}/${name}`)
  }

  /** Replaces what `manager` applied before. With a uid, it creates nothing and changes no other object of the same name. */
  #say(resource: Resource, key: ObjectKey, manager: string, part: Part, uid?: string): Promise<KubernetesObject> {
    return this.#serially(async () => {
      if (!this.#stored.has(nameOf(resource)))
        throw new ApiError(404, "NotFound", `${resource.plural} are not available with manifests`)
      const stored = this.#stored.get(nameOf(resource))?.get(key)
      if (uid !== undefined && stored?.object.metadata.uid !== uid) throw conflict(resource, key)
      // The deletion completes first. Then the object is created from its latest declaration.
      if (stored?.object.metadata.deletionTimestamp !== undefined && manager === manifestManager) {
        this.#awaited.set(placeOf(resource, key), part)
        return stored.object
      }
      const parts = new Map(stored?.parts)
      // The last writer of a field wins.
      parts.delete(manager)
      parts.set(manager, part)
      return this.#put(key, { resource, object: stored?.object ?? this.#born(resource, key), parts })
    })
  }

  /** Removes the manifest's part after no manifest declares the object any more. */
  #retract(resource: Resource, key: ObjectKey): Promise<unknown> {
    return this.#serially(async () => {
      const stored = this.#stored.get(nameOf(resource))?.get(key)
      if (stored === undefined) return
      const parts = new Map(stored.parts)
      parts.delete(manifestManager)
      if (parts.size === 0) await this.#delete(resource, key)
      else await this.#put(key, { ...stored, parts })
    })
  }

  #born(resource: Resource, key: ObjectKey): KubernetesObject {
    const { random, clock } = this.#options.runtime
    const metadata = { ...parseKey(key), uid: newUid(random), creationTimestamp: secondTime(clock.now()) }
    return { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata }
  }

  #existing(
    resource: Resource,
    key: ObjectKey,
    uid: string | undefined,
    resourceVersion: string | undefined,
  ): StoredObject {
    const stored = this.#stored.get(nameOf(resource))?.get(key)
    if (stored === undefined) throw new ApiError(404, "NotFound", `there is no ${resource.kind} ${key}`)
    const { metadata } = stored.object
    const same = uid === undefined || metadata.uid === uid
    if (!same || (resourceVersion !== undefined && metadata.resourceVersion !== resourceVersion))
      throw conflict(resource, key)
    return stored
  }

  async #delete(resource: Resource, key: ObjectKey, uid?: string): Promise<void> {
    const stored = this.#stored.get(nameOf(resource))?.get(key)
    if (stored === undefined || (uid !== undefined && stored.object.metadata.uid !== uid)) return
    const { metadata } = stored.object
    if ((metadata.finalizers ?? []).length === 0) return this.#remove(resource, key)
    if (metadata.deletionTimestamp !== undefined) return
    const deletionTimestamp = secondTime(this.#options.runtime.clock.now())
    const generation = (metadata.generation ?? 0) + 1
    await this.#put(key, {
      ...stored,
      object: { ...stored.object, metadata: { ...metadata, generation, deletionTimestamp } },
    })
  }

  /** Composes the object, writes it to disk, and then notifies followers. Does nothing if nothing differs. */
  async #put(key: ObjectKey, { resource, object, parts }: StoredObject): Promise<KubernetesObject> {
    const made = composed(object, parts)
    const previous = this.#stored.get(nameOf(resource))?.get(key)
    if (previous !== undefined && isDeepStrictEqual(previous.object, made) && sameFile(previous, parts))
      return previous.object
    const version = String((this.#version += 1))
    const next = { ...made, metadata: { ...made.metadata, resourceVersion: version } }
    await this.#write({ resource, object: next, parts }, key)
    this.#stored.get(nameOf(resource))?.set(key, { resource, object: next, parts })
    if (previous === undefined || !isDeepStrictEqual(previous.object, made))
      this.#tell(resource, key, previous?.object, next)
    return next
  }

  async #remove(resource: Resource, key: ObjectKey): Promise<void> {
    const objects = this.#stored.get(nameOf(resource))
    const stored = objects?.get(key)
    if (stored === undefined) return
    await rm(this.#fileOf(resource, key), { force: true })
    objects?.delete(key)
    this.#tell(resource, key, stored.object, undefined)
    const again = this.#awaited.get(placeOf(resource, key))
    if (again !== undefined) {
      this.#awaited.delete(placeOf(resource, key))
      await this.#put(key, { resource, object: this.#born(resource, key), parts: new Map([[manifestManager, again]]) })
    }
    // Garbage collection as in a Kubernetes cluster: deletes objects that this one owns.
    const { uid } = stored.object.metadata
    for (const others of this.#stored.values())
      for (const [dependent, { resource: of, object }] of others)
        if (ownersOf(object).some((owner) => owner.uid === uid)) await this.#delete(of, dependent)
  }

  #tell(
    resource: Resource,
    key: ObjectKey,
    before: KubernetesObject | undefined,
    after: KubernetesObject | undefined,
  ): void {
    for (const { what, store, changed } of this.#followers) {
      if (nameOf(what.resource) !== nameOf(resource)) continue
      if (after !== undefined && matches(what, after)) changed(key, "changed", store.set(after))
      else if (before !== undefined && matches(what, before)) changed(key, "changed", store.delete(key))
    }
  }

  /** Serializes writes, because one write may change several objects. */
  #serially<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.#writing.then(work)
    this.#writing = done.catch(() => {})
    return done
  }

  #fileOf(resource: Resource, key: ObjectKey): string {
    const names = key.split("/")
    // Names were checked earlier; checked again because they become a path.
    if (names.some((name) => !/^[a-z0-9][-.a-z0-9]*$/.test(name)))
      throw new ApiError(422, "Invalid", `${key} is not a valid name`)
    return `${join(this.#options.folder, resource.plural, ...names)}.yaml`
  }

  async #write({ resource, object, parts }: StoredObject, key: ObjectKey): Promise<void> {
    const file = this.#fileOf(resource, key)
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    const managedFields = [...parts].map(([manager, part]) => ({
      manager,
      operation: "Apply",
      ...(part.file === undefined ? {} : { file: part.file }),
      // With a single manager, its part is the whole object.
      ...(parts.size === 1 ? {} : { applied: part.declared }),
    }))
    const document = { ...object, metadata: { ...object.metadata, managedFields } }
    await writeDurably(file, stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }), 0o600)
  }

  async #read(resource: Resource): Promise<void> {
    const root = join(this.#options.folder, resource.plural)
    const paths = await readdir(root, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return []
      throw error
    })
    for (const path of paths) {
      if (!path.endsWith(".yaml")) continue
      const stored = parseStoredObject(resource, await readFile(join(root, path), "utf8"), join(root, path))
      this.#version = Math.max(this.#version, Number(stored.object.metadata.resourceVersion ?? 0))
      this.#stored.get(nameOf(resource))?.set(keyOf(stored.object), stored)
    }
  }
}

interface Managed {
  readonly manager: string
  readonly file?: string
  readonly applied?: Part["declared"]
}

function parseStoredObject(resource: Resource, text: string, file: string): StoredObject {
  const document = parse(text) as Partial<KubernetesObject> | null
  if (document?.metadata?.uid === undefined)
    throw new Error(`${file} contains no valid object; do not edit files of this folder`)
  const { managedFields, ...metadata } = document.metadata
  const object = { ...document, metadata } as KubernetesObject
  const parts = ((managedFields ?? []) as readonly Managed[]).map((managed): [string, Part] => [
    managed.manager,
    { declared: managed.applied ?? allOf(object), ...(managed.file === undefined ? {} : { file: managed.file }) },
  ])
  return { resource, object, parts: new Map(parts) }
}

/** Returns the part of an object's only manager. */
function allOf(object: KubernetesObject): Part["declared"] {
  const { apiVersion: _, kind: __, status: ___, metadata, ...rest } = object
  return { ...aboutOf(metadata), ...rest }
}

/** Returns the metadata that managers declare. */
function aboutOf({ labels, annotations, ownerReferences }: ObjectMetadata): Part["declared"] {
  const about = Object.entries({ labels, annotations, ownerReferences }).filter(([, value]) => value !== undefined)
  return about.length === 0 ? {} : { metadata: Object.fromEntries(about) }
}

/** Merges the parts of all managers into the object. Identity, times, finalizers and status are the object's own. */
function composed(object: KubernetesObject, parts: StoredObject["parts"]): KubernetesObject {
  const { apiVersion, kind, metadata, status } = object
  const { labels: _, annotations: __, ownerReferences: ___, ...own } = metadata
  const { metadata: about = {}, ...content } = [...parts.values()]
    .map(({ declared }) => declared as Readonly<Record<string, unknown>>)
    .reduce(merged, {}) as Readonly<Record<string, unknown>> & { readonly metadata?: object }
  const hasSpec = "spec" in content
  const changed = hasSpec && !isDeepStrictEqual(content["spec"], object["spec"])
  const generation = (own.generation ?? 0) + (changed ? 1 : 0)
  // The status default of the CustomResourceDefinition: not reconciled yet.
  const first = hasSpec ? { observedGeneration: 0 } : undefined
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    metadata: { ...own, ...about, ...(hasSpec ? { generation } : {}) },
    ...content,
    ...((status ?? first) === undefined ? {} : { status: status ?? first }),
  }
}

function merged(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const both = { ...before }
  for (const [name, value] of Object.entries(after)) {
    const present = both[name]
    both[name] = isObject(present) && isObject(value) ? merged(present, value) : value
  }
  return both
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const sameFile = (stored: StoredObject, parts: StoredObject["parts"]): boolean =>
  stored.parts.get(manifestManager)?.file === parts.get(manifestManager)?.file && isDeepStrictEqual(stored.parts, parts)

function matches({ namespace, name, labelSelector }: Followed, { metadata }: KubernetesObject): boolean {
  if (namespace !== undefined && metadata.namespace !== namespace) return false
  if (name !== undefined && metadata.name !== name) return false
  if (labelSelector === undefined) return true
  return labelSelector.split(",").every((term) => {
    const [label = "", value] = term.split("=")
    const present = metadata.labels?.[label]
    return value === undefined ? present !== undefined : present === value
  })
}

const ownersOf = ({ metadata }: KubernetesObject): readonly { readonly uid?: string }[] =>
  (metadata["ownerReferences"] as readonly { readonly uid?: string }[] | undefined) ?? []

const nameOf = ({ plural, group }: Resource): string => `${plural}.${group}`

const placeOf = (resource: Resource, key: ObjectKey): string => `${nameOf(resource)} ${key}`

const conflict = ({ kind }: Resource, key: ObjectKey): ApiError =>
  new ApiError(409, "Conflict", `the ${kind} ${key} has been modified`)

/** Returns a UUID as the Kubernetes API does (RFC 9562, version 4). */
function newUid(random: () => number): string {
  const digits = (count: number) => Array.from({ length: count }, () => Math.floor(random() * 16).toString(16)).join("")
  const variant = (8 + Math.floor(random() * 4)).toString(16)
  return `${digits(8)}-${digits(4)}-4${digits(3)}-${variant}${digits(3)}-${digits(12)}`
}
