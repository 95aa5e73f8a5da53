module chancery.dev/test/acme

go 1.26.0

require (
	github.com/cert-manager/cert-manager v1.21.2
	github.com/mholt/acmez/v3 v3.1.7
)

require (
	golang.org/x/crypto v0.57.0 // indirect
	golang.org/x/net v0.59.0 // indirect
	golang.org/x/text v0.42.0 // indirect
)
