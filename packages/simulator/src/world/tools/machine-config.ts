import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { scaledValue } from '@cofferdam/kubernetes/api/int-or-string.ts'
import {
  machineConfigAnnotations as annotations,
  type MachineConfigPool,
  machineConfigPools,
} from '@cofferdam/kubernetes/api/kinds/machine-config.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { type ActorPorts, openTools, type RestartedActor } from '../actor.ts'
import { annotationOf } from './annotation-of.ts'
import { type ConfigDaemonOptions, type ConfigDaemonPorts, startConfigDaemons } from './machine-config-daemon.ts'
import { startConfigDrains } from './machine-config-drain.ts'

const delayMs = 5_000

/**
 * OpenShift's Machine Config Operator: chooses nodes of a pool, as many as may be unavailable, and their daemons ask for a drain, reboot
 * and give the node back. A pool that is paused chooses none; nodes that were chosen go on.
 */
export function createMachineConfigOperator(
  ports: ActorPorts & ConfigDaemonPorts,
  options: ConfigDaemonOptions = {},
): RestartedActor {
  const tools = openTools('machine-config-controller', ports)
  const poolView = tools.views.of(machineConfigPools)
  const nodeView = tools.views.of(nodes)
  const queue = tools.queue({ needs: [poolView, nodeView], work: syncPool, concurrency: 1 })

  async function syncPool(name: string): Promise<void> {
    const pool = poolView.get(name)
    const config = pool?.spec?.configuration?.name
    if (pool === undefined || config === undefined || pool.spec?.paused === true) return
    const members = [...nodeView.values()].filter((node) => poolOf(node) === name)
    const most = Math.max(1, scaledValue(pool.spec?.maxUnavailable ?? 1, members.length, 'down'))
    const unavailable = members.filter((node) => !isOpen(node) || !isDone(node)).length
    const candidates = members.filter((node) => annotationOf(node, 'desiredConfig') !== config && isOpen(node))
    for (const { metadata } of candidates.sort(byZoneAndAge).slice(0, Math.max(0, most - unavailable))) {
      const body = { metadata: { annotations: { [annotations.desiredConfig]: config } } }
      await tools.api.patch(nodes, { name: metadata.name }, { type: 'merge', body })
      tools.recorder.record(pool, 'Normal', 'SetDesiredConfig', `Targeted node ${metadata.name} to ${config}`)
    }
  }

  function poolOf({ metadata: { labels = {} } }: Node): string | undefined {
    const selecting = [...poolView.values()].filter(({ spec }) => selects(spec?.nodeSelector, labels))
    const names = selecting.map(({ metadata }) => metadata.name)
    const [own, ...more] = names.filter((name) => name !== 'master' && name !== 'worker')
    if (more.length > 0) return undefined
    return names.includes('master') ? 'master' : (own ?? names[0])
  }

  const configOf = (node: Node) => poolView.get(poolOf(node) ?? '')?.spec?.configuration?.name

  function enqueueAll(): void {
    for (const { metadata } of poolView.values()) queue.addAfter(metadata.name, delayMs)
  }

  tools.onStop(poolView.subscribe(enqueueAll))
  tools.onStop(nodeView.subscribe(enqueueAll))
  const drains = startConfigDrains(ports)
  const daemons = startConfigDaemons(ports, options, configOf)
  return {
    restart() {
      drains.restart()
      daemons.restart()
      enqueueAll()
    },
    stop() {
      drains.stop()
      daemons.stop()
      tools.stop()
    },
  }
}

function selects(
  selector: NonNullable<MachineConfigPool['spec']>['nodeSelector'],
  labels: Readonly<Record<string, string>>,
): boolean {
  return selector !== undefined && isSelected(selector, labels)
}

function isOpen(node: Node): boolean {
  return conditionOf(node, 'Ready')?.status === 'True' && node.spec?.unschedulable !== true
}

function isDone(node: Node): boolean {
  return (
    annotationOf(node, 'currentConfig') === annotationOf(node, 'desiredConfig') &&
    annotationOf(node, 'state') === 'Done'
  )
}

const zoneLabel = 'topology.kubernetes.io/zone'

function byZoneAndAge(one: Node, other: Node): number {
  const orderOf = ({ metadata: { labels, creationTimestamp = '', name } }: Node) =>
    `${labels?.[zoneLabel] ?? '~'} ${creationTimestamp} ${name}`
  return orderOf(one) < orderOf(other) ? -1 : 1
}
