// Rewrites the tables of docs/permissions.md from live answers. The output is a claim and not a test result, so review the difference.
import { openUsers } from "./users.ts"
import { writeTable } from "./document.ts"
import { generateMatrix, renderMatrix } from "./matrix.ts"
import { openPkiUsers } from "./pki/users.ts"
import { generatePkiMatrix, renderPkiMatrix } from "./pki/matrix.ts"

await using testUsers = await openUsers()
await writeTable(renderMatrix(await generateMatrix(testUsers)))

await using pkiUsers = await openPkiUsers()
await writeTable(renderPkiMatrix(await generatePkiMatrix(pkiUsers)), "certificates")
