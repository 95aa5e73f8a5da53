/** A JSON:API error document for what is refused before any route is found. */
export function refusal(status: number, title: string, detail: string): Response {
  return new Response(refusalDocument(status, title, detail), {
    status,
    headers: { "content-type": "application/vnd.api+json" },
  })
}

export const refusalDocument = (status: number, title: string, detail: string): string =>
  JSON.stringify({ errors: [{ status: String(status), title, detail }] })
