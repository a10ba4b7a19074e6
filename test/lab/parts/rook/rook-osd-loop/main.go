// Rook's OSD loop as its cluster controller runs it, without mons and mgrs: one pass at a time, begun by what begins a reconcile in Rook.
//
// A pass is osd.New(...).Start(). It begins at the start of the program, after a change of the CephCluster's spec, which cancels what runs and
// starts the manager anew, after a change of the ConfigMap rook-config-override, after an owned object was deleted, and after a pass that
// failed, with the usual backoff. Everything but the comparison of specs is decided by Rook's own predicates. The conditions of the CephCluster
// tell of a pass what Rook's cluster controller tells.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"cofferdam.io/lab-rook/access"
	"github.com/google/go-cmp/cmp"
	cephv1 "github.com/rook/rook/pkg/apis/ceph.rook.io/v1"
	"github.com/rook/rook/pkg/clusterd"
	cephclient "github.com/rook/rook/pkg/daemon/ceph/client"
	"github.com/rook/rook/pkg/operator/ceph/cluster/osd"
	"github.com/rook/rook/pkg/operator/ceph/controller"
	cephver "github.com/rook/rook/pkg/operator/ceph/version"
	"github.com/rook/rook/pkg/operator/k8sutil"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubecontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

var (
	rookImage   = flag.String("rook-image", "registry.example/rook/ceph:v1.12.11", "image of the prepare Jobs")
	cephVersion = flag.String("ceph-version", "", "as Ceph tells it: ceph version 16.2.15 (...) pacific (stable)")
	passes      atomic.Int64
)

func main() {
	flag.Parse()
	access.LogAll()
	version, err := cephver.ExtractCephVersion(*cephVersion)
	access.Must(err)
	stopped, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	for {
		ctx, cancel := context.WithCancel(stopped)
		go run(ctx, *version)
		select {
		case <-stopped.Done():
			cancel()
			return
		case <-reload:
			log.Print("the spec has changed: what runs is cancelled, the manager starts anew")
			cancel()
		}
	}
}

func run(ctx context.Context, version cephver.CephVersion) {
	manager, rook := access.Open()
	loop, err := kubecontroller.New("osd-loop", manager, kubecontroller.Options{Reconciler: &passer{ctx, manager, rook, version}})
	access.Must(err)
	access.Must(loop.Watch(source.Kind(manager.GetCache(), &cephv1.CephCluster{}), &handler.EnqueueRequestForObject{}, ofClusters))
	cluster := &cephv1.CephCluster{TypeMeta: metav1.TypeMeta{Kind: controller.ClusterResource.Kind, APIVersion: controller.ClusterResource.APIVersion}}
	for _, owned := range []client.Object{&appsv1.Deployment{}, &corev1.Service{}, &corev1.Secret{}, &corev1.ConfigMap{}} {
		access.Must(loop.Watch(
			source.Kind(manager.GetCache(), owned),
			handler.EnqueueRequestForOwner(manager.GetScheme(), manager.GetRESTMapper(), &cephv1.CephCluster{}),
			controller.WatchPredicateForNonCRDObject(cluster, manager.GetScheme()),
		))
	}
	access.Must(manager.Start(ctx))
}

// A changed spec reloads the manager, whose first look begins the next pass.
var ofClusters = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*cephv1.CephCluster), e.ObjectNew.(*cephv1.CephCluster)
		quantities := cmp.Comparer(func(x, y resource.Quantity) bool { return x.Cmp(y) == 0 })
		if !controller.IsDoNotReconcile(after.GetLabels()) && cmp.Diff(before.Spec, after.Spec, quantities) != "" {
			controller.ReloadManager()
		}
		return false
	},
}

type passer struct {
	ctx     context.Context
	manager ctrl.Manager
	rook    *clusterd.Context
	version cephver.CephVersion
}

func (p *passer) Reconcile(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
	var cluster cephv1.CephCluster
	if err := p.manager.GetClient().Get(p.ctx, request.NamespacedName, &cluster); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	owner := k8sutil.NewOwnerInfo(&cluster, p.manager.GetScheme())
	if err := p.createOverride(request.Namespace, owner); err != nil {
		return reconcile.Result{}, err
	}
	info := cephclient.AdminClusterInfo(p.ctx, request.Namespace, request.Name)
	info.OwnerInfo = owner
	info.FSID = os.Getenv("CEPH_FSID")
	info.CephVersion = p.version

	pass, began := passes.Add(1), time.Now()
	log.Printf("PASS %d begins with image=%s", pass, cluster.Spec.CephVersion.Image)
	p.tell(request, cephv1.ConditionProgressing, corev1.ConditionTrue, cephv1.ClusterProgressingReason, "Configuring Ceph OSDs")
	err := osd.New(p.rook, info, cluster.Spec, *rookImage).Start()
	log.Printf("PASS %d ended after %.1f s, error=%v", pass, time.Since(began).Seconds(), err)
	// Rook has other work to do here. Its status is written from a cache, which must first have seen what the pass wrote last.
	select {
	case <-time.After(time.Second):
	case <-p.ctx.Done():
		return reconcile.Result{}, nil
	}
	if err != nil {
		err = fmt.Errorf("failed to create cluster: failed to start ceph osds: %w", err)
		p.tell(request, cephv1.ConditionProgressing, corev1.ConditionFalse, cephv1.ClusterProgressingReason, err.Error())
		return reconcile.Result{}, err
	}
	controller.UpdateCondition(p.ctx, p.rook, request.NamespacedName, cluster.Generation, cephv1.ConditionReady, corev1.ConditionTrue, cephv1.ClusterCreatedReason, "Cluster created successfully")
	return reconcile.Result{}, nil
}

func (p *passer) tell(request reconcile.Request, condition cephv1.ConditionType, status corev1.ConditionStatus, reason cephv1.ConditionReason, message string) {
	controller.UpdateCondition(p.ctx, p.rook, request.NamespacedName, k8sutil.ObservedGenerationNotAvailable, condition, status, reason, message)
}

// Rook's cluster controller creates this ConfigMap before anything else; it is the only one whose changes begin a reconcile.
func (p *passer) createOverride(namespace string, owner *k8sutil.OwnerInfo) error {
	override := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: k8sutil.ConfigOverrideName, Namespace: namespace},
		Data:       map[string]string{k8sutil.ConfigOverrideVal: ""},
	}
	if err := owner.SetControllerReference(override); err != nil {
		return err
	}
	_, err := p.rook.Clientset.CoreV1().ConfigMaps(namespace).Create(p.ctx, override, metav1.CreateOptions{})
	if kerrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
