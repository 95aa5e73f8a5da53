import * as pulumi from "@pulumi/pulumi"

export interface ProviderArgs {
  /** `https://…` for a server, `sqlite:FILE` for an engine in the provider's own process. */
  engineUrl?: pulumi.Input<string>
  /** CHANCERY_TOKEN comes before it. */
  token?: pulumi.Input<string>
  /** A file with the token; read anew when the engine no longer knows the one it had. */
  tokenFile?: pulumi.Input<string>
  /** Where resources belong that name none. */
  organization?: pulumi.Input<string>
  /** Where roles and certificates belong that name no mount; `pki` when left out. */
  pkiMount?: pulumi.Input<string>
  deletionPolicy?: pulumi.Input<"safe" | "force" | "retain">
  /** Which of them the server is, so that a preview refuses what it does not have; found out by asking it when left out. */
  edition?: pulumi.Input<"auto" | "hosted" | "selfHosted">
  /** Key-value tags of every workspace, project and `TagBindings`; their own win. */
  defaultTagBindings?: pulumi.Input<Readonly<Record<string, pulumi.Input<string>>>>
  /** Of a server; as many as Pulumi starts when left out. */
  requestsPerSecond?: pulumi.Input<number>
  /** 16 when left out. */
  maxConcurrency?: pulumi.Input<number>
  /** Of requests that a server was too busy for; 10 when left out. */
  maxRetries?: pulumi.Input<number>
  /** `60s` when left out. */
  requestTimeout?: pulumi.Input<string>
  /** Certificates to trust beside those of the system, PEM. */
  caFile?: pulumi.Input<string>
  /** Talks to whoever answers, the token included. For trials on a machine of one's own; each run warns of it. */
  skipTlsVerify?: pulumi.Input<boolean>
}

/** An engine for the resources that name it (`{ provider }`), beside the one of the stack's configuration. */
export class Provider extends pulumi.ProviderResource {
  constructor(name: string, args: ProviderArgs, options?: pulumi.ResourceOptions) {
    const { token, ...others } = args
    const shown = Object.entries(others).map(([key, value]) => [`chancery:${key}`, asText(value)])
    const secret = token === undefined ? {} : { "chancery:token": pulumi.secret(token) }
    // The keys of the package that runs dynamic resources are Pulumi's own, so ours have our name before them.
    super("pulumi-nodejs", name, { ...Object.fromEntries(shown), ...secret }, options)
  }
}

/** As configuration has it: text, and JSON for what is none. */
const asText = (value: unknown): pulumi.Output<string | undefined> =>
  (pulumi.output(value) as pulumi.Output<unknown>).apply((known) =>
    known === undefined || typeof known === "string" ? known : JSON.stringify(known),
  )
