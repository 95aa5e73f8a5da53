import * as pulumi from "@pulumi/pulumi"

export interface ProviderArgs {
  /** URL of the server (`https://…`), or `sqlite:FILE` for an engine in the provider's own process. */
  engineUrl?: pulumi.Input<string>
  /** API token. CHANCERY_TOKEN in the environment takes precedence. */
  token?: pulumi.Input<string>
  /** File with the API token. It is read again when the server rejects the token. */
  tokenFile?: pulumi.Input<string>
  /** Organization of resources that name none. */
  organization?: pulumi.Input<string>
  /** Mount of roles and certificates that name none. Default: `pki`. */
  pkiMount?: pulumi.Input<string>
  /** Deletion policy of resources that declare none. Default: `safe`. */
  deletionPolicy?: pulumi.Input<"safe" | "force" | "retain">
  /** Edition of the server, so that previews reject settings it does not have. Default: `auto`, which queries the server. */
  edition?: pulumi.Input<"auto" | "hosted" | "selfHosted">
  /** Key-value tags of every workspace, project and `TagBindings`; their own values take precedence. */
  defaultTagBindings?: pulumi.Input<Readonly<Record<string, pulumi.Input<string>>>>
  /** Maximum requests to the server in a second. Default: no limit. */
  requestsPerSecond?: pulumi.Input<number>
  /** Maximum concurrent requests. Default: 16. */
  maxConcurrency?: pulumi.Input<number>
  /** Maximum retries of a request that the server was too busy to handle. Default: 10. */
  maxRetries?: pulumi.Input<number>
  /** Time limit of a request, such as `90s`. Default: `60s`. */
  requestTimeout?: pulumi.Input<string>
  /** File with certificates (PEM) to trust in addition to those of the system. */
  caFile?: pulumi.Input<string>
  /** Accept any server certificate and send the token to it. For trials on one machine; each run prints a warning. */
  skipTlsVerify?: pulumi.Input<boolean>
}

/** Connection for the resources that name it (`{ provider }`), instead of the stack's configuration. */
export class Provider extends pulumi.ProviderResource {
  constructor(name: string, args: ProviderArgs, options?: pulumi.ResourceOptions) {
    const { token, ...others } = args
    const shown = Object.entries(others).map(([key, value]) => [`chancery:${key}`, asText(value)])
    const secret = token === undefined ? {} : { "chancery:token": pulumi.secret(token) }
    // The package `pulumi-nodejs`, which runs dynamic resources, has its own keys; the prefix keeps them apart.
    super("pulumi-nodejs", name, { ...Object.fromEntries(shown), ...secret }, options)
  }
}

/** Returns configuration text: strings unchanged, other values as JSON. */
const asText = (value: unknown): pulumi.Output<string | undefined> =>
  (pulumi.output(value) as pulumi.Output<unknown>).apply((known) =>
    known === undefined || typeof known === "string" ? known : JSON.stringify(known),
  )
