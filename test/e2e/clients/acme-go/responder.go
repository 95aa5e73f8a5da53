package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Where pebble-challtestsrv is told what to answer.
type responder string

type answer struct {
	challenge, host, token, keyAuthorization, txtName, txtValue string
}

func (r responder) give(ctx context.Context, with answer) error {
	switch with.challenge {
	case "http-01":
		return r.tell(ctx, "add-http01", map[string]string{"token": with.token, "content": with.keyAuthorization})
	case "tls-alpn-01":
		return r.tell(ctx, "add-tlsalpn01", map[string]string{"host": with.host, "content": with.keyAuthorization})
	case "dns-01":
		return r.tell(ctx, "set-txt", map[string]string{"host": with.txtName + ".", "value": with.txtValue})
	default:
		return fmt.Errorf("there is no challenge %q", with.challenge)
	}
}

func (r responder) tell(ctx context.Context, command string, body map[string]string) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, string(r)+"/"+command, bytes.NewReader(text))
	if err != nil {
		return err
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", command, reply.Status)
	}
	return nil
}
