import { daemonSets } from '@cofferdam/kubernetes/api/resources.ts'
import { mergePatch, type Trace, trace } from '../../shared/trace.ts'
import { handedAnnotation } from './domain/handed-places.ts'
import { parseKuredFlags } from './domain/kured-flags.ts'
import { formatKuredLock, lockOwner, parseKuredLock } from './domain/kured-lock.ts'
import { manageLockAnnotation } from './domain/snapshot.ts'

/** Places of nodes stay: kured releases those itself. Without Cofferdam's own it reboots by itself again. */
export const kuredTraces: readonly Trace[] = [
  trace({
    type: daemonSets,
    keys: [handedAnnotation],
    removal(daemonSet) {
      const { annotations = {} } = daemonSet.metadata
      const isOurs = [manageLockAnnotation, handedAnnotation].some((key) => annotations[key] !== undefined)
      const flags = isOurs ? parseKuredFlags(daemonSet) : undefined
      if (flags === undefined || !flags.known) return undefined
      const { lockAnnotation, concurrency } = flags.value
      const lock = parseKuredLock(annotations[lockAnnotation])
      const places = lock.known ? lock.value.places : []
      const others = places.filter(({ holder }) => holder !== lockOwner)
      const isHeld = others.length < places.length
      if (!isHeld && annotations[handedAnnotation] === undefined) return undefined
      const left = others.length === 0 ? null : formatKuredLock(others, concurrency)
      return mergePatch(daemonSet, "places of Cofferdam in kured's lock", {
        metadata: { annotations: { [handedAnnotation]: null, ...(isHeld ? { [lockAnnotation]: left } : {}) } },
      })
    },
  }),
]
