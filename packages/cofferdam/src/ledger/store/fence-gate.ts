import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { FenceGateState } from '../../shared/fence-gate-state.ts'
import type { Observed } from '../../shared/observed.ts'

export interface FenceGate {
  /** As the server has it now. A fence in the same failure domain is in nobody's way. */
  observe(cluster: CephCluster, domain: string, signal: AbortSignal): Promise<Observed<FenceGateState>>
  /** The same, when it is not open any more, or when it stays open for too long. */
  whenClosed(cluster: CephCluster, domain: string, signal: AbortSignal): Promise<Observed<FenceGateState>>
}
