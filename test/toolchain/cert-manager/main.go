// Command cert-manager runs controllers of cert-manager. The command that cert-manager releases is a module of its own that cannot be
// fetched, so this one starts the same controllers from the packages that both import, with the defaults of their flags.
//
// Its webhook does not run: neither the defaults nor the approval rights that the webhook checks apply.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cert-manager/cert-manager/pkg/controller"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificate-shim/gateways"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificate-shim/ingresses"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
)

const workers = 5

func main() {
	stopping, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(stopping, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run starts the controllers and blocks until the context ends and they have stopped.
func run(ctx context.Context, args []string) error {
	options, names, err := parse(args)
	if err != nil {
		return err
	}
	factory, err := controller.NewContextFactory(ctx, options)
	if err != nil {
		return err
	}
	shared, err := factory.Build()
	if err != nil {
		return err
	}
	running := make([]controller.Interface, 0, len(names))
	for _, name := range names {
		create, known := controller.Known()[name]
		if !known {
			return fmt.Errorf("there is no controller %q", name)
		}
		created, err := create(factory)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		running = append(running, created)
	}
	// Controllers have registered their informers by now.
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	shared.GWShared.Start(ctx.Done())
	fmt.Println("started")

	failures := make([]error, len(running))
	var ending sync.WaitGroup
	for index, one := range running {
		ending.Go(func() { failures[index] = one.Run(workers, ctx) })
	}
	ending.Wait()
	return errors.Join(failures...)
}

// parse returns the options and the names of the controllers. Names and defaults of flags are those of cert-manager.
func parse(args []string) (controller.ContextOptions, []string, error) {
	var options controller.ContextOptions
	var names string
	flags := flag.NewFlagSet("cert-manager", flag.ContinueOnError)
	flags.StringVar(&options.Kubeconfig, "kubeconfig", "", "path of a kubeconfig")
	flags.StringVar(&options.Namespace, "namespace", "", "namespace to work in (default: all)")
	flags.StringVar(&names, "controllers", "", "comma-separated names of controllers")
	flags.BoolVar(&options.EnableGatewayAPI, "enable-gateway-api", false, "whether the Gateway API is used")
	flags.DurationVar(&options.CertificateRequestMinimumBackoffDuration, "certificate-request-minimum-backoff-duration", time.Hour,
		"delay after the first failed request")
	flags.DurationVar(&options.CertificateRequestMaximumBackoffDuration, "certificate-request-maximum-backoff-duration", 32*time.Hour,
		"longest delay after failed requests")
	if err := flags.Parse(args); err != nil {
		return options, nil, err
	}
	options.ClusterResourceNamespace = "cert-manager"
	options.DefaultIssuerKind = "Issuer"
	options.DefaultIssuerGroup = "cert-manager.io"
	options.DefaultAutoCertificateAnnotations = []string{"kubernetes.io/tls-acme"}
	options.CopiedAnnotationPrefixes = []string{"*", "-kubectl.kubernetes.io/", "-fluxcd.io/", "-argocd.argoproj.io/"}
	return options, strings.Split(names, ","), nil
}
