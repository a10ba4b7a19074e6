// What a Go operator keeps in memory of the same cluster: the caches of controller-runtime as they are, for the kinds that
// Cofferdam reads. It waits until all of them are filled, prints one line of JSON, and again for every line on its input.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"runtime"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// An operator of Go reads kinds of others as maps, unless it imports their modules.
func custom(group, version string, kinds ...string) []client.Object {
	var objects []client.Object
	for _, kind := range kinds {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: version, Kind: kind})
		objects = append(objects, object)
	}
	return objects
}

func kinds() []client.Object {
	objects := []client.Object{
		&corev1.Node{}, &corev1.Pod{}, &corev1.Namespace{}, &corev1.PersistentVolume{},
		&policyv1.PodDisruptionBudget{}, &appsv1.Deployment{}, &appsv1.DaemonSet{}, &storagev1.StorageClass{},
	}
	objects = append(objects, custom("ceph.rook.io", "v1", "CephCluster")...)
	objects = append(objects, custom("longhorn.io", "v1beta2",
		"Node", "Volume", "Replica", "Engine", "InstanceManager", "VolumeAttachment", "Setting")...)
	return append(objects, custom("cofferdam.io", "v1alpha1", "NodeDisruption", "DisruptionLedger")...)
}

func main() {
	log.SetFlags(0)
	ctrllog.SetLogger(logr.Discard())
	if err := run(context.Background(), os.Args[1], os.Args[2:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, kubeconfig string, options []string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	// The embedded API server speaks JSON alone, and nobody is to wait for a limit of the client.
	config.ContentType = "application/json"
	config.QPS = -1
	chosen := cache.Options{Scheme: scheme.Scheme}
	if len(options) > 0 && options[0] == "--without-managed-fields" {
		chosen.DefaultTransform = cache.TransformStripManagedFields()
	}
	caches, err := cache.New(config, chosen)
	if err != nil {
		return err
	}
	for _, object := range kinds() {
		if _, err := caches.GetInformer(ctx, object, cache.BlockUntilSynced(false)); err != nil {
			return err
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- caches.Start(ctx) }()
	if !caches.WaitForCacheSync(ctx) {
		return <-ended
	}
	tell()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		runtime.GC()
		tell()
	}
	return nil
}

// The process is measured from outside; only itself can say what of its heap is in use.
func tell() {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	line, _ := json.Marshal(map[string]uint64{"heapInUse": memory.HeapInuse, "heapAlive": memory.HeapAlloc})
	fmt.Println(string(line))
}
