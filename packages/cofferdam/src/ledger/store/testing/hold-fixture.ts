import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { openScenario, type Scenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { type DisruptionLedger, disruptionLedgers, ledgerName } from '../../../shared/kinds/disruption-ledger.ts'
import type { Ledger } from '../../rules/ledger.ts'
import { parseLedger } from '../../rules/parse-ledger.ts'
import { createLedgerStore } from '../ledger-store.ts'
import type { HeldLedger } from '../storage-ledger.ts'
import { installDefinitions } from './ledger-fixture.ts'

export const renewMs = 20_000

/** The way of one process to the ledger, with a view that is as old as the test wants it. */
export interface LedgerWay extends HeldLedger {
  /** Brings the view up to date. */
  refresh(): Promise<void>
}

export interface HoldFixture extends Scenario {
  /** Through another API where one is given. */
  way(api?: KubeApi): LedgerWay
  /** As it is now. */
  ledger(): Promise<Ledger>
  /** Runs the clock until the work is done. */
  settled<T>(work: Promise<T>): Promise<T>
}

export async function openHoldFixture({ isInstalled = true } = {}): Promise<HoldFixture> {
  const scenario = openScenario()
  if (isInstalled) await installDefinitions(scenario.api)
  const read = (): Promise<DisruptionLedger | undefined> =>
    scenario.api.get(disruptionLedgers, { name: ledgerName }).catch(() => undefined)
  return {
    ...scenario,
    way(api = scenario.api) {
      let seen: DisruptionLedger | undefined
      let synced = false
      return {
        view: {
          get synced() {
            return synced
          },
          get: () => seen,
        },
        store: createLedgerStore({ api, clock: scenario.clock }),
        renewMs,
        async refresh() {
          seen = await read()
          synced = true
        },
      }
    },
    async ledger() {
      const ledger = parseLedger(await read())
      if (!ledger.known) throw new Error(ledger.why)
      return ledger.value
    },
    async settled(work) {
      let isDone = false
      const done = work.finally(() => {
        isDone = true
      })
      done.catch(() => {})
      for (let steps = 0; !isDone && steps < 2_000; steps += 1) await scenario.clock.advance(50)
      return done
    },
  }
}
