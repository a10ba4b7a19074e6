import type { LonghornReplica, LonghornSetting } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { parseDrainSettings } from '../../capabilities/longhorn-drain/domain/drain-settings.ts'
import { known } from '../../shared/observed.ts'
import type { Choice, Suggestion } from './suggestion.ts'

export interface LonghornObjects {
  readonly namespace: string
  readonly settings: readonly LonghornSetting[]
  readonly replicas: readonly LonghornReplica[]
}

/** A drain that moves replicas, or one that the only copy of a volume keeps waiting; nothing where neither can be seen. */
export function suggestLonghorn(
  { namespace, settings, replicas }: LonghornObjects,
  { isFree, calledAs }: Choice,
): Suggestion[] {
  const { policy, trigger } = parseDrainSettings(settings, { budgets: [], manager: known(undefined), nowMs: 0 })
  if (!policy.known || policy.value === 'always-allow') return []
  const last = lastCopies(replicas)
    .map(({ spec = {} }) => ({ volume: spec.volumeName ?? '', node: spec.nodeID ?? '' }))
    .filter(({ node }) => isFree(node))
    .sort((a, b) => (a.volume < b.volume ? -1 : 1))[0]
  if (last === undefined) return []
  const { node, volume } = last
  const explain = `${calledAs} explain node/${node}`
  const uncordon = `kubectl uncordon ${node}`
  if (!policy.value.startsWith('block-for-eviction')) {
    const says = `Drain a node and be refused: it has the only copy of Longhorn's volume ${volume}, and the drain gives up`
    return [{ says, lines: [`kubectl drain ${node} --ignore-daemonsets --timeout=20s`, explain, uncordon] }]
  }
  const drain = `kubectl drain ${node} --ignore-daemonsets`
  const showReplicas = `kubectl -n ${namespace} get replicas.longhorn.io`
  const says = `Drain a node with the only copy of Longhorn's volume ${volume}: it moves first, and the drain ends after that`
  const lines = trigger === 'cordon' ? [`kubectl cordon ${node}`, explain, drain, showReplicas] : [drain, showReplicas]
  return [{ says, lines: [...lines, uncordon] }]
}

function lastCopies(replicas: readonly LonghornReplica[]): LonghornReplica[] {
  const counts = new Map<string, number>()
  for (const { spec } of replicas) counts.set(spec?.volumeName ?? '', (counts.get(spec?.volumeName ?? '') ?? 0) + 1)
  return replicas.filter(({ spec }) => counts.get(spec?.volumeName ?? '') === 1)
}
