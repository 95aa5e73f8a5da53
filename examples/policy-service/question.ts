/** What Chancery asks, as far as this service looks at it. */
export interface Question {
  readonly request_version: number
  readonly request_uuid: string
  /** What the caller sent, unchecked; `csr` is always there. */
  readonly user_request_key_values: Readonly<Record<string, unknown>> & { readonly csr: string }
  /** Who asks; absent for service tokens. */
  readonly identity_request_key_values?: { readonly entity_id: string }
  /** What Chancery itself vouches for. */
  readonly vault_request_values: {
    readonly policy_name: string
    readonly mount: string
    readonly issuance_mode: "sign" | "issue" | "ica" | "acme"
    readonly vault_generated_private_key: boolean
    readonly requested_issuer_id: string
  }
}

/** What this service answers beside the `request_uuid`. */
export interface Decision {
  readonly error?: string
  readonly certificate?: string
  readonly warnings?: readonly string[]
  readonly issuer_ref?: string
  readonly store_certificate?: boolean
}
