// States of any size that need not fit in memory: generated in chunks, and identical each time.
import { createHash } from "node:crypto"

export interface LargeState {
  readonly serial: number
  readonly lineage: string
  readonly md5: string
  readonly bytes: number
  readonly resourceCount: number
  pieces(): Generator<Buffer>
}

/** Makes a state of at least this many bytes. States of one size differ by `seed`. */
export function largeState(options: {
  readonly serial: number
  readonly lineage: string
  readonly atLeastBytes: number
  readonly seed: number
}): LargeState {
  const hash = createHash("md5")
  let bytes = 0
  let resourceCount = 0
  for (const piece of piecesOf(options)) {
    hash.update(piece)
    bytes += piece.length
    resourceCount += piece.includes(beginning) ? resourcesPerPiece : 0
  }
  const { serial, lineage } = options
  return { serial, lineage, md5: hash.digest("hex"), bytes, resourceCount, pieces: () => piecesOf(options) }
}

const resourcesPerPiece = 100
const beginning = '{\n      "mode": "managed"'

function* piecesOf(options: Parameters<typeof largeState>[0]): Generator<Buffer> {
  const { serial, lineage, atLeastBytes, seed } = options
  const random = quickIntegers(seed)
  const header = { version: 4, terraform_version: "1.11.4", serial, lineage }
  yield Buffer.from(
    `${JSON.stringify(header, null, 2).slice(0, -2)},\n  "outputs": {"seed": {"value": ${seed}, "type": "number"}},\n  "resources": [`,
  )
  for (let bytes = 0, index = 0; bytes < atLeastBytes;) {
    const resources = Array.from({ length: resourcesPerPiece }, () => {
      const first = index === 0
      index += 1
      return `${first ? "" : ","}\n    ${resource(index, random)}`
    })
    const piece = Buffer.from(resources.join(""))
    bytes += piece.length
    yield piece
  }
  yield Buffer.from('\n  ],\n  "check_results": null\n}\n')
}

/**
 * Returns a cheap generator, because the test's own work counts when a server's speed is measured. Its numbers are only as uniform as the
 * low bits of xorshift.
 */
function quickIntegers(seed: number): (limit: number) => number {
  let state = (seed * 2_654_435_761) >>> 0 || 1
  return (limit) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % limit
  }
}

const resource = (index: number, random: (limit: number) => number): string =>
  JSON.stringify(
    {
      mode: "managed",
      type: "null_resource",
      name: `resource_${index}`,
      provider: 'provider["registry.terraform.io/hashicorp/null"]',
      instances: [
        {
          schema_version: 0,
          attributes: {
            id: String(random(2 ** 31)),
            arn: `arn:aws:ec2:eu-west-1:${random(2 ** 31)}:instance/i-${random(2 ** 31)}`,
          },
          sensitive_attributes: [],
          private: Array.from({ length: 8 }, () => random(2 ** 31).toString(36)).join(""),
        },
      ],
    },
    null,
    2,
  ).replaceAll("\n", "\n    ")
