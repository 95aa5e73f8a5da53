// Reads a state of any size as it comes along, holding none of it but what it is asked for.
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

/** No serial, lineage or version is longer. */
const headerBytesMaximum = 64 * 1024
/** The value of a longer output is not kept. */
const outputBytesMaximum = 16 * 1024 * 1024
/** Of a state with more, the first are listed; all of them are counted. */
export const resourcesListedMaximum = 10_000

const headerMembers: ReadonlySet<unknown> = new Set(["version", "serial", "lineage", "terraform_version"])
const resourceMembers: ReadonlySet<unknown> = new Set(["mode", "type", "name", "provider", "module"])

interface Reader<T> {
  /** Throws `invalid` where it is no state. */
  write(bytes: Uint8Array): void
  end(): T
}

export interface FoundHeader extends StateHeader {
  /** Where the serial stands, in bytes; more than once only in a document that says it more than once. */
  readonly serialPlaces: readonly { readonly start: number; readonly end: number }[]
}

/** What a state is refused by. The rest of it is looked at no further than that it is JSON. */
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
  return reading(new JsonReader(visitor, { captureMaximumBytes: headerBytesMaximum }), () => {
    const faults: string[] = []
    const header = parseStateHeader(members, faults)
    if (faults.length > 0) throw refused(...faults)
    return { ...header, serialPlaces }
  })
}

export interface FoundContents extends StateContents {
  /** What could not be understood and was left out. A resource among it counts as one, so that nobody takes it for none. */
  readonly leftOutCount: number
}

/** What stands in a state that was taken already: whatever is odd about it is left out and counted. */
export function stateContentsReader(): Reader<FoundContents> {
  const visitor = new ContentsVisitor()
  return reading(new JsonReader(visitor, { captureMaximumBytes: outputBytesMaximum }), () => visitor.contents())
}

/** What a state manages, instance by instance; what is odd about it is left out. `digest` is taken of what each is. */
export function stateInstancesReader(digest: (text: string) => string): Reader<FoundResources> {
  const visitor = new InstancesVisitor(digest)
  return reading(new JsonReader(visitor), () => visitor.found)
}

/** Any JSON document. */
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
    else if (this.#resources.length < resourcesListedMaximum) this.#resources.push(resource)
    else {
      this.#unlisted.push(resource)
      if (this.#unlisted.length >= resourcesListedMaximum) this.#unlisted = countsOnly(this.#unlisted)
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
    // What is too long to be told apart is taken to be as it was.
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

/** `provider["registry.terraform.io/hashicorp/null"].alias` as `hashicorp/null`. */
const shortProvider = (provider: string): string =>
  /\["(?:[^"/]+\/)?([^"/]+\/[^"/]+)"\]/.exec(provider)?.[1] ?? provider

/** One for all that differ in nothing but their names. */
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
  const told = <U>(step: () => U): U => {
    try {
      return step()
    } catch (error) {
      if (error instanceof JsonFault) throw notJson()
      throw error
    }
  }
  return {
    write: (bytes) => told(() => reader.write(bytes)),
    end() {
      told(() => reader.end())
      return result()
    },
  }
}
