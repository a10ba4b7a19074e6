import { machineConfigPools } from '@cofferdam/kubernetes/api/kinds/machine-config.ts'
import { mergePatch, type Trace, trace } from '../../shared/trace.ts'
import { isPausedByUs, parsePool, pausedByAnnotation } from './domain/parse-pool.ts'

export const machineConfigTraces: readonly Trace[] = [
  trace({
    type: machineConfigPools,
    keys: [pausedByAnnotation],
    removal(pool) {
      const view = parsePool(pool)
      if (view.mark.is === 'absent') return undefined
      const isOurs = isPausedByUs(view)
      return mergePatch(pool, isOurs ? 'the pause of Cofferdam' : `annotation ${pausedByAnnotation}`, {
        metadata: { annotations: { [pausedByAnnotation]: null } },
        ...(isOurs ? { spec: { paused: false } } : {}),
      })
    },
  }),
]
