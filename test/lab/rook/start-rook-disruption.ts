import type { Lab } from '../lab.ts'
import { findRook } from '../parts/find-rook.ts'
import type { Daemon } from '../processes/daemon.ts'
import { startRook } from './rook-access.ts'

/** Rook's cluster controller makes these, which is not there; without them two drains take the quorum. */
const ofClusterController = ['mon', 'mgr'].map((daemon) => ({
  name: `rook-ceph-${daemon}-pdb`,
  spec: { maxUnavailable: 1, selector: { matchLabels: { app: `rook-ceph-${daemon}` } } },
}))

/**
 * Starts Rook's disruption controller, and resolves when all OSDs have its default budget.
 *
 * Assumes: nobody else has budgets for OSDs yet, or whoever has them hands them over.
 */
export async function startRookDisruption(lab: Lab): Promise<Daemon> {
  const { namespace, journal } = lab
  const { disruption } = await findRook((line) => journal.tell('rook', line))
  const items = ofClusterController.map(({ name, spec }) => ({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace },
    spec,
  }))
  await lab.kubectlWith(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }), 'apply', '-f', '-')
  const daemon = await startRook(lab, { name: 'rook-disruption', program: disruption })
  await lab.until(
    "Rook's default budget is there",
    () => {
      if (!daemon.isRunning()) throw new Error(`Rook's disruption controller ended; see ${daemon.logFile}`)
      return lab.osdBudgets().includes('rook-ceph-osd')
    },
    120,
  )
  return daemon
}
