// Discrete-event simulation of requests that arrive at random and queue for one station after another. The same seed gives the same run.

export interface Station {
  readonly name: string
  readonly servers: number
  /** Mean of exponential times, or the constant time. */
  readonly serviceMs: number
  readonly times: "exponential" | "constant"
  /** Serves all waiting requests at once, however many: the flush of a log. */
  readonly together?: boolean
}

/** A kind of request with the stations that it passes in order, by their index in the list of stations. */
export interface Route {
  readonly share: number
  readonly stations: (uniform: () => number) => readonly number[]
}

export interface Run {
  readonly stations: readonly Station[]
  readonly routes: readonly Route[]
  readonly requestsPerSecond: number
  readonly seconds: number
  readonly seed: number
}

export interface Outcome {
  readonly completedPerSecond: number
  readonly meanMs: number
  readonly p99Ms: number
  /** Mean waiting time before service, for each station. */
  readonly waitedMs: readonly number[]
  /** Utilization of its servers, for each station. */
  readonly busy: readonly number[]
}

interface Arrival {
  readonly arrivedAt: number
  readonly route: readonly number[]
  step: number
  queuedAt: number
}

interface Place {
  readonly station: Station
  readonly queue: Arrival[]
  /** Number of requests in `queue` that have left it. */
  head: number
  idle: number
  waitedMs: number
  servedCount: number
  busyMs: number
}

interface ScheduledEvent {
  readonly at: number
  readonly happen: () => void
}

export function simulate(run: Run): Outcome {
  const uniform = uniformOf(run.seed)
  const exponential = (mean: number) => -Math.log1p(-uniform()) * mean
  const moments = new Heap()
  const places = run.stations.map((station): Place => ({
    station,
    queue: [],
    head: 0,
    idle: station.servers,
    waitedMs: 0,
    servedCount: 0,
    busyMs: 0,
  }))
  const endMs = run.seconds * 1_000
  const tookMs: number[] = []
  let now = 0
  let completed = 0

  const enter = (visitor: Arrival): void => {
    const place = places[visitor.route[visitor.step] ?? -1]
    if (place === undefined) {
      if (now <= endMs) completed += 1
      tookMs.push(now - visitor.arrivedAt)
      return
    }
    visitor.queuedAt = now
    place.queue.push(visitor)
    if (place.idle > 0) serve(place)
  }
  const serve = (place: Place): void => {
    const { station } = place
    const served =
      station.together === true ? place.queue.slice(place.head) : place.queue.slice(place.head, place.head + 1)
    place.head += served.length
    if (place.head > 1_000 && place.head * 2 > place.queue.length) {
      place.queue.splice(0, place.head)
      place.head = 0
    }
    place.idle -= 1
    const serviceMs = station.times === "constant" ? station.serviceMs : exponential(station.serviceMs)
    place.busyMs += serviceMs
    place.servedCount += served.length
    for (const visitor of served) place.waitedMs += now - visitor.queuedAt
    moments.add({
      at: now + serviceMs,
      happen() {
        place.idle += 1
        for (const visitor of served) {
          visitor.step += 1
          enter(visitor)
        }
        if (place.idle > 0 && place.head < place.queue.length) serve(place)
      },
    })
  }
  const arrive = (): void => {
    let chance = uniform()
    const route = run.routes.find(({ share }) => (chance -= share) < 0) ?? run.routes.at(-1)
    if (route !== undefined) enter({ arrivedAt: now, route: route.stations(uniform), step: 0, queuedAt: now })
    const next = now + exponential(1_000 / run.requestsPerSecond)
    if (next < endMs) moments.add({ at: next, happen: arrive })
  }
  moments.add({ at: exponential(1_000 / run.requestsPerSecond), happen: arrive })
  for (let moment = moments.take(); moment !== undefined; moment = moments.take()) {
    now = moment.at
    moment.happen()
  }
  tookMs.sort((a, b) => a - b)
  return {
    completedPerSecond: completed / run.seconds,
    meanMs: tookMs.reduce((sum, each) => sum + each, 0) / tookMs.length,
    p99Ms: tookMs[Math.floor(tookMs.length * 0.99)] ?? Number.NaN,
    waitedMs: places.map(({ waitedMs, servedCount }) => (servedCount === 0 ? 0 : waitedMs / servedCount)),
    busy: places.map(({ busyMs, station }) => busyMs / (Math.max(now, endMs) * station.servers)),
  }
}

/** Returns numbers from 0 (inclusive) to 1 (exclusive) (mulberry32). */
export function uniformOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let word = state
    word = Math.imul(word ^ (word >>> 15), word | 1)
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61)
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Orders by time, and equal times by insertion. */
class Heap {
  readonly #moments: (ScheduledEvent & { readonly order: number })[] = []
  #added = 0

  add(moment: ScheduledEvent): void {
    const moments = this.#moments
    let place = moments.push({ ...moment, order: this.#added++ }) - 1
    while (place > 0) {
      const above = (place - 1) >> 1
      if (!this.#isSooner(place, above)) break
      this.#swap(place, above)
      place = above
    }
  }

  take(): ScheduledEvent | undefined {
    const moments = this.#moments
    const [soonest] = moments
    const last = moments.pop()
    if (soonest === undefined || last === undefined || moments.length === 0) return soonest
    moments[0] = last
    for (let place = 0; ;) {
      const [left, right] = [place * 2 + 1, place * 2 + 2]
      let least = place
      if (left < moments.length && this.#isSooner(left, least)) least = left
      if (right < moments.length && this.#isSooner(right, least)) least = right
      if (least === place) return soonest
      this.#swap(place, least)
      place = least
    }
  }

  #isSooner(one: number, other: number): boolean {
    const [a, b] = [this.#moments[one], this.#moments[other]]
    if (a === undefined || b === undefined) return false
    return a.at < b.at || (a.at === b.at && a.order < b.order)
  }

  #swap(one: number, other: number): void {
    const [a, b] = [this.#moments[one], this.#moments[other]]
    if (a === undefined || b === undefined) return
    this.#moments[one] = b
    this.#moments[other] = a
  }
}
