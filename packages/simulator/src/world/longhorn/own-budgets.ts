import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import {
  type LonghornInstanceManager,
  type LonghornReplica,
  longhornInstanceManagers,
  longhornReplicas,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { deleteExactly, writeStatus } from '../actor.ts'
import { withCondition } from '../conditions.ts'
import { instanceManagerLabels } from './instance-manager-name.ts'
import type { OwnDrainPorts } from './own-evictions.ts'
import { hasProtectedCopyElsewhere } from './protected-replicas.ts'
import { isSameValue } from './same-value.ts'
import { isSet } from './volume-facts.ts'

/** What Longhorn's controller of instance managers does by itself: a budget for each, until its node may be emptied. */
export function startOwnBudgets(ports: Omit<OwnDrainPorts, 'hasManager'>): void {
  const { tools, namespace, settings } = ports
  const kubeNodes = tools.views.of(nodes)
  const managers = tools.views.of(longhornInstanceManagers)
  const budgets = tools.views.of(podDisruptionBudgets)
  const replicas = tools.views.of(longhornReplicas)
  const managersOn = managers.indexBy('node', ({ spec }) => [spec?.nodeID ?? ''])
  const queue = tools.queue({ needs: [kubeNodes, managers, budgets, replicas], work: reconcile, concurrency: 1 })

  async function reconcile(name: string): Promise<void> {
    await removeOrphans()
    const manager = managers.get(`${namespace}/${name}`)
    if (manager?.status?.currentState !== 'running') return
    const { nodeID = '' } = manager.spec ?? {}
    const node: Node | undefined = kubeNodes.get(nodeID)
    if (node === undefined) return
    const held = budgets.get(`${namespace}/${name}`)
    const isCordoned = node.spec?.unschedulable === true
    await reportNode(manager, isCordoned)
    const isThinned = settings.flag('kubernetes-cluster-autoscaler-enabled')
    if (held !== undefined && (isCordoned || isThinned) && mayGo(nodeID)) {
      await deleteExactly(tools, podDisruptionBudgets, held)
    } else if (held === undefined && !isCordoned && !(isThinned && mayGo(nodeID))) {
      budgets.record(await tools.api.create(podDisruptionBudgets, buildBudget(manager, namespace)))
    }
  }

  async function reportNode(manager: LonghornInstanceManager, isCordoned: boolean): Promise<void> {
    const conditions = withCondition(manager.status?.conditions, {
      type: 'NodeReady',
      ...(isCordoned ? { status: 'False' as const, reason: 'Unschedulable' } : { status: 'True' as const }),
      lastTransitionTime: timestamp(tools.clock),
    })
    const status = { ...manager.status, conditions }
    if (!isSameValue(status, manager.status)) await writeStatus(tools, longhornInstanceManagers, manager, status)
  }

  function mayGo(node: string): boolean {
    const hasEngine = [...managersOn(node)].some(({ status }) => Object.keys(status?.instanceEngines ?? {}).length > 0)
    if (hasEngine) return false
    const policy = settings.text('node-drain-policy')
    if (policy === 'always-allow') return true
    const here = [...replicas.values()].filter(({ metadata }) => metadata.labels?.['longhornnode'] === node)
    if (policy === 'block-for-eviction') return here.length === 0
    const counted = policy === 'allow-if-replica-is-stopped' ? here.filter((replica) => !isStopped(replica)) : here
    return counted.every(({ spec }) => isUnused(spec) || hasProtectedCopyElsewhere(ports, spec?.volumeName ?? '', node))
  }

  async function removeOrphans(): Promise<void> {
    for (const budget of Array.from(budgets.values())) {
      const { name, namespace: place } = budget.metadata
      const component = budget.spec.selector?.matchLabels?.['longhorn.io/component']
      if (place !== namespace || component !== 'instance-manager') continue
      if (managers.get(`${namespace}/${name}`) === undefined) await deleteExactly(tools, podDisruptionBudgets, budget)
    }
  }

  const enqueueManagersOn = (node: string) => {
    for (const { metadata } of managersOn(node)) queue.add(metadata.name)
  }
  tools.onStop(managers.subscribe(({ before, after }) => queue.add((after ?? before)?.metadata.name ?? '')))
  tools.onStop(kubeNodes.subscribe(({ key }) => enqueueManagersOn(key)))
  tools.every(ports.resyncMs, () => {
    for (const { metadata } of managers.values()) queue.add(metadata.name)
  })
}

function isStopped({ spec, status }: LonghornReplica): boolean {
  return spec?.desireState === 'stopped' && status?.currentState === 'stopped'
}

/** Never whole, or just being rebuilt. */
function isUnused(spec: LonghornReplica['spec']): boolean {
  return !isSet(spec?.healthyAt) && !isSet(spec?.failedAt)
}

function buildBudget({ metadata, spec }: LonghornInstanceManager, namespace: string): PodDisruptionBudget {
  const { nodeID: node = '', image = '', dataEngine = 'v1' } = spec ?? {}
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: metadata.name, namespace },
    spec: { minAvailable: 1, selector: { matchLabels: instanceManagerLabels({ node, image, dataEngine }) } },
  }
}
