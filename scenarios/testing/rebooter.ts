import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type NodeDisruption, nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import type { World } from '@cofferdam/simulator/world/start-world.ts'

export interface RebooterPorts {
  readonly world: World
  readonly clock: Clock
  readonly tell: (line: string) => void
}

/** What a node's own agent does: it reads on record that the node may go, and a moment later takes it down, once. */
export function startRebooter(
  { world, clock, tell }: RebooterPorts,
  downSeconds: number,
  isOurs: (request: NodeDisruption) => boolean = () => true,
): () => void {
  const begun = new Set<string>()
  const requests = world.views.of(nodeDisruptions)
  return requests.subscribe(({ key, after }) => {
    const uid = after?.metadata.uid ?? ''
    if (after?.status?.phase !== 'Drained' || after.spec.intent !== 'Reboot' || begun.has(uid)) return
    if (!isOurs(after)) return
    begun.add(uid)
    clock.after(1_000, () => {
      if (requests.get(key)?.status?.phase !== 'Drained') return void begun.delete(uid)
      const { nodeName } = after.spec
      // It runs on that node: a machine that is down goes down once.
      if (!world.kubelet.isOn(nodeName)) return
      tell(`the machine of ${nodeName} goes down for ${downSeconds} s`)
      world.kubelet.reboot(nodeName, downSeconds)
    })
  })
}
