// Rewrites the table of docs/permissions.md from live answers. What it writes is a claim, not a result: read the difference.
import { openCast } from "./cast.ts"
import { writeTable } from "./document.ts"
import { generateMatrix, renderMatrix } from "./matrix.ts"

await using cast = await openCast()
await writeTable(renderMatrix(await generateMatrix(cast)))
