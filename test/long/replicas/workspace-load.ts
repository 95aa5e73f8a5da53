// Each writer has its own workspace and knows its expected content: the acknowledged changes, with or without the one change whose answer
// was lost.
import { expect } from "vitest"
import { type Load, type ReplicaClient, settled, NoAnswerError } from "./client.ts"

interface Model {
  /** In the description and in a tag binding, so that a partial change is detected. */
  readonly version: number
  readonly tags: readonly string[]
}

interface Change {
  readonly send: () => Promise<unknown>
  readonly after: (model: Model) => Model
}

const maxTags = 6

export class WorkspaceLoad implements Load {
  readonly #client: ReplicaClient
  readonly #count: number
  readonly #random: (limit: number) => number
  readonly #writers: Writer[] = []
  readonly #created: string[] = []

  constructor(client: ReplicaClient, count: number, random: (limit: number) => number) {
    this.#client = client
    this.#count = count
    this.#random = random
  }

  async prepare(): Promise<void> {
    for (let index = 0; index < this.#count; index += 1) {
      const made = await this.#client.change("POST", workspaces, newWorkspace(`writer-${index}`))
      this.#writers.push(new Writer(this.#client, made?.body.data.id, this.#random))
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#create(signal), ...this.#writers.map((writer) => writer.write(signal))])
  }

  /** Creates workspaces one after another, with unique names. */
  async #create(signal: AbortSignal): Promise<void> {
    for (let count = 0; !signal.aborted; count += 1) {
      const name = `created-${count}`
      try {
        if ((await this.#client.change("POST", workspaces, newWorkspace(name))) !== undefined) this.#created.push(name)
      } catch (error) {
        if (!(error instanceof NoAnswerError)) throw error
      }
    }
  }

  async verify(): Promise<string> {
    for (const writer of this.#writers) await writer.verify()
    const missing: string[] = []
    for (const name of this.#created)
      if ((await this.#client.read(`${workspaces}/${name}`)).status !== 200) missing.push(name)
    expect(missing).toEqual([])
    const changes = this.#writers.reduce((sum, { acknowledged }) => sum + acknowledged, 0)
    return `${this.#created.length} workspaces and ${changes} changes of others acknowledged`
  }
}

class Writer {
  acknowledged = 0
  readonly #client: ReplicaClient
  readonly #path: string
  readonly #random: (limit: number) => number
  #model: Model = { version: 0, tags: [] }
  #drawn = 0

  constructor(client: ReplicaClient, id: string, random: (limit: number) => number) {
    this.#client = client
    this.#path = `/api/v2/workspaces/${id}`
    this.#random = random
  }

  async write(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const change = this.#next()
      const changed = change.after(this.#model)
      try {
        await change.send()
        this.#model = changed
        this.acknowledged += 1
      } catch (error) {
        if (!(error instanceof NoAnswerError)) throw error
        await settled()
        const found = await this.#observe()
        expect([this.#model, changed]).toContainEqual(found)
        this.#model = found
      }
    }
  }

  #next(): Change {
    const { tags } = this.#model
    this.#drawn += 1
    const drawn = this.#drawn
    const draw = this.#random(3)
    const tagged = `${this.#path}/relationships/tags`
    const [oldest] = tags
    if (draw === 0 && tags.length < maxTags) {
      const tag = `tag-${drawn}`
      return {
        send: () => this.#client.change("POST", tagged, { data: [{ type: "tags", attributes: { name: tag } }] }),
        after: (model) => ({ ...model, tags: [...model.tags, tag] }),
      }
    }
    if (draw === 1 && oldest !== undefined)
      return {
        send: () => this.#client.change("DELETE", tagged, { data: [{ type: "tags", attributes: { name: oldest } }] }),
        after: (model) => ({ ...model, tags: model.tags.slice(1) }),
      }
    const binding = { type: "tag-bindings", attributes: { key: "version", value: String(drawn) } }
    const document = {
      data: {
        type: "workspaces",
        attributes: { description: String(drawn) },
        relationships: { "tag-bindings": { data: [binding] } },
      },
    }
    return {
      send: () => this.#client.change("PATCH", this.#path, document),
      after: (model) => ({ ...model, version: drawn }),
    }
  }

  async #observe(): Promise<Model> {
    const { attributes } = (await this.#client.read(this.#path)).body.data
    const bindings = (await this.#client.read(`${this.#path}/tag-bindings`)).body.data.map(
      (binding: { readonly attributes: { readonly key: string; readonly value: string } }) => binding.attributes,
    )
    const tags: string[] = attributes["tag-names"].filter((name: string) => name.startsWith("tag-"))
    const version = Number(attributes.description)
    const value = bindings.find(({ key }: { readonly key: string }) => key === "version")?.value
    expect(value ?? "0").toBe(String(version))
    return { version, tags: tags.toSorted((a, b) => Number(a.slice(4)) - Number(b.slice(4))) }
  }

  async verify(): Promise<void> {
    expect(await this.#observe()).toEqual(this.#model)
  }
}

export const workspaces = "/api/v2/organizations/default/workspaces"

export const newWorkspace = (name: string, attributes: object = {}, tags: readonly string[] = []) => ({
  data: {
    type: "workspaces",
    attributes: { name, description: "0", ...attributes },
    relationships: { tags: { data: tags.map((tag) => ({ type: "tags", attributes: { name: tag } })) } },
  },
})
