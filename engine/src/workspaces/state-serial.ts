/**
 * Yields a state with another serial. The serial inside the file changes too; otherwise the next apply is refused after it changed the
 * infrastructure (docs/compatibility.md, "State versions"). `places` are in ascending order.
 */
export async function* withSerial(
  pieces: AsyncIterable<Uint8Array>,
  places: readonly { readonly start: number; readonly end: number }[],
  serial: number,
): AsyncGenerator<Uint8Array> {
  const text = new TextEncoder().encode(String(serial))
  const left = places.values()
  let place = left.next().value
  let at = 0
  for await (const piece of pieces) {
    let from = 0
    while (place !== undefined && place.start < at + piece.length) {
      if (place.start >= at) {
        yield piece.subarray(from, place.start - at)
        yield text
      }
      from = Math.min(place.end - at, piece.length)
      // The rest of the number is in the next piece.
      if (place.end > at + piece.length) break
      place = left.next().value
    }
    yield piece.subarray(from)
    at += piece.length
  }
}
