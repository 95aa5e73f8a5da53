module chancery.dev/test/clients/go-tfe-suite

go 1.24

require github.com/hashicorp/go-tfe v1.93.0
