/** Kinds that controllers write and that nothing has to be taken off, by `resource.group`, with the reason. */
export const withoutTrace: Readonly<Record<string, string>> = {
  'events.': 'the API server deletes them after an hour',
  'pods.': 'they are only deleted, and their owners create them again',
  'replicas.longhorn.io': 'they are only deleted, when a volume has more than it wants',
  'persistentvolumeclaims.': 'an OSD that was added keeps its data there',
}

/**
 * Labels and annotations that administrators and owners write themselves. They say what Cofferdam is to do, and nothing once it is
 * gone; they stay where they were written, since they may come from a template or a repository.
 */
export const administratorKeys: Readonly<Record<string, string>> = {
  'cofferdam.io/break-glass': 'a request that takes locks; goes with the request',
  'cofferdam.io/away-since': 'a note on a request; goes with the request',
  'cofferdam.io/disks': 'node: another value has its disks inspected again',
  'cofferdam.io/drain-before-delete': 'Machine: drain its node before it is deleted',
  'cofferdam.io/failure-domain': 'CephCluster: the failure domain',
  'cofferdam.io/guard-trial': 'an eviction that is only tried; stored nowhere',
  'cofferdam.io/ignore-pools': 'CephCluster: pools that do not count',
  'cofferdam.io/manage-lock': "kured's DaemonSet: Cofferdam may hold its lock",
  'cofferdam.io/manage-pause': 'MachineConfigPool: Cofferdam may pause it',
  'cofferdam.io/max-domains': 'CephCluster: how many failure domains may be down',
  'cofferdam.io/node-drain-policy': 'Longhorn volume: a policy of its own',
  'cofferdam.io/pace-again': 'CephCluster: Rook reconciles every OSD again',
  'cofferdam.io/prepare-again': 'CephCluster: all disks are inspected again',
  'cofferdam.io/reboot-policy': 'setting node-drain-policy: the policy for reboots',
  'cofferdam.io/restart-osds': 'CephCluster: restart OSDs that are older than this',
  'cofferdam.io/restarted-at': 'pods of an OSD: taken off, it would restart them',
  'cofferdam.io/rook-fence-labels': "CephCluster: also write Rook's older labels",
  'cofferdam.io/rook-image': 'CephCluster: of an earlier version, without effect',
  'cofferdam.io/shutdown-grace-seconds': 'node: how long its pods may take to end',
  'cofferdam.io/skip-drain': 'pod: stays on its node during a reboot',
  'cofferdam.io/surplus': 'setting node-drain-policy: what becomes of surplus copies',
  'cofferdam.io/trigger': 'setting node-drain-policy: when a drain begins',
  'cofferdam.io/update-canary': 'CephCluster: settings of OSD updates',
  'cofferdam.io/update-ceph-version': 'CephCluster: settings of OSD updates',
  'cofferdam.io/update-deadline-seconds': 'CephCluster: settings of OSD updates',
  'cofferdam.io/update-max-in-parallel': 'CephCluster: settings of OSD updates',
  'cofferdam.io/update-mons-first': 'CephCluster: settings of OSD updates',
  'cofferdam.io/update-order': 'CephCluster: settings of OSD updates',
  'cofferdam.io/update-pace': 'CephCluster: settings of OSD updates',
  'cofferdam.io/update-reserve': 'CephCluster: settings of OSD updates',
  'cofferdam.io/update-soak-seconds': 'CephCluster: settings of OSD updates',
  'cofferdam.io/update-strategy': 'CephCluster: settings of OSD updates',
  'cofferdam.io/wanted-policy': 'setting node-drain-policy: the policy while a node is drained',
}
