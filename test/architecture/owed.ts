/** Imports that break the table of ARCHITECTURE.md. Each wants its shared part moved downwards; the list only becomes shorter. */
export const owedImports: readonly string[] = [
  'simulator/cluster-file/build-longhorn.ts → capabilities/longhorn-drain/domain/drain-settings.ts',
  'simulator/cluster-file/build-longhorn.ts → capabilities/longhorn-drain/domain/policy.ts',
  'simulator/cluster-file/build-workloads.ts → capabilities/drain-lock/observe/objects.ts',
  'simulator/cluster-file/ceph-readiness.ts → ceph/parse-status.ts',
  'simulator/cluster-file/ceph-readiness.ts → shared/observed.ts',
  'simulator/cluster-file/ceph-toolbox.ts → ceph/ceph-commands.ts',
  'simulator/cluster-file/longhorn-schema.ts → capabilities/longhorn-drain/domain/snapshot.ts',
  'simulator/cluster-file/report-ceph-health.ts → ceph/ceph-commands.ts',
  'simulator/cluster-file/report-ceph-health.ts → ceph/observe-status.ts',
  'simulator/cluster-file/start-ceph.ts → ceph/ceph-commands.ts',
  'simulator/cluster-file/start-ceph.ts → ceph/observe-status.ts',
  'simulator/cluster-file/start-machines.ts → capabilities/fencing/domain/budget-name.ts',
  'simulator/cluster-file/start-machines.ts → deploy/access-manifests.ts',
  'simulator/cluster-file/start-machines.ts → operator/controller-names.ts',
  'simulator/world/ceph/answers/crush.ts → safety/crush-types.ts',
  'simulator/world/ceph/answers/health.ts → safety/crush-types.ts',
  'simulator/world/ceph/answers/ok-to-stop.ts → safety/ceph-map.ts',
  'simulator/world/ceph/answers/ok-to-upgrade.ts → safety/ceph-map.ts',
  'simulator/world/ceph/answers/pg-listing.ts → safety/ceph-map.ts',
  'simulator/world/ceph/command-answers.ts → ceph/ceph-commands.ts',
  'simulator/world/ceph/crush-tree.ts → safety/crush-types.ts',
  'simulator/world/ceph/pg-reports.ts → safety/ceph-map.ts',
  'simulator/world/ceph/place-shards.ts → safety/ceph-map.ts',
  'simulator/world/ceph/placement-group.ts → safety/ceph-map.ts',
  'simulator/world/ceph/rook/osd-prepare.ts → capabilities/osd-update/domain/prepare-status.ts',
  'simulator/world/ceph/simulated-ceph.ts → ceph/ceph-commands.ts',
  'simulator/world/ceph/toolbox-program.ts → ceph/ceph-commands.ts',
  'simulator/world/machines/health-check-decision.ts → ledger/rules/app-lock.ts',
  'simulator/world/machines/sick-nodes.ts → ledger/rules/app-lock.ts',
]

/** Files and capabilities that still import each other in a circle. */
export const owedCycles = {
  capabilities: [],
  files: [
    [
      'kubernetes/client/kubeconfig-connection.ts',
      'kubernetes/client/kubeconfig-user.ts',
      'kubernetes/client/kubeconfig.ts',
    ],
    ['simulator/cluster-file/check-ceph.ts', 'simulator/cluster-file/describe-ceph.ts'],
    ['simulator/world/longhorn/data-plane.ts', 'simulator/world/longhorn/rebuild.ts'],
  ],
}
