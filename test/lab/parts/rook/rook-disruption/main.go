// Rook's disruption controller, and nothing else of its operator: budgets of OSDs, of object stores and of file systems.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"cofferdam.io/lab-rook/access"
	"github.com/rook/rook/pkg/operator/ceph/disruption/clusterdisruption"
	"github.com/rook/rook/pkg/operator/ceph/disruption/controllerconfig"
)

func main() {
	access.LogAll()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	manager, rook := access.Open()
	access.Must(clusterdisruption.Add(manager, &controllerconfig.Context{
		ClusterdContext:   rook,
		OpManagerContext:  ctx,
		ReconcileCanaries: &controllerconfig.LockingBool{},
	}))
	access.Must(manager.Start(ctx))
}
