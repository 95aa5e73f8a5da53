// RFC 6960, appendix A.1.
export const ocspRequestType = "application/ocsp-request"
export const ocspResponseType = "application/ocsp-response"
