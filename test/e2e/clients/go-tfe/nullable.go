package main

import "github.com/hashicorp/jsonapi"

func nullable[T any](value T) jsonapi.NullableAttr[T] { return jsonapi.NewNullableAttrWithValue(value) }

func null[T any]() jsonapi.NullableAttr[T] { return jsonapi.NewNullNullableAttr[T]() }
