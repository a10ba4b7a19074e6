import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { scaledValue } from '@cofferdam/kubernetes/api/int-or-string.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { type NodeHealthCheck, nodeHealthChecks } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { excludedFromRemediation } from '@cofferdam/kubernetes/api/kinds/node-maintenance.ts'
import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { openTools, writeStatus } from '../actor.ts'
import type { Remediator, RemediatorPorts } from './budget-health-check.ts'
import { freeNodeLease, nodeLeaseSeconds, takeNodeLease } from './node-lease.ts'
import type { Remediation } from './remedy.ts'
import { isOtherHealth, parseSicknesses, sickAtMs } from './sick-nodes.ts'

export interface NodeHealthCheckOptions {
  readonly isListening?: boolean
}

type Status = NonNullable<NodeHealthCheck['status']>
type UnhealthyNode = NonNullable<Status['unhealthyNodes']>[number]

const leaseRetryMs = 60_000

/** The health checks of medik8s: all NodeHealthCheck objects there are. A sick node has its power cycled. */
export function createNodeHealthCheck(ports: RemediatorPorts, options: NodeHealthCheckOptions = {}): Remediator {
  const tools = openTools('node-healthcheck-operator', ports)
  const checkView = tools.views.of(nodeHealthChecks)
  const nodeView = tools.views.of(nodes)
  const queue = tools.queue({ needs: [checkView, nodeView], work: reconcile, concurrency: 1 })
  const done: Remediation[] = []
  /** Begun and not over, by `check/node`: the status that shows it may be written late. */
  const begun = new Map<string, UnhealthyNode>()
  let isListening = options.isListening ?? true

  async function reconcile(name: string): Promise<void> {
    const check = checkView.get(name)
    if (!isListening || check === undefined) return
    const now = tools.clock.now()
    const sicknesses = parseSicknesses(check.spec?.unhealthyConditions)
    const observed = selected(check)
    const due = new Map(observed.map((node) => [node, sickAtMs(node, sicknesses)]))
    for (const at of due.values()) if (at !== undefined && at > now) queue.addAfter(name, at - now)
    const sick = observed.filter((node) => (due.get(node) ?? Number.POSITIVE_INFINITY) <= now)
    const healthyNodes = observed.length - sick.length
    const isPaused = (check.spec?.pauseRequests ?? []).length > 0
    const mayBegin = !isPaused && healthyNodes >= leastHealthy(check, observed.length)
    if (sick.length > 0 && !isPaused && !mayBegin) {
      const text = `Skipped remediation because the number of healthy nodes selected by the selector is ${healthyNodes}`
      tools.recorder.record(check, 'Warning', 'RemediationSkipped', text)
    }
    const unhealthyNodes: UnhealthyNode[] = []
    for (const node of sick) unhealthyNodes.push(await mend(check, node, mayBegin))
    await release(check, new Set(sick.map(({ metadata }) => metadata.name)))
    const isBusy = unhealthyNodes.some(({ remediations = [] }) => remediations.length > 0)
    const status: Status = {
      phase: isPaused ? 'Paused' : isBusy ? 'Remediating' : 'Enabled',
      observedNodes: observed.length,
      healthyNodes,
      unhealthyNodes,
    }
    if (!isSameJson(status, check.status ?? {})) await writeStatus(tools, nodeHealthChecks, check, status)
  }

  function selected({ spec }: NodeHealthCheck): Node[] {
    const selector = spec?.selector
    if (selector === undefined) return []
    return [...nodeView.values()]
      .filter(
        ({ metadata: { labels = {} } }) => isSelected(selector, labels) && labels[excludedFromRemediation] !== 'true',
      )
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  }

  /** Goes on with what was begun, begins what may begin. One that was begun stays until the node is well. */
  async function mend(check: NodeHealthCheck, node: Node, mayBegin: boolean): Promise<UnhealthyNode> {
    const { name } = node.metadata
    const key = `${check.metadata.name}/${name}`
    const underWay = begun.get(key) ?? recordOf(check).find((one) => one.name === name)
    if (underWay !== undefined) {
      await takeNodeLease(tools, node, holderOf(check))
      queue.addAfter(check.metadata.name, (nodeLeaseSeconds * 1_000) / 2)
      return underWay
    }
    if (!mayBegin) return { name }
    if (!(await takeNodeLease(tools, node, holderOf(check)))) {
      queue.addAfter(check.metadata.name, leaseRetryMs)
      return { name }
    }
    queue.addAfter(check.metadata.name, (nodeLeaseSeconds * 1_000) / 2)
    done.push({ node: name, atMs: tools.clock.now() })
    ports.powerCycle(name)
    tools.recorder.record(check, 'Normal', 'RemediationCreated', `Created remediation object for node ${name}`)
    const started = { name, remediations: [{ started: timestamp(tools.clock) }] }
    begun.set(key, started)
    return started
  }

  async function release(check: NodeHealthCheck, sick: ReadonlySet<string>): Promise<void> {
    const prefix = `${check.metadata.name}/`
    const fresh = [...begun.keys()].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length))
    for (const name of new Set([...fresh, ...recordOf(check).map((one) => one.name)])) {
      if (sick.has(name)) continue
      await freeNodeLease(tools, name, holderOf(check))
      begun.delete(`${prefix}${name}`)
    }
  }

  function enqueueAll(): void {
    for (const { metadata } of checkView.values()) queue.add(metadata.name)
  }

  tools.onStop(checkView.subscribe(({ key, after }) => (after === undefined ? undefined : queue.add(key))))
  tools.onStop(
    nodeView.subscribe(({ before, after }) => {
      if (isOtherHealth(before, after)) enqueueAll()
    }),
  )
  return {
    stop: tools.stop,
    controls: {
      remediated: () => [...done],
      setListening(on) {
        isListening = on
        enqueueAll()
      },
    },
  }
}

function recordOf({ status }: NodeHealthCheck): UnhealthyNode[] {
  return (status?.unhealthyNodes ?? []).filter(({ remediations = [] }) => remediations.length > 0)
}

function holderOf({ metadata }: NodeHealthCheck): string {
  return `NodeHealthCheck-${metadata.name}`
}

/** `minHealthy`, or what `maxUnhealthy` leaves. A limit that makes no sense allows nothing. */
function leastHealthy({ spec }: NodeHealthCheck, observed: number): number {
  const { minHealthy = '51%', maxUnhealthy } = spec ?? {}
  try {
    if (maxUnhealthy !== undefined) return observed - scaledValue(maxUnhealthy, observed, 'down')
    return scaledValue(minHealthy, observed, 'up')
  } catch (error) {
    if (error instanceof RangeError) return Number.POSITIVE_INFINITY
    throw error
  }
}
