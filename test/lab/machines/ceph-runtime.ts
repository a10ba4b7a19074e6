import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { ContainerRuntime, RunningContainer } from '@cofferdam/simulator/world/nodes/container-runtime.ts'
import type { DaemonName, DaemonStart, LabCeph } from '../ceph/lab-ceph.ts'
import type { Journal } from '../processes/journal.ts'
import { processContainer } from './process-container.ts'

const kinds = ['mon', 'mgr', 'osd'] as const

/** Daemons of such an image end as soon as they have started. */
const brokenImage = /-broken$/

/**
 * Behind the pods of Rook's daemons, the daemons themselves.
 *
 * Guarantees: a daemon never runs twice. A pod that finds it running for another pod waits until that one has ended; a
 * daemon that runs for no pod is taken over as it is.
 */
export function cephRuntime(
  ceph: Pick<LabCeph, 'start' | 'daemon' | 'ready'>,
  namespace: string,
  journal: Journal,
): ContainerRuntime {
  const lastOf = new Map<DaemonName, Holder>()
  return {
    start(pod) {
      const name = daemonOf(pod, namespace)
      if (name === undefined) return undefined
      const before = lastOf.get(name)
      const { name: podName, uid = '' } = pod.metadata
      if (before?.uid === uid) return before.container
      if (before !== undefined) journal.tell(name, `is pod ${podName}'s when pod ${before.pod} is through`)
      const container = processContainer({
        prepare: async () => {
          await before?.released
          const isRunning = ceph.daemon(name)?.isRunning() === true
          journal.tell(name, `${isRunning ? 'is taken over' : 'is started'} for pod ${podName}`)
          return () => ceph.start(name, howToStart(pod))
        },
        ready: () => ceph.ready(name),
      })
      const holder: Holder = { pod: podName, uid, container, released: releaseOf(container, before?.released) }
      lastOf.set(name, holder)
      void holder.released.then(() => {
        if (lastOf.get(name) === holder) lastOf.delete(name)
      })
      return container
    },
  }
}

/** Of its image and arguments, what makes a difference here. */
function howToStart({ spec }: Pod): DaemonStart {
  const isBroken = spec.containers.some(({ image = '' }) => brokenImage.test(image))
  const words = spec.containers.flatMap(({ args = [] }) => args)
  const [crushLocation] = words.flatMap((word) => /^--crush-location=(.+)$/.exec(word)?.[1] ?? [])
  return { isBroken, ...(crushLocation !== undefined && { crushLocation }) }
}

interface Holder {
  readonly pod: string
  readonly uid: string
  readonly container: RunningContainer
  readonly released: Promise<void>
}

/** A pod that gave up waiting frees nothing: whoever comes after it waits for the same process. */
async function releaseOf({ ended }: RunningContainer, before: Promise<void> | undefined): Promise<void> {
  await ended.catch(() => {})
  await before
}

function daemonOf({ metadata }: Pod, namespace: string): DaemonName | undefined {
  if (metadata.namespace !== namespace) return undefined
  const kind = kinds.find((name) => metadata.labels?.['app'] === `rook-ceph-${name}`)
  const id = kind === undefined ? undefined : metadata.labels?.[kind]
  return id === undefined ? undefined : (`${kind}.${id}` as DaemonName)
}
