import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { ActorTools } from '../actor.ts'
import type { Kubelet } from '../nodes/kubelet.ts'

export type PowerSwitch = Pick<Kubelet, 'powerOff' | 'powerOn' | 'setReady'>

/** A node whose annotation keeps it off: whoever presses the button takes it away. */
const powerWish = 'cofferdam.io/power'

/** Cuts the power now and restores it after a while: whatever ailed the machine is over, and it has booted anew. */
export function powerCycle(
  tools: ActorTools,
  kubelet: PowerSwitch,
  {
    node,
    downSeconds,
    isKept,
  }: { readonly node: string; readonly downSeconds: number; readonly isKept: () => boolean },
): void {
  if (!cutPower(kubelet, node)) return
  tools.onStop(
    tools.clock.after(downSeconds * 1_000, () => {
      if (isKept()) boot(tools, kubelet, node).catch((error: unknown) => tools.fail(node, error))
    }),
  )
}

/** False where there is no such machine. */
export function cutPower(kubelet: PowerSwitch, node: string): boolean {
  try {
    kubelet.powerOff(node)
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

async function boot(tools: ActorTools, kubelet: PowerSwitch, node: string): Promise<void> {
  const view = tools.views.of(nodes)
  try {
    if (view.get(node)?.metadata.annotations?.[powerWish] !== undefined) {
      const body = { metadata: { annotations: { [powerWish]: null } } }
      view.record(await tools.api.patch(nodes, { name: node }, { type: 'merge', body }))
    }
    kubelet.powerOn(node)
    kubelet.setReady(node, true)
  } catch (error) {
    // The machine was taken away while it was down.
    if (!(error instanceof RangeError) && !hasReason(error, 'NotFound')) throw error
  }
}
