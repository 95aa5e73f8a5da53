// Differences between the answers of Pebble 2.4 and ours, with the reasons for ours. `*` matches any request. The comparison fails on a
// difference that is not listed, and on a line without a difference.
export interface Explanation {
  readonly why: string
  /** `request: fact: Pebble's | ours`, with `–` for an absent value. */
  readonly lines: readonly string[]
}

export const explanations: readonly Explanation[] = [
  {
    why: "Nothing of ACME is for a cache to keep, with a nonce in every answer (RFC 8555, section 6.5.1: no-store).",
    lines: ["*: cache-control: public, max-age=0, no-cache | no-store"],
  },
  {
    why: "Pebble's router, and not its ACME server, answers for a path that there is not. Ours tells nobody without a token which paths there are.",
    lines: [
      "asks for nothing there is: 404 text/plain | 403 application/json",
      "asks for nothing there is: cache-control: – | no-store",
    ],
  },
  {
    why: "A nonce with the directory saves the client that comes for the first time a request.",
    lines: ["reads the directory: replay-nonce: – | a nonce"],
  },
  {
    why: "Pre-authorization (RFC 8555, section 7.4.1), renewal information (RFC 9773) and profiles, which this Pebble does not have.",
    lines: [
      "reads the directory: /newAuthz: – | an address",
      "reads the directory: /renewalInfo: – | an address",
      "reads the directory: /meta/profiles: – | there",
    ],
  },
  {
    why: "Pebble's type is of a draft; the RFC registers userActionRequired.",
    lines: ["does not agree to the terms: 403 agreementRequired | 403 userActionRequired"],
  },
  {
    why: "What is no URL is invalid; unsupported are the schemes of URLs (RFC 8555, section 6.7).",
    lines: [
      "has a contact no URL: 400 unsupportedContact | 400 invalidContact",
      "changes the contact to none: 400 unsupportedContact | 400 invalidContact",
    ],
  },
  {
    why: "A mailto contact with header fields MUST be refused (RFC 8555, section 7.3).",
    lines: ["has a contact with header fields: 201 | 400 invalidContact"],
  },
  {
    why: "Accounts have no member `key` (RFC 8555, section 7.1.2), and tell whether the terms were agreed to.",
    lines: ["*: /key: there | –", "*: /termsOfServiceAgreed: – | true"],
  },
  {
    why: "An account without contacts says so.",
    lines: ["binds an account: /contact: – | there", "makes an account of a key on another curve: /contact: – | there"],
  },
  {
    why: "Where a resource is is told with every answer about it, and not only with the first; a client that has lost the address has it again.",
    lines: ["*: location: – | an address"],
  },
  {
    why: "A client that changes nothing, because it sends what it was sent, has done nothing wrong (RFC 8555, section 7.3.2: the server ignores what it does not update).",
    lines: ["writes nothing new to the account: 400 malformed | 200"],
  },
  {
    why: "Pebble answers with the account that signs, whichever is asked for, and would give that one up. A request for another is refused.",
    lines: [
      "reads an account that there is not: 200 | 403 unauthorized",
      "reads another account: 200 | 403 unauthorized",
      "gives up another account: 200 | 403 unauthorized",
    ],
  },
  {
    why: "A request of a deactivated account MUST be answered with 401 (RFC 8555, section 7.3.6).",
    lines: [
      "reads the account that is given up: 403 unauthorized | 401 unauthorized",
      "orders as an account that is given up: 403 unauthorized | 401 unauthorized",
      "makes an account of its key: 403 unauthorized | 401 unauthorized",
    ],
  },
  {
    why: "The binding's payload is readable, and is not the account's key: nothing is wrong with the key itself.",
    lines: ["binds another key than its own: 400 badPublicKey | 400 malformed"],
  },
  {
    why: "An algorithm that is not taken is told as such, with those that are (RFC 8555, section 6.2).",
    lines: [
      "binds by a signature: 400 badPublicKey | 400 badSignatureAlgorithm",
      "signs by no algorithm: 400 malformed | 400 badSignatureAlgorithm",
      "signs by a MAC: 400 malformed | 400 badSignatureAlgorithm",
      "signs by an algorithm that nobody knows: 400 malformed | 400 badSignatureAlgorithm",
      "signs without naming the algorithm: 400 malformed | 400 badSignatureAlgorithm",
    ],
  },
  {
    why: "The server MUST reject a request for another address as unauthorized (RFC 8555, section 6.4).",
    lines: [
      "signs for another address: 400 malformed | 403 unauthorized",
      "signs for no address: 400 malformed | 403 unauthorized",
    ],
  },
  {
    why: "An account of another server is one that does not exist here, which tells the client to register.",
    lines: ["signs as an account elsewhere: 400 malformed | 400 accountDoesNotExist"],
  },
  {
    why: "Keys that are too weak, or of no type that signs, are refused as keys (RFC 8555, section 6.2).",
    lines: [
      "makes an account of a weak key: 201 | 400 badPublicKey",
      "makes an account of a key of no type: 400 malformed | 400 badPublicKey",
    ],
  },
  {
    why: "The type that the RFC has for it (section 6.7).",
    lines: ["orders an identifier of another type: 400 malformed | 400 unsupportedIdentifier"],
  },
  {
    why: "A name that cannot be issued for is a rejected identifier: the request around it is well formed (RFC 8555, section 7.4).",
    lines: [
      "orders a name of other letters: 400 malformed | 400 rejectedIdentifier",
      "orders a wildcard in the middle: 400 malformed | 400 rejectedIdentifier",
      "orders part of a label as a wildcard: 400 malformed | 400 rejectedIdentifier",
      "orders a wildcard of a wildcard: 400 malformed | 400 rejectedIdentifier",
      "orders a name with a dot at its end: 400 malformed | 400 rejectedIdentifier",
      "orders a name with a space: 400 malformed | 400 rejectedIdentifier",
      "orders an address as a name: 400 malformed | 400 rejectedIdentifier",
      "orders a name with an underscore: 400 malformed | 400 rejectedIdentifier",
    ],
  },
  {
    why: "Pebble takes what is no host name at all.",
    lines: [
      "orders a name with two dots: 201 | 400 rejectedIdentifier",
      "orders a name that is too long: 201 | 400 rejectedIdentifier",
    ],
  },
  {
    why: "Pebble hands back whatever stands in notBefore and notAfter; they are times (RFC 8555, section 7.1.3).",
    lines: ["orders from when is no time: 201 | 400 malformed", "orders until when is no time: 201 | 400 malformed"],
  },
  {
    why: "Whoever polls is told how soon to ask again (RFC 8555, sections 7.4 and 7.5.1).",
    lines: ["*: retry-after: – | a while"],
  },
  {
    why: "Every refusal is a problem document, that of what is not there too.",
    lines: ["*: 404 – | 404 malformed"],
  },
  {
    why: "What is another account's is not told apart from what is not there.",
    lines: [
      "reads an order of another account: 403 unauthorized | 404 malformed",
      "reads an authorization of another account: 403 unauthorized | 404 malformed",
      "gives up an authorization of another account: 403 unauthorized | 404 malformed",
      "answers a challenge of another account: 403 unauthorized | 404 malformed",
      "fetches a certificate of another account: 403 unauthorized | 404 malformed",
    ],
  },
  {
    why: "An authorization keeps its challenges when it is given up: the member is required (RFC 8555, section 7.1.4).",
    lines: [
      "*: /challenges#: 0 | 3",
      "*: /challenges/tls-alpn-01: – | there",
      "*: /challenges/http-01: – | there",
      "*: /challenges/dns-01: – | there",
    ],
  },
  {
    why: "Orders are never deactivated (RFC 8555, section 7.1.6): one whose authorization is gone is invalid, and says why.",
    lines: [
      "reads the order that lost its authorization: /status: deactivated | invalid",
      "reads the order that lost its authorization: /error: – | there",
    ],
  },
  {
    why: "A challenge points up to its authorization (RFC 8555, section 7.5.1).",
    lines: ["*: link: index | index up"],
  },
  {
    why: "A challenge that is answered once more is told as it stands, so that a client which has lost the answer may ask again.",
    lines: [
      "answers the challenge that is proved: 400 malformed | 200",
      "answers a challenge of the wrong content again: 400 malformed | 200",
      "answers a challenge of no content again: 400 malformed | 200",
    ],
  },
  {
    why: "Whatever is wrong with a CSR has the type of what is wrong with a CSR.",
    lines: [
      "finalizes without a CSR: 400 malformed | 400 badCSR",
      "finalizes with a CSR that is none: 400 malformed | 400 badCSR",
      "finalizes with a CSR in another encoding: 400 malformed | 400 badCSR",
      "finalizes with a CSR for another name: 403 unauthorized | 400 badCSR",
      "finalizes with a CSR for a name more: 403 unauthorized | 400 badCSR",
    ],
  },
  {
    why: "Pebble does not verify the signature of a CSR, and signs keys of any size.",
    lines: [
      "finalizes with a CSR that its key has not signed: 200 | 400 badCSR",
      "finalizes with a CSR of a weak key: 200 | 400 badCSR",
    ],
  },
  {
    why: "Another root has signed our intermediate too, and each chain is offered with its root and without.",
    lines: [
      "*: link: index | alternate alternate alternate index",
      "fetches the other chain: -----BEGIN CERTIFICATE: 2 | 3",
    ],
  },
  {
    why: "A challenge has a time of validation when it was validated; Pebble writes when it failed.",
    lines: ["*: /challenges/http-01/validated: a time | –"],
  },
  {
    why: "An answer that is not the key authorization is an incorrect response (RFC 8555, section 6.7).",
    lines: ["*: /challenges/http-01/error/type: unauthorized | incorrectResponse"],
  },
  {
    why: "Which of the names failed stands in subproblems (RFC 8555, section 6.7.1).",
    lines: ["*: /error/subproblems: – | there"],
  },
  {
    why: "A key that has an account, be it this one, is a conflict, and Location tells whose (RFC 8555, section 7.3.5).",
    lines: [
      "changes the key to the same key: 400 malformed | 409 malformed",
      "changes the key to that of another account: 500 serverInternal | 409 malformed",
    ],
  },
  {
    why: "Whoever has changed the key is shown the account, as after other changes of it.",
    lines: [
      "changes the key to a fresh one: content-type: – | application/json",
      "changes the key to a fresh one: /status: – | valid",
      "changes the key to a fresh one: /contact: – | there",
      "changes the key to a fresh one: /orders: – | an address",
    ],
  },
]
