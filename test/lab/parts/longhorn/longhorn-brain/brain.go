package main

import (
	"context"
	"fmt"
	"log"
	"sort"

	"cofferdam.io/lab-longhorn/private"
	"github.com/longhorn/longhorn-manager/controller"
	"github.com/longhorn/longhorn-manager/datastore"
	longhorn "github.com/longhorn/longhorn-manager/k8s/pkg/apis/longhorn/v1beta2"
	lhscheme "github.com/longhorn/longhorn-manager/k8s/pkg/client/clientset/versioned/scheme"
	"github.com/longhorn/longhorn-manager/util"
	"github.com/sirupsen/logrus"
	"k8s.io/client-go/kubernetes"
)

type brain struct {
	namespace string
	kube      kubernetes.Interface
	store     *datastore.DataStore
	nodes     map[string]*nodeBrain
}

// What the manager on one node does about drains. Each controller answers for its own node alone.
type nodeBrain struct {
	managers *controller.InstanceManagerController
	node     *controller.NodeController
}

// Judges when Longhorn does: flags when nodes, replicas or settings change, budgets when instance managers, pods or Kubernetes nodes do, and
// both at every resync. One failure stops nothing else, as every manager works for itself; the next time it is tried again.
func (b *brain) run(ctx context.Context) error {
	flags, err := wakeOn(b.store.NodeInformer, b.store.KubeNodeInformer, b.store.ReplicaInformer, b.store.SettingInformer)
	if err != nil {
		return err
	}
	budgets, err := wakeOn(b.store.InstanceManagerInformer, b.store.PodInformer, b.store.KubeNodeInformer)
	if err != nil {
		return err
	}
	for {
		var failures []error
		select {
		case <-ctx.Done():
			return nil
		case <-flags:
			failures = b.judgeNodes(ctx)
		case <-budgets:
			failures = b.judgeBudgets(ctx)
		}
		for _, err := range failures {
			log.Print(err)
		}
	}
}

func (b *brain) judgeNodes(ctx context.Context) []error {
	nodes, err := b.store.ListNodes()
	if err != nil {
		return []error{fmt.Errorf("nodes: %w", err)}
	}
	var failures []error
	for _, name := range sortedKeys(nodes) {
		if err := b.judgeFlags(ctx, nodes[name]); err != nil {
			failures = append(failures, fmt.Errorf("flags on node %s: %w", name, err))
		}
	}
	return failures
}

func (b *brain) judgeBudgets(ctx context.Context) []error {
	managers, err := b.store.ListInstanceManagers()
	if err != nil {
		return []error{fmt.Errorf("instance managers: %w", err)}
	}
	var failures []error
	for _, name := range sortedKeys(managers) {
		if err := b.judgeBudget(ctx, managers[name]); err != nil {
			failures = append(failures, fmt.Errorf("budget %s: %w", name, err))
		}
	}
	return failures
}

func (b *brain) judgeFlags(ctx context.Context, node *longhorn.Node) error {
	on, err := b.on(ctx, node.Name)
	if err != nil {
		return err
	}
	kubeNode, err := b.store.GetKubernetesNodeRO(node.Name)
	if err != nil {
		return err
	}
	was := node.Status.AutoEvicting
	if err := private.SyncReplicaEvictionRequested(on.node, node, kubeNode); err != nil {
		return err
	}
	if was == node.Status.AutoEvicting {
		return nil
	}
	_, err = b.store.UpdateNodeStatus(node)
	return err
}

func (b *brain) judgeBudget(ctx context.Context, manager *longhorn.InstanceManager) error {
	on, err := b.on(ctx, manager.Spec.NodeID)
	if err != nil {
		return err
	}
	return private.SyncInstanceManagerPDB(on.managers, manager)
}

// The controllers of a node, opened when it is first seen. Those with work of their own are started.
func (b *brain) on(ctx context.Context, name string) (*nodeBrain, error) {
	if found, ok := b.nodes[name]; ok {
		return found, nil
	}
	logger, scheme := logrus.StandardLogger(), lhscheme.Scheme
	managers, err := controller.NewInstanceManagerController(logger, b.store, scheme, b.kube, b.namespace, name, "", util.NewAtomicCounter())
	if err != nil {
		return nil, err
	}
	node, err := controller.NewNodeController(logger, b.store, scheme, b.kube, b.namespace, name)
	if err != nil {
		return nil, err
	}
	evictions, err := controller.NewVolumeEvictionController(logger, b.store, scheme, b.kube, name, b.namespace)
	if err != nil {
		return nil, err
	}
	sidecars, err := controller.NewKubernetesPDBController(logger, b.store, b.kube, name, b.namespace)
	if err != nil {
		return nil, err
	}
	go evictions.Run(1, ctx.Done())
	go sidecars.Run(1, ctx.Done())
	b.nodes[name] = &nodeBrain{managers, node}
	return b.nodes[name], nil
}

func sortedKeys[T any](items map[string]T) []string {
	keys := make([]string, 0, len(items))
	for key := range items {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
