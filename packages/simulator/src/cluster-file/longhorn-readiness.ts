import type {
  LonghornInstanceManager,
  LonghornReplica,
  LonghornVolume,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { LonghornClusterDescription } from './describe-longhorn.ts'

/** What a Longhorn still lacks after its workloads are up: instance managers, whole volumes in their places, and budgets. */
export function judgeLonghornReadiness(
  longhorn: Pick<LonghornClusterDescription, 'nodes' | 'volumes' | 'settings'>,
  seen: {
    readonly managers: readonly LonghornInstanceManager[]
    readonly volumes: readonly LonghornVolume[]
    readonly replicas: readonly LonghornReplica[]
    readonly budgets: readonly PodDisruptionBudget[]
  },
): string[] {
  const running = seen.managers.filter(({ status }) => status?.currentState === 'running')
  if (running.length < longhorn.nodes.length) {
    return [`Longhorn's instance managers (${running.length} of ${longhorn.nodes.length} running)`]
  }
  const unsettled = longhorn.volumes.flatMap((wanted) => {
    const volume = seen.volumes.find(({ metadata }) => metadata.name === wanted.name)
    const healthy = seen.replicas.filter(({ spec }) => spec?.volumeName === wanted.name && isHealthy(spec)).length
    const isAttached = wanted.claim !== undefined || wanted.attachedTo !== undefined
    const { state = 'unknown', robustness, conditions = [] } = volume?.status ?? {}
    if (healthy < wanted.replicas) {
      const why = conditions.find(({ type, status }) => type === 'Scheduled' && status === 'False')?.message
      const because = why === undefined ? '' : `: ${why}`
      return [`replicas of volume ${wanted.name} (${healthy} of ${wanted.replicas}${because})`]
    }
    if (state !== (isAttached ? 'attached' : 'detached')) return [`volume ${wanted.name} (${state})`]
    return isAttached && robustness !== 'healthy' ? [`volume ${wanted.name} (${robustness})`] : []
  })
  // With autoscaling there are budgets only where they protect something.
  const isThinned = longhorn.settings['kubernetes-cluster-autoscaler-enabled'] === 'true'
  const guarded = new Set(seen.budgets.map(({ metadata }) => metadata.name))
  const unguarded = isThinned ? [] : running.filter(({ metadata }) => !guarded.has(metadata.name))
  return [...unsettled, ...(unguarded.length === 0 ? [] : [`budgets of Longhorn (${unguarded.length} to come)`])]
}

function isHealthy({ healthyAt = '', failedAt = '' }: NonNullable<LonghornReplica['spec']> = {}): boolean {
  return healthyAt !== '' && failedAt === ''
}
