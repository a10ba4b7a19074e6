import { disruptionLedgers } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import type { Stage } from '../stage/open-stage.ts'
import { noteOfNext } from '../stage/other-version.ts'
import type { Blame } from './blame.ts'
import type { Excuses } from './excuses.ts'

/** S21: what another version noted on a request, a hold or a ticket is there for as long as that is. */
export function watchNotes(
  { views }: Pick<Stage, 'views'>,
  { blame }: Blame,
  excuses: Pick<Excuses, 'wasMeddledWith'>,
): { stop(): void } {
  const noted = { ledger: new Set<string>(), requests: new Set<string>() }

  function see(where: keyof typeof noted, name: string, record: object): void {
    if (Object.hasOwn(record, noteOfNext)) noted[where].add(name)
    // A backup may be older than the note.
    else if (noted[where].delete(name) && !excuses.wasMeddledWith('etcd'))
      blame('S21', `${name} lost what another version had noted there`)
  }

  const stops = [
    views.of(disruptionLedgers).subscribe(({ after }) => {
      // What is made of the records of requests after it was deleted has nothing but what they say.
      if (after === undefined) noted.ledger.clear()
      const { entries = [], tickets = [] } = after?.status ?? {}
      for (const entry of entries)
        see('ledger', `the hold ${entry.key} of ${entry.requestId} under ${entry.epoch}`, entry)
      for (const ticket of tickets) see('ledger', `the ticket ${ticket.number} of ${ticket.requestId}`, ticket)
    }),
    views.of(nodeDisruptions).subscribe(({ after }) => {
      if (after?.status !== undefined) see('requests', `the request ${after.metadata.uid}`, after.status)
    }),
  ]
  return {
    stop() {
      for (const stop of stops) stop()
    },
  }
}
