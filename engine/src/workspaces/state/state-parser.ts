// Parses states of any size as a stream. Only the requested members are held in memory.
import { type JsonKind, type JsonPath, JsonFault, JsonReader, type JsonVisitor } from "../../core/json-reader.ts"
import {
  notJson,
  parseOutput,
  parseResource,
  parseStateHeader,
  refused,
  rootModule,
  type StateContents,
  type StateHeader,
  type StateOutput,
  type StateResource,
  summarize,
} from "./state-file.ts"
import type { FoundResource, FoundResources } from "./workspace-resource.ts"

/** Serials, lineages and versions are shorter. */
const maxHeaderBytes = 64 * 1024
/** Limit of the size of an output. The values of longer ones are not stored. */
const maxOutputBytes = 16 * 1024 * 1024
/** Limit of listed resources. All resources are counted. */
export const maxResourcesListed = 10_000

const headerMembers: ReadonlySet<unknown> = new Set(["version", "serial", "lineage", "terraform_version"])
const resourceMembers: ReadonlySet<unknown> = new Set(["mode", "type", "name", "provider", "module"])

interface Reader<T> {
  /** Throws `invalid` if the document is not a state. */
  write(bytes: Uint8Array): void
  end(): T
}

export interface FoundHeader extends StateHeader {
  /** Byte ranges of the serial. There is more than one only if the document contains the member more than once. */
  readonly serialPlaces: readonly { readonly start: number; readonly end: number }[]
}

/** Reads the header of a state. Checks the remainder only for JSON syntax. */
export function stateHeaderReader(): Reader<FoundHeader> {
  const members: Record<string, unknown> = {}
  const serialPlaces: { readonly start: number; readonly end: number }[] = []
  const visitor: JsonVisitor = {
    visit(path, kind) {
      if (path.length === 0) return entered(kind)
      return headerMembers.has(path[0]) ? "capture" : "skip"
    },
    captured([name], value, place) {
      members[String(name)] = value ?? null
      if (name === "serial") serialPlaces.push(place)
    },
  }
  return reading(new JsonReader(visitor, { captureMaximumBytes: maxHeaderBytes }), () => {
    const faults: string[] = []
    const header = parseStateHeader(members, faults)
    if (faults.length > 0) throw refused(...faults)
    return { ...header, serialPlaces }
  })
}

export interface FoundContents extends StateContents {
  /**
   * Number of resources and outputs that could not be parsed and were omitted. Each such resource counts as one instance, so that the state
   * does not appear to be empty.
   */
  readonly leftOutCount: number
}

/** Reads the contents of a state that was already accepted. Malformed parts are omitted and counted. */
export function stateContentsReader(): Reader<FoundContents> {
  const visitor = new ContentsVisitor()
  return reading(new JsonReader(visitor, { captureMaximumBytes: maxOutputBytes }), () => visitor.contents())
}

/** Reads the managed resources of a state, by instance. Malformed parts are omitted. `digest` hashes the JSON of an instance. */
export function stateInstancesReader(digest: (text: string) => string): Reader<FoundResources> {
  const visitor = new InstancesVisitor(digest)
  return reading(new JsonReader(visitor), () => visitor.found)
}

/** Accepts any JSON document. */
export function jsonDocumentReader(): Reader<void> {
  return reading(new JsonReader({ visit: () => "skip", captured: () => {} }), () => {})
}

class ContentsVisitor implements JsonVisitor {
  readonly #resources: StateResource[] = []
  readonly #outputs = new Map<string, StateOutput>()
  #unlisted: StateResource[] = []
  #resource: Record<string, unknown> = {}
  #index = 0
  #leftOutCount = 0
  #unreadResourceCount = 0

  visit(path: JsonPath, kind: JsonKind): "enter" | "capture" | "skip" {
    const [part, , member] = path
    switch (path.length) {
      case 0:
        return entered(kind)
      case 1:
        return (part === "outputs" && kind === "object") || (part === "resources" && kind === "array")
          ? "enter"
          : "skip"
      case 2:
        if (part === "outputs") return "capture"
        if (kind === "object") {
          this.#resource = { instances: 0 }
          return "enter"
        }
        this.#leaveOutResource()
        return "skip"
      case 3:
        if (member === "instances") {
          this.#resource[member] = kind === "array" || kind === "scalar" ? 0 : undefined
          return kind === "array" ? "enter" : "skip"
        }
        return resourceMembers.has(member) && kind === "scalar" ? "capture" : "skip"
      default:
        this.#resource["instances"] = (this.#resource["instances"] as number) + 1
        return "skip"
    }
  }

  captured([part, name, member]: JsonPath, value: unknown): void {
    if (part === "resources") {
      this.#resource[String(member)] = value
      return
    }
    const faults: string[] = []
    const output = parseOutput(String(name), value, faults)
    if (faults.length > 0) this.#leftOutCount += 1
    else this.#outputs.set(output.name, output)
  }

  left(path: JsonPath): void {
    if (path.length !== 2 || path[0] !== "resources") return
    const faults: string[] = []
    const resource = parseResource(this.#resource, this.#index, faults)
    this.#index += 1
    if (faults.length > 0) this.#leaveOutResource()
    else if (this.#resources.length < maxResourcesListed) this.#resources.push(resource)
    else {
      this.#unlisted.push(resource)
      if (this.#unlisted.length >= maxResourcesListed) this.#unlisted = countsOnly(this.#unlisted)
    }
  }

  #leaveOutResource(): void {
    this.#leftOutCount += 1
    this.#unreadResourceCount += 1
  }

  contents(): FoundContents {
    const { resourceCount, ...counts } = summarize([...this.#resources, ...this.#unlisted])
    return {
      ...counts,
      resourceCount: resourceCount + this.#unreadResourceCount,
      resources: this.#resources,
      outputs: [...this.#outputs.values()],
      leftOutCount: this.#leftOutCount,
    }
  }
}

class InstancesVisitor implements JsonVisitor {
  readonly found = new Map<string, FoundResource>()
  readonly #digest: (text: string) => string
  #resource: Record<string, unknown> = {}
  #instances: { readonly index: unknown; readonly digest: string }[] = []

  constructor(digest: (text: string) => string) {
    this.#digest = digest
  }

  visit(path: JsonPath, kind: JsonKind): "enter" | "capture" | "skip" {
    const [part, , member] = path
    switch (path.length) {
      case 0:
        return entered(kind)
      case 1:
        return part === "resources" && kind === "array" ? "enter" : "skip"
      case 2:
        this.#resource = {}
        this.#instances = []
        return kind === "object" ? "enter" : "skip"
      case 3:
        if (member === "instances") return kind === "array" ? "enter" : "skip"
        return resourceMembers.has(member) && kind === "scalar" ? "capture" : "skip"
      default:
        return kind === "object" ? "capture" : "skip"
    }
  }

  captured(path: JsonPath, value: unknown): void {
    if (path.length === 3) this.#resource[String(path[2])] = value
    // An instance that is too long to be captured has no value here, and counts as unchanged.
    else
      this.#instances.push({
        index: (value as { readonly index_key?: unknown } | undefined)?.index_key,
        digest: this.#digest(JSON.stringify(value ?? null)),
      })
  }

  left(path: JsonPath): void {
    if (path.length !== 2) return
    const faults: string[] = []
    const resource = parseResource({ ...this.#resource, instances: this.#instances.length }, 0, faults)
    if (faults.length > 0 || this.#resource["mode"] !== "managed") return
    const { name, type, module, provider } = resource
    const prefix = module === rootModule ? "" : `${module}.`
    for (const { index, digest } of this.#instances) {
      const isIndexed = typeof index === "string" || typeof index === "number"
      const address = `${prefix}${type}.${name}${isIndexed ? `[${JSON.stringify(index)}]` : ""}`
      this.found.set(address, {
        address,
        name,
        module,
        provider: shortProvider(provider),
        providerType: type,
        nameIndex: isIndexed ? String(index) : null,
        digest,
      })
    }
  }
}

/** Shortens `provider["registry.terraform.io/hashicorp/null"].alias` to `hashicorp/null`. */
const shortProvider = (provider: string): string =>
  /\["(?:[^"/]+\/)?([^"/]+\/[^"/]+)"\]/.exec(provider)?.[1] ?? provider

/** Merges resources that differ only in their names, and adds up their instances. */
function countsOnly(resources: readonly StateResource[]): StateResource[] {
  const groups = new Map<string, StateResource>()
  for (const resource of resources) {
    const key = JSON.stringify([resource.type, resource.module, resource.provider])
    const { count } = groups.get(key) ?? { count: 0 }
    groups.set(key, { ...resource, name: "", count: count + resource.count })
  }
  return [...groups.values()]
}

function entered(kind: JsonKind): "enter" {
  if (kind !== "object") throw notJson()
  return "enter"
}

const reading = <T>(reader: JsonReader, result: () => T): Reader<T> => {
  const withJsonErrors = <U>(step: () => U): U => {
    try {
      return step()
    } catch (error) {
      if (error instanceof JsonFault) throw notJson()
      throw error
    }
  }
  return {
    write: (bytes) => withJsonErrors(() => reader.write(bytes)),
    end() {
      withJsonErrors(() => reader.end())
      return result()
    },
  }
}
