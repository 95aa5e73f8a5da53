module chancery.dev/test/judges/crls

go 1.25.0
