import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import {
  type DisruptionLedger,
  disruptionLedgers,
  ledgerName,
} from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import type { Stage } from '../stage/open-stage.ts'
import { applyNextDefinitions, type OtherVersion, stateOfNext } from '../stage/other-version.ts'
import { between, oneOf } from '../story.ts'
import { always, type DeedPorts, type FaultKind } from './deed-kind.ts'

type Entries = NonNullable<NonNullable<DisruptionLedger['status']>['entries']>

/** One replica is of another version; where its rival is gone it leads. At the end it is rolled back. */
function runVersion(version: OtherVersion): (ports: DeedPorts) => Promise<void> {
  return async ({ stage, random, tell, excuses, atHome }) => {
    const { running } = stage.processes
    if (running.length === 0) return
    const process = oneOf(random, running)
    const leads = random.next() < 0.6
    tell(`${process.name} is of the version ${version}${leads ? ', and the others are gone' : ''}`)
    if (version === 'next') await applyNextDefinitions(stage.api)
    process.hazards.version = version
    atHome(() => {
      process.hazards.version = undefined
    })
    if (!leads) return
    excuses.hindered(30_000)
    for (const other of running) if (other !== process) other.hazards.isDead = true
  }
}

async function changeEntries({ api, clock }: Stage, change: (entries: Entries) => Entries): Promise<boolean> {
  for (let tries = 0; tries < 50; tries += 1) {
    const ledger = await api.get(disruptionLedgers, { name: ledgerName }).catch(() => undefined)
    const entries = ledger?.status?.entries ?? []
    if (ledger?.status !== undefined && entries.length > 0) {
      const status = { ...ledger.status, entries: change(entries) }
      try {
        await api.update(disruptionLedgers, { ...ledger, status }, { subresource: 'status' })
        return true
      } catch (error) {
        if (!hasReason(error, 'Conflict', 'NotFound')) throw error
      }
    }
    await sleep(clock, 1_000)
  }
  return false
}

/** What two versions do to each other. */
export const versionFaults: Readonly<Record<string, FaultKind>> = {
  'a replica is of the next version, which notes more': { row: 'F24', fits: always, apply: runVersion('next') },
  'a replica is of the version before, which notes less': { row: 'F24', fits: always, apply: runVersion('before') },
  'the ledger has a state that only the next version knows': {
    row: 'F24',
    fits: always,
    async apply({ stage, random, tell, excuses, atHome }) {
      await applyNextDefinitions(stage.api)
      let former: Entries[number]['state'] = 'Granted'
      const isDone = await changeEntries(stage, ([first, ...others]) => {
        if (first === undefined) return others
        former = first.state
        return [{ ...first, state: stateOfNext as typeof first.state }, ...others]
      })
      if (!isDone) return
      tell(`a hold is ${stateOfNext}`)
      const forMs = between(random, 10, 120) * 1_000
      excuses.meddled('ledger', forMs + 60_000)
      const over = excuses.hinderedOpenly()
      const mend = async () => {
        over()
        await changeEntries(stage, (entries) =>
          entries.map((entry) => ((entry.state as string) === stateOfNext ? { ...entry, state: former } : entry)),
        )
      }
      atHome(mend)
      stage.clock.after(forMs, () => void mend())
    },
  },
}
