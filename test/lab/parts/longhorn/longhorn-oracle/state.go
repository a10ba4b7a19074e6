package main

import (
	longhorn "github.com/longhorn/longhorn-manager/k8s/pkg/apis/longhorn/v1beta2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// Everything that Longhorn's drain handling reads, as the API server has it.
type state struct {
	Settings         []*longhorn.Setting             `json:"settings"`
	Nodes            []*longhorn.Node                `json:"nodes"`
	KubeNodes        []*corev1.Node                  `json:"kubeNodes"`
	Volumes          []*longhorn.Volume              `json:"volumes"`
	Replicas         []*longhorn.Replica             `json:"replicas"`
	InstanceManagers []*longhorn.InstanceManager     `json:"instanceManagers"`
	Budgets          []*policyv1.PodDisruptionBudget `json:"budgets"`
}

// One answer for each instance manager and for each replica that a disk lists, in the order of their names.
type answer struct {
	Budgets   []budgetAnswer   `json:"budgets"`
	Evictions []evictionAnswer `json:"evictions"`
	Error     string           `json:"error,omitempty"`
}

type budgetAnswer struct {
	InstanceManager string `json:"instanceManager"`
	// create, delete or nothing: what Longhorn writes.
	Does string `json:"does"`
	// yes, no or unknown: whether nothing on the node holds it, cordoned or not.
	MayGo string `json:"mayGo"`
	// What holds it, or why that is not known, in Longhorn's words.
	Why   string `json:"why,omitempty"`
	Error string `json:"error,omitempty"`
}

type evictionAnswer struct {
	Replica string `json:"replica"`
	// Whether the flag should be up.
	Evict bool `json:"evict"`
	// Of the event, where the flag changes.
	Reason string `json:"reason,omitempty"`
	Error  string `json:"error,omitempty"`
}
