import { createHash } from "node:crypto"

export interface StateOptions {
  readonly serial?: number
  readonly lineage?: string
  /** Number of instances of one managed resource. */
  readonly instances?: number
  readonly outputs?: Readonly<Record<string, unknown>>
}

/** Returns the text of a state as Terraform writes it, with its MD5. */
export function stateFile({ serial = 1, lineage = "lineage-1", instances = 0, outputs = {} }: StateOptions = {}) {
  const text = JSON.stringify({
    version: 4,
    terraform_version: "1.11.4",
    serial,
    lineage,
    outputs,
    resources:
      instances === 0
        ? []
        : [
            {
              mode: "managed",
              type: "null_resource",
              name: "web",
              provider: 'provider["registry.terraform.io/hashicorp/null"]',
              instances: Array.from({ length: instances }, () => ({ attributes: {} })),
            },
          ],
  })
  return { text, serial, lineage, md5: createHash("md5").update(text).digest("hex") }
}

/** Returns the document that creates the state version, with the state itself if `inline`. */
export function stateVersionDocument(
  state: ReturnType<typeof stateFile>,
  { inline = false, ...attributes }: { readonly inline?: boolean; readonly [attribute: string]: unknown } = {},
) {
  const { text, serial, lineage, md5 } = state
  return {
    data: {
      type: "state-versions",
      attributes: {
        serial,
        lineage,
        md5,
        ...(inline ? { state: Buffer.from(text).toString("base64") } : {}),
        ...attributes,
      },
    },
  }
}

/** Returns the concatenated chunks. */
export async function bytesOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const taken: Uint8Array[] = []
  for await (const piece of pieces) taken.push(piece)
  return Buffer.concat(taken)
}
