import { describe, expect, it } from 'vitest'
import type { Claim } from './claim.ts'
import { emptyLedger, enqueue, entriesOf, grant, intend, type Ledger, release, stepBack } from './ledger.ts'
import { mostQueued } from './queue.ts'

const now = '2026-01-01T00:00:00Z'
const key = (name: string): Claim => ({ key: name, uid: name, scope: '' })
const place = (most: number): Claim => ({ key: 'limit/workers', uid: '', scope: '', most })
const [nodeA, nodeB, nodeC, web, db] = ['node/a', 'node/b', 'node/c', 'pdb/shop/web', 'pdb/shop/db'].map(key) as [
  Claim,
  Claim,
  Claim,
  Claim,
  Claim,
]

/** Requests that ask, step aside, end or begin, one after the other. */
class Line {
  ledger: Ledger = emptyLedger

  asks(requestId: string, ...claims: readonly Claim[]): this {
    this.ledger = grant(this.ledger, { requestId, holder: requestId, claims, now }).ledger
    return this
  }

  waits(requestId: string, aside: 'Once' | 'Always', ...claims: readonly Claim[]): this {
    this.ledger = enqueue(this.ledger, { requestId, holder: requestId, claims, now, aside })
    return this
  }

  stepsBack(requestId: string): this {
    return this.#change(stepBack(this.ledger, { requestId, epoch: this.#epochOf(requestId) }))
  }

  begins(requestId: string): this {
    return this.#change(intend(this.ledger, { requestId, epoch: this.#epochOf(requestId) }))
  }

  ends(requestId: string): this {
    return this.#change(release(this.ledger, { requestId, epoch: this.#epochOf(requestId) }))
  }

  /** Who holds something, and who waits, in the order of the queue. */
  get state(): string {
    const holders = [...new Set(this.ledger.entries.map(({ requestId }) => requestId))]
    const waiting = this.ledger.tickets.map(({ requestId, overtaken }) =>
      overtaken === undefined ? requestId : `${requestId} (passed ${overtaken})`,
    )
    return `${holders.join(' ')} | ${waiting.join(' ')}`
  }

  #epochOf(requestId: string): number {
    return entriesOf(this.ledger, requestId)[0]?.epoch ?? 0
  }

  #change(change: ReturnType<typeof release>): this {
    if (change.ok) this.ledger = change.ledger
    return this
  }
}

const rows: Record<string, { given: (line: Line) => Line; then: string }> = {
  'a request that needs two applications goes before a later one that needs one of them, so that it is not overtaken for ever':
    {
      given: (line) =>
        line
          .asks('one', nodeA, web)
          .asks('both', nodeB, web, db)
          .asks('later', nodeC, db)
          .ends('one')
          .asks('later', nodeC, db),
      then: ' | both later',
    },
  'a request that an owner keeps waiting is passed as often as others come: one lock does not stop a whole upgrade': {
    given: (line) =>
      line.waits('first', 'Always', nodeA, web).asks('second', nodeB, web).ends('second').asks('third', nodeC, web),
    then: 'third | first (passed 2)',
  },
  'it is next as soon as the owner lets it: it waited longest': {
    given: (line) =>
      line
        .waits('first', 'Always', nodeA, web)
        .asks('second', nodeB, web)
        .asks('third', nodeC, web)
        .asks('first', nodeA, web)
        .ends('second')
        .asks('third', nodeC, web)
        .asks('first', nodeA, web),
    then: 'first | third',
  },
  'a request that waits for a budget is passed once, and then others wait for it': {
    given: (line) =>
      line.waits('first', 'Once', nodeA, web).asks('second', nodeB, web).ends('second').asks('third', nodeC, web),
    then: ' | first (passed 1) third',
  },
  'a request that has to step back has its old place again: to have tried costs it nothing': {
    given: (line) =>
      line.asks('first', nodeA, web).asks('second', nodeB, web).stepsBack('first').asks('second', nodeB, web),
    then: ' | first second',
  },
  'a request that needs more than it was granted asks from its old place: a pod that became ready again would send it to the end':
    {
      given: (line) => line.asks('first', nodeA).asks('second', nodeA, web).asks('first', nodeA, web),
      then: 'first | second',
    },
  'and if it cannot have that, it waits in its old place': {
    given: (line) => line.asks('other', web).asks('first', nodeA).asks('second', nodeA, web).asks('first', nodeA, web),
    then: 'other | first second',
  },
  'a request that has begun cannot step back: what it did still counts': {
    given: (line) => line.asks('first', nodeA).begins('first').stepsBack('first'),
    then: 'first | ',
  },
  'as many requests as a limit has places hold it side by side, and the next one waits': {
    given: (line) => line.asks('first', nodeA, place(2)).asks('second', nodeB, place(2)).asks('third', nodeC, place(2)),
    then: 'first second | third',
  },
  'a place of a limit that becomes free goes to the longest waiting': {
    given: (line) =>
      line
        .asks('first', nodeA, place(1))
        .asks('second', nodeB, place(1))
        .asks('third', nodeC, place(1))
        .ends('first')
        .asks('third', nodeC, place(1))
        .asks('second', nodeB, place(1)),
    then: 'second | third',
  },
  'a request that waits for something else keeps no place of a limit free that a later one could use': {
    given: (line) =>
      line.asks('first', nodeA, web, place(2)).asks('second', nodeB, web, place(2)).asks('third', nodeC, place(2)),
    then: 'first third | second',
  },
  'a limit without places lets no request begin': {
    given: (line) => line.asks('first', nodeA, place(0)),
    then: ' | first',
  },
}

describe('the queue', () => {
  it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
    expect(given(new Line()).state).toBe(then)
  })

  it('has room for no more than fits into the object beside what is held: who comes later gets a ticket when one has left', () => {
    const line = new Line().asks('holder', web).begins('holder')
    for (let index = 0; index < mostQueued.tickets; index += 1) line.asks(`R${index}`, key(`node/n${index}`), web)
    const full = line.ledger
    line.asks('late', nodeA, web)
    expect(line.ledger).toBe(full)
    expect(JSON.stringify(full).length).toBeLessThan(1_000_000)
  })

  it('counts what tickets ask for, not only how many there are: nodes with hundreds of budgets do not fill the object', () => {
    const many = Array.from({ length: 250 }, (_, index) => key(`pdb/${'n'.repeat(60)}/${'b'.repeat(60)}-${index}`))
    const line = new Line().asks('holder', ...many.slice(0, 1)).begins('holder')
    for (let index = 0; index < 40; index += 1) line.asks(`R${index}`, key(`node/n${index}`), ...many)
    expect(line.ledger.tickets.length).toBeLessThan(40)
    expect(JSON.stringify(line.ledger).length).toBeLessThan(1_000_000)
  })
})
