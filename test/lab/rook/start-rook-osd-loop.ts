import type { Lab } from '../lab.ts'
import { findRook } from '../parts/find-rook.ts'
import { type RookPass, readRookPasses } from './read-rook-passes.ts'
import { startRook } from './rook-access.ts'

/** Of an OSD's Deployment: Rook leaves it as it is. Read once, at the beginning of a pass. */
export const doNotReconcileLabel = 'ceph.rook.io/do-not-reconcile'

export interface RookOsdLoop {
  /** Those that have begun, the last of which may be under way. */
  passes(): readonly RookPass[]
  isRunning(): boolean
  /** Begins the next pass as an administrator can: by a change of the ConfigMap that holds his own settings of Ceph. */
  triggerPass(): Promise<void>
  /** Rook does not end while it waits for a rollout: it is killed. */
  stop(): Promise<void>
}

/** Starts Rook's OSD loop, whose first pass begins at once. It ends with the lab's process. */
export async function startRookOsdLoop(lab: Lab): Promise<RookOsdLoop> {
  const { namespace, journal, ceph } = lab
  const { osdLoop, version } = await findRook((line) => journal.tell('rook', line))
  // Rook's manifests bring it, and pods of OSDs run as it.
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'rook-ceph-osd', namespace } }
  await lab.kubectlWith(JSON.stringify(account), 'apply', '-f', '-')
  const { out } = await ceph.commands.run({ prefix: 'status', format: 'json' })
  const { fsid } = JSON.parse(out) as { readonly fsid: string }
  const reader = readRookPasses()
  const daemon = await startRook(lab, {
    name: 'rook-osd-loop',
    program: osdLoop,
    args: [
      '--rook-image',
      `registry.example/rook/ceph:v${version}`,
      '--ceph-version',
      `ceph version ${ceph.version} (lab) stable`,
    ],
    environment: { CEPH_FSID: fsid },
    onLine: reader.line,
  })
  let triggers = 0
  return {
    passes: reader.passes,
    isRunning: daemon.isRunning,
    async triggerPass() {
      triggers += 1
      const note = `lab.cofferdam.io/trigger=${triggers}`
      await lab.kubectl('annotate', 'configmap', 'rook-config-override', '-n', namespace, note, '--overwrite')
    },
    stop: () => daemon.stop({ graceMs: 0 }),
  }
}
