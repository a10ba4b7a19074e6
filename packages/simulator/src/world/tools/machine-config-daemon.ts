import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { machineConfigAnnotations } from '@cofferdam/kubernetes/api/kinds/machine-config.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { type Actor, type ActorPorts, openTools } from '../actor.ts'
import type { Kubelet } from '../nodes/kubelet.ts'
import { annotationOf, type ConfigAnnotation } from './annotation-of.ts'

export interface ConfigDaemonPorts {
  readonly kubelet: Pick<Kubelet, 'reboot'>
}

export interface ConfigDaemonOptions {
  readonly rebootSeconds?: number
  /** Configurations that a node disruption policy lets be applied without a drain and without a reboot. */
  readonly isRebootless?: (config: string) => boolean
}

const pollMs = 10_000
const prepareMs = 5_000
const patienceMs = 3_600_000

/** The daemons of all nodes: each brings its node to the configuration that was chosen for it. */
export function startConfigDaemons(
  ports: ActorPorts & ConfigDaemonPorts,
  { rebootSeconds = 60, isRebootless = () => false }: ConfigDaemonOptions,
): Actor {
  const tools = openTools('machine-config-daemon', ports)
  const view = tools.views.of(nodes)
  const queue = tools.queue({ needs: [view], work: sync, concurrency: 16 })
  /** What a daemon has on the disk of its node: the boot that it left, while it reboots for an update. */
  const left = new Map<string, string>()
  const askedMs = new Map<string, number>()

  async function sync(name: string): Promise<void> {
    const node = view.get(name)
    if (node === undefined) return
    const config = annotationOf(node, 'desiredConfig')
    const isDone = config === annotationOf(node, 'currentConfig') && annotationOf(node, 'state') === 'Done'
    if (config === '' || isDone) return
    const before = left.get(name)
    if (before !== undefined) return finish(node, config, before)
    if (annotationOf(node, 'state') === 'Done') {
      await annotate(name, { state: 'Working' })
      return queue.addAfter(name, prepareMs)
    }
    if (isRebootless(config))
      return annotate(name, { state: 'Done', currentConfig: config, desiredDrain: `uncordon-${config}` })
    const wish = `drain-${config}`
    if (annotationOf(node, 'lastAppliedDrain') === wish) return reboot(node)
    if (annotationOf(node, 'desiredDrain') !== wish) await annotate(name, { desiredDrain: wish })
    await wait(node)
  }

  async function wait(node: Node): Promise<void> {
    const { name } = node.metadata
    const sinceMs = askedMs.get(name) ?? tools.clock.now()
    askedMs.set(name, sinceMs)
    queue.addAfter(name, pollMs)
    if (tools.clock.now() - sinceMs < patienceMs) return
    askedMs.delete(name)
    const text = `failed to drain node: ${name} after 1 hour. Please see machine-config-controller logs for more information`
    tools.recorder.record(node, 'Warning', 'FailedToDrain', text)
    await annotate(name, { state: 'Degraded' })
  }

  async function reboot(node: Node): Promise<void> {
    const { name } = node.metadata
    askedMs.delete(name)
    left.set(name, bootOf(node))
    await annotate(name, { postConfigAction: 'Rebooting' })
    ports.kubelet.reboot(name, rebootSeconds)
    queue.addAfter(name, pollMs)
  }

  /** After the boot: the node is given back by the drain controller, and only then the update is done. */
  async function finish(node: Node, config: string, before: string): Promise<void> {
    const { name } = node.metadata
    const wish = `uncordon-${config}`
    const isBack = bootOf(node) !== before && conditionOf(node, 'Ready')?.status === 'True'
    if (isBack && annotationOf(node, 'lastAppliedDrain') === wish) {
      left.delete(name)
      return annotate(name, { state: 'Done', currentConfig: config, postConfigAction: '' })
    }
    if (isBack && annotationOf(node, 'desiredDrain') !== wish) await annotate(name, { desiredDrain: wish })
    queue.addAfter(name, pollMs)
  }

  async function annotate(name: string, changes: Partial<Record<ConfigAnnotation, string>>): Promise<void> {
    const annotations = Object.fromEntries(
      Object.entries(changes).map(([short, value]) => [machineConfigAnnotations[short as ConfigAnnotation], value]),
    )
    await tools.api.patch(nodes, { name }, { type: 'merge', body: { metadata: { annotations } } })
  }

  tools.onStop(
    view.subscribe(({ key, before, after }) => {
      const isNew =
        after !== undefined &&
        before?.metadata.annotations?.[machineConfigAnnotations.desiredConfig] !== annotationOf(after, 'desiredConfig')
      if (isNew) queue.add(key)
    }),
  )
  return { stop: tools.stop }
}

function bootOf({ status }: Node): string {
  return status?.nodeInfo?.bootID ?? ''
}
