// Differences between the answers of Pebble 2.4 and ours, with the reasons for ours. `*` matches any request. The comparison fails on a
// difference that is not listed, and on a line without a difference.
export interface Explanation {
  readonly why: string
  /** `request: fact: Pebble's | ours`, with `–` for an absent value. */
  readonly lines: readonly string[]
}

export const explanations: readonly Explanation[] = [
  {
    why: "ACME responses must not be cached, since each has a nonce (RFC 8555, section 6.5.1: no-store).",
    lines: ["*: cache-control: public, max-age=0, no-cache | no-store"],
  },
  {
    why: "Pebble's router, and not its ACME server, answers for an unknown path. Chancery does not reveal which paths exist to callers without a token.",
    lines: [
      "requests an unknown path: 404 text/plain | 403 application/json",
      "requests an unknown path: cache-control: – | no-store",
    ],
  },
  {
    why: "A nonce with the directory saves a new client one request.",
    lines: ["reads the directory: replay-nonce: – | a nonce"],
  },
  {
    why: "This Pebble has no pre-authorization (RFC 8555, section 7.4.1), renewal information (RFC 9773) or profiles.",
    lines: [
      "reads the directory: /newAuthz: – | an address",
      "reads the directory: /renewalInfo: – | an address",
      "reads the directory: /meta/profiles: – | there",
    ],
  },
  {
    why: "Pebble uses the type of a draft; the RFC registers userActionRequired.",
    lines: ["does not agree to the terms: 403 agreementRequired | 403 userActionRequired"],
  },
  {
    why: "A contact that is not a URL is invalid; unsupportedContact is for URL schemes (RFC 8555, section 6.7).",
    lines: [
      "has a contact that is not a URL: 400 unsupportedContact | 400 invalidContact",
      "changes the contact to none: 400 unsupportedContact | 400 invalidContact",
    ],
  },
  {
    why: "A mailto contact with header fields MUST be rejected (RFC 8555, section 7.3).",
    lines: ["has a contact with header fields: 201 | 400 invalidContact"],
  },
  {
    why: "Accounts have no member `key` (RFC 8555, section 7.1.2), and show whether the terms were agreed to.",
    lines: ["*: /key: there | –", "*: /termsOfServiceAgreed: – | true"],
  },
  {
    why: "An account without contacts has an empty list.",
    lines: [
      "binds an account: /contact: – | there",
      "creates an account with a key on another curve: /contact: – | there",
    ],
  },
  {
    why: "Every response about a resource has its Location, not only the first, so that a client can recover a lost URL.",
    lines: ["*: location: – | an address"],
  },
  {
    why: "A client that sends an unchanged account makes no error (RFC 8555, section 7.3.2: the server ignores members that it does not update).",
    lines: ["updates the account without changes: 400 malformed | 200"],
  },
  {
    why: "Pebble answers with the signing account for every account URL, and would deactivate it. Chancery rejects a request for another account.",
    lines: [
      "reads a missing account: 200 | 403 unauthorized",
      "reads another account: 200 | 403 unauthorized",
      "deactivates another account: 200 | 403 unauthorized",
    ],
  },
  {
    why: "A request of a deactivated account MUST be answered with 401 (RFC 8555, section 7.3.6).",
    lines: [
      "reads the deactivated account: 403 unauthorized | 401 unauthorized",
      "orders as a deactivated account: 403 unauthorized | 401 unauthorized",
      "creates an account with its key: 403 unauthorized | 401 unauthorized",
    ],
  },
  {
    why: "The binding's payload is readable but is not the account's key; the key itself is valid.",
    lines: ["binds another key than its own: 400 badPublicKey | 400 malformed"],
  },
  {
    why: "An unsupported algorithm has its own problem type, with the list of supported ones (RFC 8555, section 6.2).",
    lines: [
      "binds by a signature: 400 badPublicKey | 400 badSignatureAlgorithm",
      "signs by no algorithm: 400 malformed | 400 badSignatureAlgorithm",
      "signs by a MAC: 400 malformed | 400 badSignatureAlgorithm",
      "signs by an unknown algorithm: 400 malformed | 400 badSignatureAlgorithm",
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
    why: "An account of another server does not exist here; the problem type tells the client to register.",
    lines: ["signs as an account of another server: 400 malformed | 400 accountDoesNotExist"],
  },
  {
    why: "Keys that are too weak, or of a type that cannot sign, are rejected as keys (RFC 8555, section 6.2).",
    lines: [
      "creates an account with a weak key: 201 | 400 badPublicKey",
      "creates an account with a key of an unknown type: 400 malformed | 400 badPublicKey",
    ],
  },
  {
    why: "The RFC has this problem type for it (RFC 8555, section 6.7).",
    lines: ["orders an identifier of another type: 400 malformed | 400 unsupportedIdentifier"],
  },
  {
    why: "A name that cannot be issued is a rejected identifier, because the request itself is well formed (RFC 8555, section 7.4).",
    lines: [
      "orders a name with invalid letters: 400 malformed | 400 rejectedIdentifier",
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
    why: "Pebble accepts names that are not valid host names.",
    lines: [
      "orders a name with two dots: 201 | 400 rejectedIdentifier",
      "orders a name that is too long: 201 | 400 rejectedIdentifier",
    ],
  },
  {
    why: "Pebble returns notBefore and notAfter unchecked; they are timestamps (RFC 8555, section 7.1.3).",
    lines: [
      "orders with an invalid notBefore: 201 | 400 malformed",
      "orders with an invalid notAfter: 201 | 400 malformed",
    ],
  },
  {
    why: "Polling clients get a Retry-After header (RFC 8555, sections 7.4 and 7.5.1).",
    lines: ["*: retry-after: – | a while"],
  },
  {
    why: "Every error is a problem document, also for missing resources.",
    lines: ["*: 404 – | 404 malformed"],
  },
  {
    why: "Resources of other accounts look the same as missing resources.",
    lines: [
      "reads an order of another account: 403 unauthorized | 404 malformed",
      "reads an authorization of another account: 403 unauthorized | 404 malformed",
      "deactivates an authorization of another account: 403 unauthorized | 404 malformed",
      "answers a challenge of another account: 403 unauthorized | 404 malformed",
      "fetches a certificate of another account: 403 unauthorized | 404 malformed",
    ],
  },
  {
    why: "An authorization keeps its challenges after deactivation, because the member is required (RFC 8555, section 7.1.4).",
    lines: [
      "*: /challenges#: 0 | 3",
      "*: /challenges/tls-alpn-01: – | there",
      "*: /challenges/http-01: – | there",
      "*: /challenges/dns-01: – | there",
    ],
  },
  {
    why: "Orders are never deactivated (RFC 8555, section 7.1.6): an order with a deactivated authorization is invalid, and has an error.",
    lines: [
      "reads the order of the deactivated authorization: /status: deactivated | invalid",
      "reads the order of the deactivated authorization: /error: – | there",
    ],
  },
  {
    why: "A challenge links up to its authorization (RFC 8555, section 7.5.1).",
    lines: ["*: link: index | index up"],
  },
  {
    why: "A repeated challenge response returns the challenge, so that a client that lost the first response can repeat it.",
    lines: [
      "answers the valid challenge: 400 malformed | 200",
      "answers a challenge of the wrong content again: 400 malformed | 200",
      "answers a challenge of no content again: 400 malformed | 200",
    ],
  },
  {
    why: "Every fault of a CSR has the type badCSR.",
    lines: [
      "finalizes without a CSR: 400 malformed | 400 badCSR",
      "finalizes with an invalid CSR: 400 malformed | 400 badCSR",
      "finalizes with a CSR in another encoding: 400 malformed | 400 badCSR",
      "finalizes with a CSR for another name: 403 unauthorized | 400 badCSR",
      "finalizes with a CSR for one more name: 403 unauthorized | 400 badCSR",
    ],
  },
  {
    why: "Pebble does not verify the signature of a CSR, and signs keys of any size.",
    lines: [
      "finalizes with a CSR with a broken signature: 200 | 400 badCSR",
      "finalizes with a CSR of a weak key: 200 | 400 badCSR",
    ],
  },
  {
    why: "Another root has cross-signed our intermediate, and each chain is offered with and without its root.",
    lines: [
      "*: link: index | alternate alternate alternate index",
      "fetches the other chain: -----BEGIN CERTIFICATE: 2 | 3",
    ],
  },
  {
    why: "A challenge has `validated` only after it succeeded; Pebble also sets it after a failure.",
    lines: ["*: /challenges/http-01/validated: a time | –"],
  },
  {
    why: "A response other than the key authorization is an incorrectResponse (RFC 8555, section 6.7).",
    lines: ["*: /challenges/http-01/error/type: unauthorized | incorrectResponse"],
  },
  {
    why: "The failed names are listed in subproblems (RFC 8555, section 6.7.1).",
    lines: ["*: /error/subproblems: – | there"],
  },
  {
    why: "A key that already has an account, also this one, is a conflict, and Location is the URL of that account (RFC 8555, section 7.3.5).",
    lines: [
      "changes the key to the same key: 400 malformed | 409 malformed",
      "changes the key to that of another account: 500 serverInternal | 409 malformed",
    ],
  },
  {
    why: "A key change returns the account, as other changes of it do.",
    lines: [
      "changes the key to a fresh one: content-type: – | application/json",
      "changes the key to a fresh one: /status: – | valid",
      "changes the key to a fresh one: /contact: – | there",
      "changes the key to a fresh one: /orders: – | an address",
    ],
  },
]
