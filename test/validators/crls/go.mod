module chancery.dev/test/validators/crls

go 1.25.0
