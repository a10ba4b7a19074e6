import type { KubectlTarget } from '../control-plane/run-kubectl.ts'
import { startKubectl } from '../control-plane/run-kubectl.ts'

/** What a kubelet has reported of a pod, at one moment. */
export interface PodMoment {
  readonly name: string
  readonly node: string
  readonly isReady: boolean
  readonly isLeaving: boolean
  /** Of its container, when that has ended. */
  readonly exitCode: number | undefined
}

export interface PodHistory {
  /** The last of each pod, also of those that are gone. */
  last(): readonly PodMoment[]
  /** The fewest pods of the app that were ready, and not about to leave, at any moment since all these were. */
  fewestReady(app: string, all: number): number
  stop(): Promise<unknown>
}

const fields = [
  '{.metadata.name}',
  '{.spec.nodeName}',
  '{.status.conditions[?(@.type=="Ready")].status}',
  '{.metadata.deletionTimestamp}',
  '{.status.containerStatuses[0].state.terminated.exitCode}',
]

/** Follows all pods of a namespace. */
export function followPods(target: KubectlTarget, namespace: string): PodHistory {
  const moments: PodMoment[] = []
  const format = `jsonpath=${fields.join('{" "}')}{"\\n"}`
  const watch = startKubectl(target, ['get', 'pods', '-n', namespace, '--watch', '-o', format], (line) => {
    moments.push(parseMoment(line))
  })
  return {
    last: () => [...new Map(moments.map((moment) => [moment.name, moment])).values()],
    fewestReady: (app, all) => fewestReady(moments, app, all),
    stop: () => watch.stop(),
  }
}

export function parseMoment(line: string): PodMoment {
  const [name = '', node = '', ready, deleted = '', exitCode = ''] = line.split(' ')
  return {
    name,
    node,
    isReady: ready === 'True',
    isLeaving: deleted !== '',
    exitCode: exitCode === '' ? undefined : Number(exitCode),
  }
}

export function fewestReady(moments: readonly PodMoment[], app: string, all: number): number {
  const ready = new Set<string>()
  let fewest = Number.POSITIVE_INFINITY
  for (const { name, isReady, isLeaving } of moments.filter((moment) => moment.name.startsWith(`${app}-`))) {
    if (isReady && !isLeaving) ready.add(name)
    else ready.delete(name)
    if (ready.size >= all || fewest !== Number.POSITIVE_INFINITY) fewest = Math.min(fewest, ready.size)
  }
  return fewest
}
