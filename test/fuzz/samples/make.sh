#!/usr/bin/env bash
# Made the samples beside it once, with OpenSSL 3. They are kept, rather than made for each run, so that a seed means the
# same inputs everywhere. No key among them guards anything.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT

cat >"$T/x.cnf" <<'E'
[req]
distinguished_name=dn
req_extensions=csr
prompt=no
[dn]
C=DE
ST=Bayern
L=München
O=Example GmbH
OU=Unit
serialNumber=42
UID=jane
CN=leaf.example.com
[csr]
subjectAltName=@san
basicConstraints=critical,CA:TRUE,pathlen:2
keyUsage=critical,digitalSignature,keyAgreement
extendedKeyUsage=serverAuth,clientAuth,1.3.6.1.5.5.7.3.99
subjectKeyIdentifier=hash
[san]
DNS.1=leaf.example.com
DNS.2=*.example.com
email.1=jane@example.com
IP.1=10.0.0.1
IP.2=2001:db8::1
URI.1=spiffe://example.com/a
otherName.1=1.3.6.1.4.1.311.20.2.3;UTF8:jane@example.com
dirName.1=dir
RID.1=1.2.3.4
[dir]
CN=dir
[root]
basicConstraints=critical,CA:TRUE,pathlen:1
keyUsage=critical,keyCertSign,cRLSign,digitalSignature
subjectKeyIdentifier=hash
nameConstraints=critical,permitted;DNS:example.com,excluded;IP:10.0.0.0/255.0.0.0,permitted;email:example.com,excluded;URI:.example.org
certificatePolicies=@policy,2.23.140.1.2.1
authorityInfoAccess=OCSP;URI:http://ocsp.example.com/,caIssuers;URI:http://ca.example.com/ca
crlDistributionPoints=cdp
freshestCRL=URI:http://crl.example.com/delta
policyConstraints=critical,requireExplicitPolicy:3
inhibitAnyPolicy=critical,2
[cdp]
fullname=URI:http://crl.example.com/1
[policy]
policyIdentifier=1.3.6.1.4.1.55555.2
CPS.1=http://cps.example.com/
userNotice.1=@notice
[notice]
explicitText=UTF8:a notice
[leaf]
subjectAltName=@san
basicConstraints=CA:FALSE
keyUsage=critical,digitalSignature,keyAgreement
extendedKeyUsage=serverAuth,clientAuth
subjectKeyIdentifier=hash
authorityKeyIdentifier=keyid
certificatePolicies=@policy
tlsfeature=status_request
[ca]
default_ca=authority
[authority]
database=index
crlnumber=number
default_md=default
crl_extensions=complete
[complete]
authorityKeyIdentifier=keyid
issuingDistributionPoint=critical,@idp
freshestCRL=URI:http://crl.example.com/delta
[delta]
authorityKeyIdentifier=keyid
2.5.29.27=critical,DER:02011f
[idp]
fullname=URI:http://crl.example.com/1
onlyuser=TRUE
[attributes]
challengePassword=hunter2
[plain]
distinguished_name=plain-dn
attributes=attributes
prompt=no
[plain-dn]
CN=plain
E
sed "s#=index#=$T/index#; s#=number#=$T/number#" -i "$T/x.cnf"
export OPENSSL_CONF="$T/x.cnf"

pss=(-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest)
key() { openssl genpkey "${@:2}" -out "key-$1.pem"; }
for curve in 224 256 384 521; do key "p$curve" -algorithm EC -pkeyopt "ec_paramgen_curve:P-$curve"; done
key ed -algorithm ed25519
key rsa -algorithm RSA -pkeyopt rsa_keygen_bits:2048
openssl ec -in key-p256.pem -out key-sec1.pem
openssl rsa -in key-rsa.pem -traditional -out key-pkcs1.pem
openssl pkcs8 -topk8 -v2 aes256 -passout pass:x -in key-p256.pem -out key-encrypted.pem

for kind in p256 p521 rsa ed; do openssl req -new -utf8 -key "key-$kind.pem" -out "request-$kind.pem"; done
openssl req -new -utf8 -key key-rsa.pem "${pss[@]}" -out request-pss.pem
openssl req -new -section plain -key key-p256.pem -out request-plain.pem

for kind in p256 rsa ed; do
  openssl req -x509 -new -utf8 -extensions root -subj "/C=DE/O=Example/CN=root $kind" -key "key-$kind.pem" -days 36500 \
    -out "root-$kind.pem"
  openssl x509 -req -in "request-$kind.pem" -CA "root-$kind.pem" -CAkey "key-$kind.pem" -extfile "$T/x.cnf" \
    -extensions leaf -days 3650 -out "leaf-$kind.pem"
done
# Ends after 2050, so that it holds both forms of time.
openssl req -x509 -new -extensions root -subj "/CN=root pss" -key key-rsa.pem "${pss[@]}" -days 10000 -out root-pss.pem
openssl crl2pkcs7 -nocrl -certfile leaf-p256.pem -certfile root-p256.pem -out pkcs7.pem

{
  printf 'R\t491231235959Z\t250101000000Z,keyCompromise\t01\tunknown\t/CN=a\n'
  printf 'R\t491231235959Z\t250102000000Z\t7DEADBEEF7DEADBEEF7DEADBEEF7DEADBEEF7D11\tunknown\t/CN=b\n'
  printf 'R\t491231235959Z\t250103000000Z,CAkeyTime,20250101000000Z\t02\tunknown\t/CN=c\n'
} >"$T/index"
echo 20 >"$T/number"
openssl ca -gencrl -crldays 3650 -cert root-p256.pem -keyfile key-p256.pem -out crl-p256.pem
openssl ca -gencrl -crldays 3650 -cert root-rsa.pem -keyfile key-rsa.pem -crlexts delta -out crl-delta.pem

encode() {
  { echo "-----BEGIN $1-----" && base64 -w64 "$2" && echo "-----END $1-----"; } >"$3"
}
for kind in p256 rsa; do
  openssl ocsp -issuer "root-$kind.pem" -cert "leaf-$kind.pem" -reqout "$T/request"
  openssl ocsp -index "$T/index" -CA "root-$kind.pem" -rsigner "root-$kind.pem" -rkey "key-$kind.pem" -ndays 3650 \
    -reqin "$T/request" -respout "$T/response"
  encode "OCSP REQUEST" "$T/request" "ocsp-request-$kind.pem"
  encode "OCSP RESPONSE" "$T/response" "ocsp-response-$kind.pem"
done
openssl ocsp -no_nonce -sha256 -issuer root-p256.pem -cert leaf-p256.pem -issuer root-rsa.pem -cert leaf-rsa.pem \
  -signer leaf-p256.pem -signkey key-p256.pem -reqout "$T/request"
encode "OCSP REQUEST" "$T/request" ocsp-request-signed.pem
