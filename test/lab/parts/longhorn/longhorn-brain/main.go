// Longhorn's own drain handling on a live API server, for all nodes in one process: budgets and flags, judged when Longhorn's managers judge
// them, and its controllers for the attachment of volumes that are to move and for the budgets of the CSI sidecars.
//
// Nothing else of Longhorn is here: whatever runs volumes and copies replicas is somebody else.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/longhorn/longhorn-manager/datastore"
	lhclientset "github.com/longhorn/longhorn-manager/k8s/pkg/client/clientset/versioned"
	"github.com/longhorn/longhorn-manager/util"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	log.SetPrefix("longhorn-brain: ")
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "where the API server is, and who asks")
	namespace := flag.String("namespace", os.Getenv("POD_NAMESPACE"), "where Longhorn is")
	resync := flag.Duration("resync", 30*time.Second, "how often everything is judged again; Longhorn's is 30 s")
	flag.Parse()
	if *namespace == "" {
		log.Fatal("no namespace is given: use -namespace or POD_NAMESPACE")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	opened, err := open(ctx, *kubeconfig, *namespace, *resync)
	if err != nil {
		log.Fatal(err)
	}
	log.Print("the caches are filled")
	if err := opened.run(ctx); err != nil {
		log.Fatal(err)
	}
}

func open(ctx context.Context, kubeconfig, namespace string, resync time.Duration) (*brain, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("cannot use kubeconfig %q: %w", kubeconfig, err)
	}
	// The defaults of a client would slow it down; Longhorn's manager has more as well.
	config.QPS, config.Burst = 50, 100
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return refusalLog{next} })
	// JSON, so that what is refused can be read.
	config.ContentType = "application/json"
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	ours, err := lhclientset.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	definitions, err := apiextensions.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	factories := util.NewInformerFactories(namespace, kube, ours, resync)
	store := datastore.NewDataStore(namespace, ours, kube, definitions, factories)
	factories.Start(ctx.Done())
	if !store.Sync(ctx.Done()) {
		return nil, fmt.Errorf("the caches could not be filled from %s", config.Host)
	}
	return &brain{namespace: namespace, kube: kube, store: store, nodes: map[string]*nodeBrain{}}, nil
}
