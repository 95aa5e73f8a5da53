// Lines that resources write outside of their state when they are created.
export interface Creation {
  readonly runId: string
  /** Id of the resource, which each creation chooses anew. */
  readonly id: string
  readonly index: number
  readonly agent: string
  /** In milliseconds since 1970. */
  readonly beganAt: number
  /** Undefined if the creation was interrupted. */
  readonly endedAt: number | undefined
}

export function readCreations(text: string): readonly Creation[] {
  const creations = new Map<string, Creation>()
  for (const line of text.split("\n").filter((one) => one !== "")) {
    const [step, runId = "", id = "", index, agent = "", at] = line.split(" ")
    const known = creations.get(id)
    if (step === "begin") {
      if (known !== undefined) throw new Error(`${id} was created twice`)
      creations.set(id, { runId, id, index: Number(index), agent, beganAt: Number(at), endedAt: undefined })
    } else if (known !== undefined) creations.set(id, { ...known, endedAt: Number(at) })
    else throw new Error(`${id} ended without a beginning`)
  }
  return [...creations.values()]
}
