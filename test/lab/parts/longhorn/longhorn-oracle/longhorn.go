package main

import (
	"fmt"
	"io"
	"sort"

	"cofferdam.io/lab-longhorn/private"
	"github.com/longhorn/longhorn-manager/controller"
	"github.com/longhorn/longhorn-manager/datastore"
	longhorn "github.com/longhorn/longhorn-manager/k8s/pkg/apis/longhorn/v1beta2"
	lhfake "github.com/longhorn/longhorn-manager/k8s/pkg/client/clientset/versioned/fake"
	lhscheme "github.com/longhorn/longhorn-manager/k8s/pkg/client/clientset/versioned/scheme"
	"github.com/longhorn/longhorn-manager/types"
	"github.com/longhorn/longhorn-manager/util"
	"github.com/sirupsen/logrus"
	corev1 "k8s.io/api/core/v1"
	apiextensionsfake "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/fake"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
)

// Longhorn's controllers over caches that are filled by hand. No API server is there, and no informer runs.
type cachedLonghorn struct {
	namespace string
	kube      *fake.Clientset
	factories *util.InformerFactories
	store     *datastore.DataStore
	managers  *controller.InstanceManagerController
	nodes     *controller.NodeController
}

func openLonghorn(namespace string) (*cachedLonghorn, error) {
	logrus.SetOutput(io.Discard)
	logrus.SetLevel(logrus.PanicLevel)
	// What is written is never to be seen in the caches again, and nobody waits for it.
	datastore.SkipListerCheck = true
	kube, lh := fake.NewSimpleClientset(), lhfake.NewSimpleClientset()
	factories := util.NewInformerFactories(namespace, kube, lh, 0)
	store := datastore.NewDataStore(namespace, lh, kube, apiextensionsfake.NewSimpleClientset(), factories)
	logger := logrus.StandardLogger()
	managers, err := controller.NewInstanceManagerController(logger, store, lhscheme.Scheme, kube, namespace, "oracle", "oracle", util.NewAtomicCounter())
	if err != nil {
		return nil, fmt.Errorf("cannot open Longhorn's instance manager controller: %w", err)
	}
	nodes, err := controller.NewNodeController(logger, store, lhscheme.Scheme, kube, namespace, "oracle")
	if err != nil {
		return nil, fmt.Errorf("cannot open Longhorn's node controller: %w", err)
	}
	return &cachedLonghorn{namespace, kube, factories, store, managers, nodes}, nil
}

func (l *cachedLonghorn) decide(seen state) (answer, error) {
	if err := l.fill(seen); err != nil {
		return answer{}, err
	}
	return answer{Budgets: l.budgets(seen.InstanceManagers), Evictions: l.evictions(seen)}, nil
}

func (l *cachedLonghorn) fill(seen state) error {
	ours := l.factories.LhInformerFactory.Longhorn().V1beta2()
	kubeNodes := l.factories.KubeInformerFactory.Core().V1().Nodes()
	budgets := l.factories.KubeNamespaceFilteredInformerFactory.Policy().V1().PodDisruptionBudgets()
	for _, list := range []struct {
		informer cache.SharedIndexInformer
		items    []interface{}
	}{
		{ours.Settings().Informer(), objects(seen.Settings)},
		{ours.Nodes().Informer(), objects(seen.Nodes)},
		{ours.Volumes().Informer(), objects(seen.Volumes)},
		{ours.Replicas().Informer(), objects(seen.Replicas)},
		{ours.InstanceManagers().Informer(), objects(seen.InstanceManagers)},
		{kubeNodes.Informer(), objects(seen.KubeNodes)},
		{budgets.Informer(), objects(seen.Budgets)},
	} {
		if err := list.informer.GetIndexer().Replace(list.items, ""); err != nil {
			return err
		}
	}
	return nil
}

func objects[T any](items []T) []interface{} {
	list := make([]interface{}, 0, len(items))
	for _, item := range items {
		list = append(list, item)
	}
	return list
}

func (l *cachedLonghorn) budgets(managers []*longhorn.InstanceManager) []budgetAnswer {
	answers := make([]budgetAnswer, 0, len(managers))
	for _, manager := range managers {
		given := budgetAnswer{InstanceManager: manager.Name}
		given.MayGo, given.Why = l.mayGo(manager)
		does, err := l.syncBudget(manager)
		given.Does = does
		if err != nil {
			given.Error = err.Error()
		}
		answers = append(answers, given)
	}
	sort.Slice(answers, func(i, j int) bool { return answers[i].InstanceManager < answers[j].InstanceManager })
	return answers
}

func (l *cachedLonghorn) mayGo(manager *longhorn.InstanceManager) (string, string) {
	mayGo, why, err := private.CanDeleteInstanceManagerPDB(l.managers, manager)
	switch {
	case err != nil:
		return "unknown", err.Error()
	case mayGo:
		return "yes", why
	default:
		return "no", why
	}
}

// What Longhorn writes about the budget of the instance manager. The fake clientset has no budgets, so that a deletion finds none, which Longhorn
// takes as done; what is created is taken away again.
func (l *cachedLonghorn) syncBudget(manager *longhorn.InstanceManager) (string, error) {
	l.kube.ClearActions()
	err := private.SyncInstanceManagerPDB(l.managers, manager.DeepCopy())
	does := "nothing"
	for _, action := range l.kube.Actions() {
		resource := action.GetResource()
		if resource.Resource != "poddisruptionbudgets" {
			continue
		}
		switch done := action.(type) {
		case k8stesting.CreateAction:
			does = "create"
			if gone := l.kube.Tracker().Delete(resource, l.namespace, manager.Name); gone != nil && err == nil {
				err = gone
			}
		case k8stesting.DeleteAction:
			// Budgets of instance managers that are gone are deleted on the way.
			if done.GetName() == manager.Name {
				does = "delete"
			}
		}
	}
	return does, err
}

func (l *cachedLonghorn) evictions(seen state) []evictionAnswer {
	kubeNodes := map[string]*corev1.Node{}
	for _, node := range seen.KubeNodes {
		kubeNodes[node.Name] = node
	}
	answers := []evictionAnswer{}
	for _, node := range seen.Nodes {
		for name, disk := range node.Spec.Disks {
			status := node.Status.DiskStatus[name]
			if status == nil {
				continue
			}
			for replica := range status.ScheduledReplica {
				answers = append(answers, l.eviction(replica, place{node, kubeNodes[node.Name], disk}))
			}
		}
	}
	sort.Slice(answers, func(i, j int) bool { return answers[i].Replica < answers[j].Replica })
	return answers
}

type place struct {
	node     *longhorn.Node
	kubeNode *corev1.Node
	disk     longhorn.DiskSpec
}

func (l *cachedLonghorn) eviction(name string, at place) evictionAnswer {
	evict, reason, err := l.shouldEvict(name, at)
	if err != nil {
		return evictionAnswer{Replica: name, Error: err.Error()}
	}
	return evictionAnswer{Replica: name, Evict: evict, Reason: reason}
}

func (l *cachedLonghorn) shouldEvict(name string, at place) (bool, string, error) {
	policy, err := l.store.GetSettingValueExisted(types.SettingNameNodeDrainPolicy)
	if err != nil {
		return false, "", err
	}
	replica, err := l.store.GetReplica(name)
	if err != nil {
		return false, "", err
	}
	return private.ShouldEvictReplica(l.nodes, at.node, at.kubeNode, &at.disk, replica, policy)
}
