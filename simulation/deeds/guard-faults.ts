import { secrets } from '@cofferdam/kubernetes/api/resources.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { guardSecret } from '@cofferdam/product/eviction-guard/domain/guard-secret.ts'
import { defaultCertificateSettings, planCertificates } from '@cofferdam/product/eviction-guard/guard-certificates.ts'
import { breakWatches } from '../stage/hazards.ts'
import { between } from '../story.ts'
import { always, type FaultKind } from './deed-kind.ts'

const longAgoMs = 20 * 365 * 24 * 3_600_000

/** What befalls the way from the API server to the guard, and what both sides prove themselves with. */
export const guardFaults: Readonly<Record<string, FaultKind>> = {
  'the guard answers late': {
    row: 'F16',
    fits: always,
    apply({ stage, random, tell, atHome }) {
      const lateMs = between(random, 5, 60) * 100
      tell(`the guard answers after ${lateMs} ms`)
      stage.guard.delay(() => sleep(stage.clock, lateMs))
      const mend = () => stage.guard.delay(undefined)
      atHome(mend)
      stage.clock.after(between(random, 10, 180) * 1_000, mend)
    },
  },
  'the Secret of the guard is restored from a backup, and has expired': {
    row: 'F16',
    fits: always,
    async apply({ stage, tell }) {
      tell('the certificates of the guard are those of long ago')
      const { data = {} } = planCertificates({
        nowMs: stage.clock.now() - longAgoMs,
        data: undefined,
        hosts: ['cofferdam-guard.cofferdam-system.svc'],
        carriedSinceMs: undefined,
        settings: defaultCertificateSettings,
      })
      await stage.api.patch(secrets, guardSecret, { type: 'merge', body: { data: { ...data } } })
    },
  },
  'the token of the operator has expired': {
    row: 'F25',
    fits: always,
    apply({ stage, random, tell, excuses }) {
      const forMs = between(random, 5, 120) * 1_000
      tell(`the operator is not known to the API server for ${forMs / 1_000} s`)
      excuses.hindered(forMs + 30_000)
      stage.hazards.refusals = { untilMs: stage.clock.now() + forMs, rate: 1, reasons: ['Unauthorized'] }
      breakWatches(stage.hazards)
    },
  },
}
