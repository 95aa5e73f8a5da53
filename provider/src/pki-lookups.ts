// Lookups of roles, issuers and settings of ACME and EST that the program does not declare.
import type { Engine } from "@chancery/engine"
import type { AcmeConfigState } from "./resources/acme-config.ts"
import { withEngine, stackConfiguration } from "./lifecycle/invoke.ts"
import type { EstConfigState } from "./resources/est-config.ts"
import type { PkiIssuerState } from "./resources/pki-issuer.ts"
import type { PkiRoleState } from "./resources/pki-role.ts"

/** Loaded on demand, because few programs use lookups. */
const certificateKinds = () => import("@chancery/engine/declared/certificates")

interface InMount {
  /** Path of the mount. Default: `chancery:pkiMount`, else `pki`. */
  readonly mount?: string
}

/** A role and its rules. */
export interface RoleLookup extends Omit<PkiRoleState, "adopted"> {
  /** Id: `MOUNT/roles/NAME`. */
  readonly id: string
}

type IssuerSettings = Pick<
  PkiIssuerState,
  | "mount"
  | "keyId"
  | "caChain"
  | "revokedAt"
  | "leafNotAfterBehavior"
  | "usage"
  | "manualChain"
  | "revocationSignatureAlgorithm"
  | "issuingCertificates"
  | "crlDistributionPoints"
  | "deltaCrlDistributionPoints"
  | "ocspServers"
  | "enableTemplating"
>

/** An issuer and its settings. */
export interface IssuerLookup extends IssuerSettings {
  /** Id: `MOUNT/ISSUER_ID`. */
  readonly id: string
  /** Id of the issuer. */
  readonly issuerId: string
  /** Name of the issuer. Null if it has none. */
  readonly issuerName: string | null
  /** Certificate of the issuer (PEM). */
  readonly certificate: string
}

/** The ACME settings of a mount. */
export interface AcmeConfigLookup extends AcmeConfigState {
  /** Id: `MOUNT/config/acme`. */
  readonly id: string
}

/** Reads the ACME settings of a mount. Rejects if there is none that the token may read. */
export const getAcmeConfig = (which: InMount = {}): Promise<AcmeConfigLookup> =>
  inMount(which, "ACME", async (engine, mount) => {
    const { acmeConfigId, observedPkiAcmeConfig } = await certificateKinds()
    const observed = observedPkiAcmeConfig(mount, await engine.pki(mount).settings.acme())
    return { id: acmeConfigId(mount), ...observed }
  })

/** The EST settings of a mount. */
export interface EstConfigLookup extends EstConfigState {
  /** Id: `MOUNT/config/est`. */
  readonly id: string
}

/** Reads the EST settings of a mount. Rejects if there is none that the token may read. */
export const getEstConfig = (which: InMount = {}): Promise<EstConfigLookup> =>
  inMount(which, "EST", async (engine, mount) => {
    const { estConfigId, observedPkiEstConfig } = await certificateKinds()
    const observed = observedPkiEstConfig(mount, await engine.pki(mount).settings.est())
    return { id: estConfigId(mount), ...observed }
  })

/** Reads a role. Rejects if there is none that the token may read. */
export const getRole = (which: InMount & { readonly name: string }): Promise<RoleLookup> =>
  inMount(which, `role "${which.name}"`, async (engine, mount) => {
    const { observedPkiRole } = await certificateKinds()
    const observed = observedPkiRole({ mount, name: which.name }, await engine.pki(mount).roles.get(which.name))
    return { id: `${mount}/roles/${which.name}`, ...observed }
  })

/** Reads an issuer by its id or name. Default: the default issuer. Rejects if there is none that the token may read. */
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
  return withEngine(configuration, `${what} of ${place}`, (engine) => ask(engine, place))
}
