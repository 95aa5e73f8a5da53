// Reads Kubernetes objects from standard input, one JSON document a line, and prints the status that cli-utils (kstatus) computes for
// each: one line of JSON with "status" and "message". Flux, kpt and other tools read the status of an object with this library. A line
// that is no object ends the program with an error.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

type result struct {
	Status  status.Status `json:"status"`
	Message string        `json:"message"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	results := json.NewEncoder(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
		// Numbers become integers, which the library needs to compare generations; encoding/json alone makes them floats.
		var object unstructured.Unstructured
		if err := object.UnmarshalJSON(line); err != nil {
			return err
		}
		computed, err := status.Compute(&object)
		if err != nil {
			return err
		}
		if err := results.Encode(result{computed.Status, computed.Message}); err != nil {
			return err
		}
	}
}
