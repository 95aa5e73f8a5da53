// The tests of go-tfe queue runs as soon as they have created an organization or an agent pool, and the server rejects runs that no executor
// could ever take. So an executor asks for a run before the answer to the creation leaves.
import type { ServedEngine, ServingEngine } from "../../../../engine/src/engine.ts"
import { announceExecutor } from "../../../../engine/testing/announced-executor.ts"

/** Returns the engine with an executor in every organization and every agent pool from their creation on. */
export function withExecutors(engine: ServedEngine): ServedEngine {
  const announcing = (acting: ServingEngine): ServingEngine =>
    withMembers(acting, {
      organizations: withMembers(acting.organizations, {
        async create(input) {
          const organization = await acting.organizations.create(input)
          await announceExecutor(engine, { kind: "organization", name: organization.name })
          return organization
        },
      }),
      agentPools: withMembers(acting.agentPools, {
        async create(organization, input) {
          const pool = await acting.agentPools.create(organization, input)
          await announceExecutor(engine, { kind: "agent-pool", id: pool.id })
          return pool
        },
      }),
    })
  return withMembers(engine, { as: (...args) => announcing(engine.as(...args)) })
}

/** Returns `target` with other members. Methods keep their own `this`, because private members are not reachable through a proxy. */
function withMembers<T extends object>(target: T, members: Partial<T>): T {
  return new Proxy(target, {
    get(_, name) {
      if (Object.hasOwn(members, name)) return Reflect.get(members, name) as unknown
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === "function" ? (value.bind(target) as unknown) : value
    },
  })
}
