import { integer, parameters, text } from "./parameters.ts"

/** How every list is read in parts. */
export const keyPageParameters = parameters({ after: text, limit: integer })
