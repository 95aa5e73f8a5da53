// Configuration archives as clients upload them: tar (POSIX ustar), compressed with gzip.
import { gzipSync } from "node:zlib"

export type TarFiles = Readonly<Record<string, string | Uint8Array>>

const blockBytes = 512

export const tarball = (files: TarFiles): Uint8Array<ArrayBuffer> => Uint8Array.from(gzipSync(tar(files)))

export function tar(files: TarFiles): Buffer {
  const entries = Object.entries(files).flatMap(([name, content]) => {
    const bytes = Buffer.from(content)
    return [header(name, bytes.length), bytes, Buffer.alloc((blockBytes - (bytes.length % blockBytes)) % blockBytes)]
  })
  return Buffer.concat([...entries, Buffer.alloc(2 * blockBytes)])
}

function header(name: string, size: number): Buffer {
  const block = Buffer.alloc(blockBytes)
  block.write(name, 0, 100)
  block.write("0000644\0", 100)
  block.write("0000000\0", 108)
  block.write("0000000\0", 116)
  block.write(`${size.toString(8).padStart(11, "0")}\0`, 124)
  block.write("00000000000\0", 136)
  block.write(" ".repeat(8), 148)
  block.write("0", 156)
  block.write("ustar\u000000", 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148)
  return block
}
