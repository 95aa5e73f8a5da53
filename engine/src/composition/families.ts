// Families of an engine: `workspaces`, `pki`, `tokens`. A request uses one or two of about fifty.
type Families<Request> = Readonly<Record<string, (request: Request) => unknown>>

type FamiliesOf<Made extends Families<never>> = { readonly [Name in keyof Made]: ReturnType<Made[Name]> }

/** Returns a class with a getter for each family, which creates its service when it is read. */
export function withFamilies<Request, Made extends Families<Request>>(
  families: Made,
): new (request: Request) => FamiliesOf<Made> {
  class WithFamilies {
    readonly #request: Request

    constructor(request: Request) {
      this.#request = request
    }

    static {
      for (const [name, make] of Object.entries(families))
        Object.defineProperty(this.prototype, name, {
          get(this: WithFamilies) {
            return make(this.#request)
          },
        })
    }
  }
  // The compiler does not see the getters that the static block defines.
  return WithFamilies as unknown as new (request: Request) => FamiliesOf<Made>
}
