// Three owners of tags of one workspace, each with its own tool: a stack with the Pulumi engine, an object with the operator, a script with
// the command `chancery`. In each round all three change their tags at the same time.
import type { RandomSource } from "../../../engine/src/core/random.ts"
import { workspace } from "../../../operator/src/api/workspace.ts"
import { run } from "../../cli/chancery.ts"
import { TagBindings, WorkspaceTags } from "@chancery/pulumi"
import type { TestStack } from "./stack.ts"
import type { Actor } from "../operator/fixture.ts"

export interface TagOwnersSetup {
  readonly stack: TestStack
  /** Acts in the operator's namespace, which has the connection `engine`. */
  readonly actor: Actor
  readonly namespace: string
  readonly rounds: number
  readonly random: RandomSource
}

/** Flat tags, and keys with the one value that all owners set. */
interface Wanted {
  readonly tags: readonly string[]
  readonly bindings: Readonly<Record<string, string>>
}

const tags = ["blue", "green", "red", "web"]
const bindings = { cost: "42", env: "prod", team: "payments" }
const script = "nightly-script"
const nothing: Wanted = { tags: [], bindings: {} }
const name = "shared"

/** The owners of each binding, keyed as `env=prod`. */
type OwnersByBinding = Readonly<Record<string, readonly string[]>>

/** Bindings after a round, and the expected ones: each binding that an owner declares exists under that owner, and no others exist. */
export interface Round {
  readonly is: OwnersByBinding
  readonly shall: OwnersByBinding
}

export async function* threeOwners({ stack, actor, namespace, rounds, random }: TagOwnersSetup): AsyncGenerator<Round> {
  const { engine } = stack
  const { id } = await engine.workspaces.create("acme", { name, tags: [{ name: "nobodys" }] })
  const owners = ["pulumi:project/test", `kubernetes:default/${namespace}/${name}`, script] as const

  const byStack = async ({ tags, bindings }: Wanted): Promise<void> => {
    await stack.up(async () => {
      if (tags.length > 0) new WorkspaceTags("flat", { workspaceId: id, tags: [...tags] })
      if (Object.keys(bindings).length > 0) new TagBindings("valued", { workspaceId: id, bindings })
    })
  }

  const byObject = async ({ tags, bindings }: Wanted): Promise<void> => {
    await actor.apply(workspace, name, {
      connectionRef: { name: "engine" },
      externalID: id,
      adoptionPolicy: "MustExist",
      deletionPolicy: "Retain",
      ...(tags.length === 0 ? {} : { tags }),
      ...(Object.keys(bindings).length === 0
        ? {}
        : { tagBindings: Object.entries(bindings).map(([key, value]) => ({ key, value })) }),
    })
    await actor.until(workspace, name, "Synced=True InStep")
  }

  const environment = {
    CHANCERY_ENGINE_URL: stack.url,
    CHANCERY_TOKEN: stack.token,
    CHANCERY_ORGANIZATION: "acme",
  }
  const command = async (verb: string, words: readonly string[]): Promise<void> => {
    if (words.length === 0) return
    const { code, stderr } = await run(["workspace", "tag", verb, name, ...words, "--owner", script], { environment })
    if (code !== 0) throw new Error(stderr)
  }
  // The command can bind but not unbind, so its keys remain.
  const bound: Record<string, string> = {}
  const byScript = async (wanted: Wanted, before: Wanted): Promise<Wanted> => {
    await command("add", wanted.tags)
    await command(
      "remove",
      before.tags.filter((tag) => !wanted.tags.includes(tag)),
    )
    const [first] = Object.entries(wanted.bindings)
    if (first !== undefined) {
      await command("bind", [first.join("=")])
      bound[first[0]] = first[1]
    }
    return { ...wanted, bindings: { ...bound } }
  }

  let last = nothing
  for (let round = 1; round <= rounds; round += 1) {
    const [ofStack, ofObject, ofScript] = [chosen(random), chosen(random), chosen(random)]
    const [, , heldBindings] = await Promise.all([byStack(ofStack), byObject(ofObject), byScript(ofScript, last)])
    last = heldBindings
    const shall = expected([
      [owners[0], ofStack],
      [owners[1], ofObject],
      [owners[2], heldBindings],
    ])
    yield { is: await shown(stack, id), shall }
  }

  // An owner that is removed takes its tags with it.
  await Promise.all([stack.destroy(), byObject(nothing)])
  yield { is: await shown(stack, id), shall: expected([[script, last]]) }
}

async function shown({ engine }: TestStack, id: string): Promise<OwnersByBinding> {
  const all = await engine.tags.bindings(id, { owners: true, tags: true })
  return Object.fromEntries(all.map(({ key, value, owners = [] }) => [`${key}=${value}`, owners]))
}

function expected(wanted: readonly (readonly [owner: string, Wanted])[]): OwnersByBinding {
  const all: Record<string, string[]> = { "nobodys=": [] }
  for (const [owner, { tags, bindings }] of wanted)
    for (const binding of [
      ...tags.map((tag) => `${tag}=`),
      ...Object.entries(bindings).map(([key, value]) => `${key}=${value}`),
    ])
      all[binding] = [...(all[binding] ?? []), owner].toSorted()
  return all
}

/** Selects each tag and each binding by one random bit. */
function chosen(random: RandomSource): Wanted {
  const bits = random.bytes(1)[0] ?? 0
  return {
    tags: tags.filter((_, index) => (bits >> index) % 2 === 1),
    bindings: Object.fromEntries(
      Object.entries(bindings).filter((_, index) => (bits >> (index + tags.length)) % 2 === 1),
    ),
  }
}
