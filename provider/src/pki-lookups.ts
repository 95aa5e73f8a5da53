// What a program asks about roles, issuers and ACME that it does not declare.
import type { Engine } from "@chancery/engine"
import type { ObservedPkiAcmeConfig, ObservedPkiIssuer, ObservedPkiRole } from "@chancery/engine/managed"
import { asking, stackConfiguration } from "./asking.ts"

/** Few programs ask, and each would wait until it is loaded. */
const certificateKinds = () => import("@chancery/engine/managed/certificates")

interface InMount {
  /** `chancery:pkiMount`, else `pki`, when left out. */
  readonly mount?: string
}

export interface RoleLookup extends ObservedPkiRole {
  /** `MOUNT/roles/NAME` */
  readonly id: string
}

export interface IssuerLookup extends ObservedPkiIssuer {
  /** `MOUNT/ISSUER`, where the issuer is its id. */
  readonly id: string
}

export interface AcmeConfigLookup extends ObservedPkiAcmeConfig {
  /** `MOUNT/config/acme` */
  readonly id: string
}

/** How a mount serves ACME. Rejects when there is none that the token may see. */
export const getAcmeConfig = (which: InMount = {}): Promise<AcmeConfigLookup> =>
  inMount(which, "ACME", async (engine, mount) => {
    const { acmeConfigId, observedPkiAcmeConfig } = await certificateKinds()
    const observed = observedPkiAcmeConfig(mount, await engine.pki(mount).settings.acme())
    return { id: acmeConfigId(mount), ...observed }
  })

/** Rejects when there is none that the token may see. */
export const getRole = (which: InMount & { readonly name: string }): Promise<RoleLookup> =>
  inMount(which, `role "${which.name}"`, async (engine, mount) => {
    const { observedPkiRole } = await certificateKinds()
    const observed = observedPkiRole({ mount, name: which.name }, await engine.pki(mount).roles.get(which.name))
    return { id: `${mount}/roles/${which.name}`, ...observed }
  })

/** By its id or name; the default issuer of the mount when left out. Rejects when there is none that the token may see. */
export const getIssuer = (which: InMount & { readonly issuerRef?: string } = {}): Promise<IssuerLookup> => {
  const { issuerRef = "default" } = which
  return inMount(which, `issuer "${issuerRef}"`, async (engine, mount) => {
    const { observedPkiIssuer } = await certificateKinds()
    const observed = observedPkiIssuer(mount, await engine.pki(mount).issuers.get(issuerRef))
    return { id: `${mount}/${observed.issuerId}`, ...observed }
  })
}

async function inMount<T>(
  { mount }: InMount,
  what: string,
  ask: (engine: Engine, mount: string) => Promise<T>,
): Promise<T> {
  const configuration = stackConfiguration()
  const place = mount ?? configuration.defaults.pkiMount ?? "pki"
  return asking(configuration, `${what} of ${place}`, (engine) => ask(engine, place))
}
