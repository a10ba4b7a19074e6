import { conditionOf, controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { RebooterPorts } from './rebooter.ts'

/** One machine that was taken down, and the pods of applications that ran on it at that moment. */
export interface TakenDown {
  readonly node: string
  readonly running: readonly string[]
}

export interface ConditionRebooter {
  readonly takenDown: readonly TakenDown[]
  stop(): void
}

/** A tool that knows nothing of requests and trusts the node: it reboots whatever says `Drained=True`, once, a moment later. */
export function startConditionRebooter({ world, clock, tell }: RebooterPorts, downSeconds: number): ConditionRebooter {
  const takenDown: TakenDown[] = []
  const begun = new Set<string>()
  const view = world.views.of(nodes)
  const saysDrained = (name: string) => {
    const node = view.get(name)
    return node !== undefined && conditionOf(node, 'Drained')?.status === 'True'
  }
  const stop = view.subscribe(({ key }) => {
    if (!saysDrained(key)) return void begun.delete(key)
    if (begun.has(key)) return
    begun.add(key)
    clock.after(1_000, () => {
      if (!saysDrained(key)) return
      const running = [...world.views.of(pods).values()]
        .filter(({ spec, status }) => spec.nodeName === key && status?.phase === 'Running')
        .filter((pod) => controllerOf(pod)?.kind !== 'DaemonSet')
        .map(({ metadata }) => metadata.name)
        .sort()
      takenDown.push({ node: key, running })
      tell(`the machine of ${key} goes down for ${downSeconds} s`)
      world.kubelet.reboot(key, downSeconds)
    })
  })
  return { takenDown, stop }
}
