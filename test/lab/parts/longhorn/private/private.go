// Package private gives names to those of Longhorn's functions that decide about drains, which it does not export. They are linked by
// name: nothing of them is copied, so what runs is what Longhorn runs.
package private

import (
	// Go wants this where functions are linked by name.
	_ "unsafe"

	"github.com/longhorn/longhorn-manager/controller"
	longhorn "github.com/longhorn/longhorn-manager/k8s/pkg/apis/longhorn/v1beta2"
	corev1 "k8s.io/api/core/v1"
)

// CanDeleteInstanceManagerPDB answers whether nothing on the instance manager's node holds its budget, and if not, what does.
//
//go:linkname CanDeleteInstanceManagerPDB github.com/longhorn/longhorn-manager/controller.(*InstanceManagerController).canDeleteInstanceManagerPDB
func CanDeleteInstanceManagerPDB(*controller.InstanceManagerController, *longhorn.InstanceManager) (bool, string, error)

// SyncInstanceManagerPDB creates or deletes the instance manager's budget, or leaves it.
//
//go:linkname SyncInstanceManagerPDB github.com/longhorn/longhorn-manager/controller.(*InstanceManagerController).syncInstanceManagerPDB
func SyncInstanceManagerPDB(*controller.InstanceManagerController, *longhorn.InstanceManager) error

// ShouldEvictReplica answers whether the replica's flag should be up, with the reason of the event.
//
//go:linkname ShouldEvictReplica github.com/longhorn/longhorn-manager/controller.(*NodeController).shouldEvictReplica
func ShouldEvictReplica(*controller.NodeController, *longhorn.Node, *corev1.Node, *longhorn.DiskSpec, *longhorn.Replica, string) (bool, string, error)

// SyncReplicaEvictionRequested writes the flags of all replicas on the node's disks, and says in the node's status whether a policy moves them.
//
//go:linkname SyncReplicaEvictionRequested github.com/longhorn/longhorn-manager/controller.(*NodeController).syncReplicaEvictionRequested
func SyncReplicaEvictionRequested(*controller.NodeController, *longhorn.Node, *corev1.Node) error
