// Delay from an edit to the status that reports it, at a steady rate, and then while another namespace has thousands of changes.
import { setTimeout as sleep } from "node:timers/promises"
import { median, report, target } from "../figures.ts"
import { clientCount, isReady, objectCount, openFixture, type Shown, workspaceObject } from "./fixture.ts"

const editedCount = 200
const editsPerSecond = 50
const steadySeconds = Number(process.env["CHANCERY_BENCH_STEADY_S"] ?? 60)
const crowdCount = Math.min(objectCount, 5_000)
/** Milliseconds between single edits, while the crowd is reconciled. */
const pauseMs = 500

await using fixture = await openFixture()
const { api } = fixture
const calm = "/apis/chancery.dev/v1alpha1/namespaces/calm/workspaces"
for (const namespace of ["calm", "crowded"]) await fixture.makeNamespace(namespace)
await using operator = await fixture.startOperator("one")
await fixture.make(
  "workspaces",
  Array.from({ length: editedCount }, (_, index) => workspaceObject("calm", index)),
)
await fixture.allReady("workspaces", "calm", editedCount, performance.now())

/** Versions at which a watch saw each object Ready, by name. */
const seen = new Map<string, { readonly version: number; readonly at: number }[]>()
const ending = new AbortController()
const watched = `${calm}?watch=true&resourceVersion=0&timeoutSeconds=3600`
const watching = (async () => {
  for await (const event of api.follow(watched, ending.signal)) {
    const { object } = event as { readonly object: Shown }
    const { name, generation: version } = object.metadata
    if (isReady(object)) seen.set(name, [...(seen.get(name) ?? []), { version, at: performance.now() }])
  }
})()

const edits = await Promise.all(
  Array.from({ length: steadySeconds * editsPerSecond }, async (_, index) => {
    await sleep((index * 1_000) / editsPerSecond)
    return edit(index)
  }),
)
const steadyMs = (await Promise.all(edits.map(tookMs))).toSorted((a, b) => a - b)

const served = new AbortController()
const serving = fixture
  .make(
    "workspaces",
    Array.from({ length: crowdCount }, (_, index) => workspaceObject("crowded", index)),
  )
  .then(() => fixture.allReady("workspaces", "crowded", crowdCount, performance.now()))
  .finally(() => served.abort())
const singleMs: number[] = []
let deepest = 0
for (let index = 0; !served.signal.aborted; index += 1) {
  await sleep(pauseMs)
  deepest = Math.max(deepest, await operator.metric("workqueue_depth", 'name="workspaces"'))
  singleMs.push(await tookMs(await edit(edits.length + index)))
}
await serving
ending.abort()
await watching.catch((error: unknown) => {
  if (!ending.signal.aborted) throw error
})
await operator.end()

const at = (share: number) => steadyMs[Math.ceil(steadyMs.length * share) - 1] ?? Number.NaN
report(`${steadyMs.length} edits at ${editsPerSecond} a second, median to status`, at(0.5), "ms")
target("p99", at(0.99), { atMost: 1_000 }, "ms")
report(`${crowdCount} objects made elsewhere by ${clientCount} clients, longest queue`, deepest, "objects")
report(`  ${singleMs.length} single edits meanwhile, median`, median(singleMs), "ms")
target("  the slowest", Math.max(...singleMs), { atMost: 2_000 }, "ms")

interface Edit {
  readonly name: string
  readonly version: number
  readonly at: number
}

async function edit(number: number): Promise<Edit> {
  const { kind, metadata, spec } = workspaceObject("calm", number % editedCount)
  const at = performance.now()
  const edited = { kind, metadata, spec: { ...(spec as object), description: `Edit ${number}` } }
  const path = `${calm}/${metadata.name}`
  const { metadata: now } = (await api.apply(path, { apiVersion: "chancery.dev/v1alpha1", ...edited })) as Shown
  return { name: now.name, version: now.generation, at }
}

/** Returns the delay of an edit. A later edit of the same object may have overtaken it. */
async function tookMs({ name, version, at }: Edit): Promise<number> {
  for (;;) {
    const found = seen.get(name)?.find((each) => each.version >= version)
    if (found !== undefined) return found.at - at
    await sleep(5)
  }
}
