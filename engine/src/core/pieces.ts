// Octets that come and go in pieces. Each piece has memory of its own, which the garbage collector counts and gives back late:
// at some hundred MB a second that is most of the memory of a server, and a quarter of its time.

/** What is shorter may share its memory with others, and is not worth it. */
const givenBackBytesMinimum = 16 * 1024

/** Gives the memory of a piece back at once; for a piece that nobody looks at any more, and that is all there is in its memory. */
export function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (byteLength >= givenBackBytesMinimum && buffer.byteLength === byteLength && buffer instanceof ArrayBuffer)
    buffer.transfer(0)
}

/** The same for a piece that is alone in memory which may be longer than it, unless that is short enough to be the pool of Node. */
export function giveBackAll({ buffer }: Uint8Array): void {
  if (buffer.byteLength >= 2 * Buffer.poolSize && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** The same pieces, each to be used only until the next one is asked for. */
export async function* oneAtATime(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    yield piece
    giveBack(piece)
  }
}
