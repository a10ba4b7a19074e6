package main

import (
	"context"
	"fmt"
	"log"
	"sort"
	"time"

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

// One failure stops nothing else, as every manager works for itself; the next time it is tried again.
func (b *brain) run(ctx context.Context, period time.Duration) {
	every := time.NewTicker(period)
	defer every.Stop()
	for {
		for _, err := range b.judge(ctx) {
			log.Print(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

func (b *brain) judge(ctx context.Context) []error {
	var failures []error
	nodes, err := b.store.ListNodes()
	if err != nil {
		return append(failures, fmt.Errorf("nodes: %w", err))
	}
	for _, name := range sortedKeys(nodes) {
		if err := b.judgeFlags(ctx, nodes[name]); err != nil {
			failures = append(failures, fmt.Errorf("flags on node %s: %w", name, err))
		}
	}
	managers, err := b.store.ListInstanceManagers()
	if err != nil {
		return append(failures, fmt.Errorf("instance managers: %w", err))
	}
	for _, name := range sortedKeys(managers) {
		on, ok := b.nodes[managers[name].Spec.NodeID]
		if !ok {
			continue
		}
		if err := private.SyncInstanceManagerPDB(on.managers, managers[name]); err != nil {
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
