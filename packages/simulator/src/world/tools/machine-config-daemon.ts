import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { machineConfigAnnotations } from '@cofferdam/kubernetes/api/kinds/machine-config.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { type ActorPorts, openTools, type RestartedActor } from '../actor.ts'
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
  configOf: (node: Node) => string | undefined,
): RestartedActor {
  const tools = openTools('machine-config-daemon', ports)
  const view = tools.views.of(nodes)
  const queue = tools.queue({ needs: [view], work: sync, concurrency: 16 })
  /** What a daemon has on the disk of its node: the boot that it left, while it reboots for an update. */
  const left = new Map<string, string>()
  /** The configuration that a node has on its disk, whatever its object says. */
  const onDisk = new Map<string, string>()
  const askedMs = new Map<string, number>()

  async function sync(name: string): Promise<void> {
    if (view.get(name) === undefined) return
    // From the server: in the moment in which etcd was restored, what a view has is of a cluster that is no more.
    const node = await tools.api.get(nodes, { name }).catch((error: unknown) => {
      if (!hasReason(error, 'NotFound')) throw error
    })
    if (node === undefined) return
    if (annotationOf(node, 'currentConfig') === '') return register(node)
    const config = annotationOf(node, 'desiredConfig')
    const isDone = config === annotationOf(node, 'currentConfig') && annotationOf(node, 'state') === 'Done'
    if (config === '' || isDone) return
    // A daemon that was started again finds the configuration on the disk, and has booted into it.
    const before = left.get(name) ?? (onDisk.get(name) === config ? '' : undefined)
    if (before !== undefined) return finish(node, config, before)
    if (annotationOf(node, 'state') === 'Done') {
      await annotate(name, { state: 'Working' })
      return queue.addAfter(name, prepareMs)
    }
    if (isRebootless(config)) {
      onDisk.set(name, config)
      return annotate(name, { state: 'Done', currentConfig: config, desiredDrain: `uncordon-${config}` })
    }
    const wish = `drain-${config}`
    if (annotationOf(node, 'lastAppliedDrain') === wish) return reboot(node)
    if (annotationOf(node, 'desiredDrain') !== wish) await annotate(name, { desiredDrain: wish })
    await wait(node)
  }

  /** A node that has registered anew, or for the first time, with the configuration that its machine was given. */
  async function register(node: Node): Promise<void> {
    const { name } = node.metadata
    const config = onDisk.get(name) ?? configOf(node)
    left.delete(name)
    if (config !== undefined) await annotate(name, { currentConfig: config, desiredConfig: config, state: 'Done' })
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
    onDisk.set(name, annotationOf(node, 'desiredConfig'))
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
      const current = after === undefined ? '' : annotationOf(after, 'currentConfig')
      if (current !== '' && !onDisk.has(key)) onDisk.set(key, current)
      const isNew =
        after !== undefined &&
        before?.metadata.annotations?.[machineConfigAnnotations.desiredConfig] !== annotationOf(after, 'desiredConfig')
      if (isNew) queue.add(key)
    }),
  )
  return {
    stop: tools.stop,
    restart() {
      left.clear()
      for (const { metadata } of view.values()) queue.addAfter(metadata.name, pollMs)
    },
  }
}

function bootOf({ status }: Node): string {
  return status?.nodeInfo?.bootID ?? ''
}
