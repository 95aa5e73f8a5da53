import { tfeFormat } from "./writable-members-tfe.ts"
import { testWritableMembers } from "./writable-members.ts"

testWritableMembers(tfeFormat)
