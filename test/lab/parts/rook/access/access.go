// Package access gives Rook's code what its operator would have: the API server, the ceph command and its configuration.
package access

import (
	"log"
	"os"

	"github.com/coreos/pkg/capnslog"
	cephv1 "github.com/rook/rook/pkg/apis/ceph.rook.io/v1"
	"github.com/rook/rook/pkg/clusterd"
	"github.com/rook/rook/pkg/util/exec"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// Must ends the program; the lab shows its last lines.
func Must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// LogAll has Rook tell everything on standard error.
func LogAll() {
	capnslog.SetGlobalLogLevel(capnslog.DEBUG)
	capnslog.SetFormatter(capnslog.NewPrettyFormatter(os.Stderr, true))
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
}

// Open reads KUBECONFIG and ROOK_CONFIG_DIR. The manager and Rook's context talk to the same API server.
func Open() (ctrl.Manager, *clusterd.Context) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	Must(err)
	// Rook's own operator has these as well; the defaults of a client would slow it down.
	config.QPS, config.Burst = 100, 200
	scheme := runtime.NewScheme()
	Must(clientgoscheme.AddToScheme(scheme))
	Must(cephv1.AddToScheme(scheme))
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, MetricsBindAddress: "0"})
	Must(err)
	clientset, err := kubernetes.NewForConfig(config)
	Must(err)
	return manager, &clusterd.Context{
		Clientset:  clientset,
		Client:     manager.GetClient(),
		KubeConfig: config,
		Executor:   &exec.CommandExecutor{},
		ConfigDir:  os.Getenv("ROOK_CONFIG_DIR"),
	}
}
