module chancery.dev/test/clients/go-tfe

go 1.24

require (
	github.com/hashicorp/go-tfe v1.90.0
	github.com/hashicorp/jsonapi v1.4.3-0.20250220162346-81a76b606f3e
)

require (
	github.com/google/go-querystring v1.1.0 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.7 // indirect
	github.com/hashicorp/go-slug v0.16.4 // indirect
	github.com/hashicorp/go-version v1.7.0 // indirect
	golang.org/x/sync v0.10.0 // indirect
	golang.org/x/sys v0.29.0 // indirect
	golang.org/x/time v0.10.0 // indirect
)
