import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { changedApi, openScenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Claim } from '../rules/claim.ts'
import { doClaimsConflict } from '../rules/claim.ts'
import type { Ledger } from '../rules/ledger.ts'
import { adopt, grant, intend, release } from '../rules/ledger.ts'
import { createLedgerStore, type LedgerStep } from './ledger-store.ts'
import { claim, installDefinitions } from './testing/ledger-fixture.ts'

const { signal } = new AbortController()

/** What becomes of one write: it is done, done though nobody hears of it, or lost on the way there. */
const anyFate = fc.constantFrom('done', 'done', 'done', 'unheard', 'lost')
const anyStep = fc.record({
  kind: fc.constantFrom('take', 'take', 'intend', 'release', 'adopt'),
  claims: fc.subarray([claim('node/a'), claim('node/b'), claim('pdb/shop/web')], { minLength: 1 }),
})
const anyClient = fc.record({
  steps: fc.array(anyStep, { minLength: 1, maxLength: 6 }),
  fates: fc.array(anyFate, { maxLength: 12 }),
})

type Client = typeof anyClient extends fc.Arbitrary<infer C> ? C : never

function faulty(api: KubeApi, fates: readonly string[]): KubeApi {
  let count = 0
  const silent = () => new CofferdamError('API_UNREACHABLE', 'the connection was cut off')
  return changedApi(api, {
    update: (async (...request: Parameters<KubeApi['update']>) => {
      const fate = fates[count]
      count += 1
      if (fate === 'lost') throw silent()
      const answer = await api.update(...request)
      if (fate === 'unheard') throw silent()
      return answer
    }) as KubeApi['update'],
  })
}

interface Told {
  readonly requestId: string
  readonly epoch: number
}

function nextOf(kind: string, by: Told, claims: readonly Claim[]) {
  const { requestId } = by
  return (ledger: Ledger): LedgerStep<number | undefined> => {
    switch (kind) {
      case 'take': {
        const answer = grant(ledger, { requestId, holder: requestId, claims, now: '2026-01-01T00:00:00Z' })
        return { ledger: answer.ledger, value: answer.granted ? answer.epoch : undefined }
      }
      case 'adopt': {
        const adopted = adopt(ledger, { requestId, holder: requestId })
        return { ledger: adopted?.ledger ?? ledger, value: adopted?.epoch }
      }
      default: {
        const change = kind === 'intend' ? intend(ledger, by) : release(ledger, by)
        return { ledger: change.ok ? change.ledger : ledger, value: undefined }
      }
    }
  }
}

it('many processes that write through a line that loses replies never hold the same, nor share an epoch', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyClient, { minLength: 2, maxLength: 4 }), async (clients) => {
      const scenario = openScenario()
      await installDefinitions(scenario.api)
      const epochs: Told[] = []
      const runs = clients.map(async ({ steps, fates }: Client, index) => {
        const store = createLedgerStore({ api: faulty(scenario.api, fates), clock: scenario.clock })
        const requestId = `R${index}`
        let epoch = 0
        for (const { kind, claims } of steps) {
          try {
            const given = await store.change(kind, nextOf(kind, { requestId, epoch }, claims), signal)
            if (given === undefined || given === epoch) continue
            epoch = given
            epochs.push({ requestId, epoch })
          } catch (error) {
            expect(error).toBeInstanceOf(CofferdamError)
          }
        }
      })
      const done = Promise.all(runs)
      let isDone = false
      void done.finally(() => {
        isDone = true
      })
      while (!isDone) await scenario.clock.advance(100)
      await done
      const read = await createLedgerStore(scenario).read(signal)
      if (!read.known) throw new Error(read.why)
      for (const a of read.value.entries)
        for (const b of read.value.entries) if (a.requestId !== b.requestId) expect(doClaimsConflict(a, b)).toBe(false)
      expect(new Set(epochs.map(({ epoch }) => epoch)).size).toBe(epochs.length)
      for (const { epoch } of epochs) expect(epoch).toBeLessThan(read.value.nextEpoch)
      scenario.stop()
    }),
    { numRuns: 60 },
  )
})
