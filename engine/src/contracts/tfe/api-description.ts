// Description of this API, for client generators.
import { contract, json } from "./endpoint.ts"

export const apiDescription = contract({
  get: {
    method: "GET",
    path: "/openapi.json",
    summary: "Returns this API as an OpenAPI 3.1 document.",
    rights: "Any token.",
    answers: json,
  },
})
