import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { machineConfigAnnotations } from '@cofferdam/kubernetes/api/kinds/machine-config.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { type ActorPorts, openTools, type RestartedActor } from '../actor.ts'
import { annotationOf } from './annotation-of.ts'
import { runNodeDrain, setCordon } from './kubectl-drain.ts'

const delayMs = 5_000
const drainMs = 90_000
const retryMs = 60_000
const slowAfterMs = 600_000
const slowRetryMs = 300_000
const complainAfterMs = 3_600_000
const workers = 5

/** The drain controller: does what daemons ask for by annotation, and notes the last that it did. It never gives up. */
export function startConfigDrains(ports: ActorPorts): RestartedActor {
  const tools = openTools('machine-config-drain', ports)
  const { api, clock } = tools
  const view = tools.views.of(nodes)
  const queue = tools.queue({ needs: [view], work: sync, concurrency: workers })
  const begun = new Map<string, number>()

  async function sync(name: string): Promise<void> {
    const node = view.get(name)
    if (node === undefined) return
    const wish = annotationOf(node, 'desiredDrain')
    if (wish === annotationOf(node, 'lastAppliedDrain')) return
    if (wish.startsWith('uncordon-')) await setCordon(tools, name, false)
    else if (!wish.startsWith('drain-') || !(await drain(node))) return
    const body = { metadata: { annotations: { [machineConfigAnnotations.lastAppliedDrain]: wish } } }
    await api.patch(nodes, { name }, { type: 'merge', body })
  }

  /** False: it is tried again later. */
  async function drain(node: Node): Promise<boolean> {
    const { name } = node.metadata
    const sinceMs = begun.get(name)
    const lastedMs = sinceMs === undefined ? 0 : clock.now() - sinceMs
    if (lastedMs > complainAfterMs) {
      const text = `node ${name}: drain exceeded timeout: 1h0m0s. Will continue to retry.`
      tools.recorder.record(node, 'Warning', 'DrainFailed', text)
    }
    if (sinceMs === undefined || node.spec?.unschedulable !== true) {
      await setCordon(tools, name, true)
      begun.set(name, clock.now())
    }
    if ((await runNodeDrain(tools, name, { timeoutMs: drainMs })) !== undefined) {
      queue.addAfter(name, lastedMs > slowAfterMs ? slowRetryMs : retryMs)
      return false
    }
    begun.delete(name)
    // Somebody uncordoned it meanwhile: pods may have come, and the change brings another turn.
    return (await api.get(nodes, { name })).spec?.unschedulable === true
  }

  tools.onStop(
    view.subscribe(({ key, before, after }) => {
      if (after === undefined) return
      const isSame =
        before !== undefined &&
        annotationOf(before, 'desiredDrain') === annotationOf(after, 'desiredDrain') &&
        before.spec?.unschedulable === after.spec?.unschedulable
      if (!isSame) queue.addAfter(key, delayMs)
    }),
  )
  return {
    stop: tools.stop,
    restart() {
      begun.clear()
      for (const { metadata } of view.values()) queue.addAfter(metadata.name, delayMs)
    },
  }
}
