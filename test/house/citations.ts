/** A citation of a page of this repository, such as `docs/state.md` with or without a heading of it. */
export interface PageCitation {
  readonly page: string
  readonly heading?: string
}

/** Names of documents outside of the repository. */
const outsideDocuments = [
  /\barchitecture \d[\d.]*/gi,
  /\b(?:pki|workspace|operator|pulumi|testing|enrolment)-facts\b/gi,
  /\bspecifications?,?(?: section)? \d[\d.]*/gi,
  /\bthe specification\b(?! of)/gi,
  /(?<![\w#-])issue \d+\b/gi,
]

/** Returns the citations of documents that are not in the repository. */
export function outsideCitations(text: string): readonly string[] {
  const joined = joinComments(text)
  return outsideDocuments.flatMap((pattern) => [...joined.matchAll(pattern)].map(([citation]) => citation))
}

/** Returns the cited pages, with the heading if one follows in quotes: `docs/page.md, "Heading"`. */
export function citedPages(text: string): readonly PageCitation[] {
  const citations = joinComments(text).matchAll(/(?<![\w/.-])(docs\/[\w/.-]*?\.md)\b(?:`?, "([^"]+)")?/g)
  return [...citations].map(([, page = "", heading]) => (heading === undefined ? { page } : { page, heading }))
}

/** Returns the targets of relative links of a page, without anchors. */
export function linkedFiles(markdown: string): readonly string[] {
  const text = markdown.replaceAll(/^( *)(```|~~~)[^]*?^\1\2/gm, "").replaceAll(/`[^`\n]*`/g, "")
  return [...text.matchAll(/\]\(([^()\s]+)\)/g)].flatMap(([, target = ""]) => {
    const file = target.split("#")[0] ?? ""
    return file === "" || /^[a-z]+:/.test(file) ? [] : [decodeURI(file)]
  })
}

/** Joins the lines of comments, because a citation may be broken between two lines. */
const joinComments = (text: string): string => text.replaceAll(/\n[ \t]*(?:\/\/+|\*(?!\/)|#+)?[ \t]*/g, " ")
