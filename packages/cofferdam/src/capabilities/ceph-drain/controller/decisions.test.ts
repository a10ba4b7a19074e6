import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import { decideCephDrain } from '../domain/decide.ts'
import { tell } from '../domain/testing/fixture.ts'
import { CephDecisions } from './decisions.ts'

const key = 'rook-ceph/my-cluster'
const { signal } = new AbortController()

function decidedFrom(scenario: Parameters<typeof tell>[0] = {}) {
  const snapshot = tell(scenario)
  return { snapshot, decision: decideCephDrain(snapshot), cephAskedAtMs: undefined }
}

function open() {
  const clock = new VirtualClock()
  const decisions = new CephDecisions(clock)
  const asked: string[] = []
  decisions.listen((about) => asked.push(about))
  const ask = (maxAgeMs = 10_000) => decisions.decided(key, { maxAgeMs, waitMs: 10_000, signal })
  return { clock, decisions, asked, ask }
}

describe('what ceph-drain decided', () => {
  it('is told as it is while it is young, and nobody has to look again', async () => {
    const { clock, decisions, asked, ask } = open()
    decisions.begin(key)(decidedFrom())
    await clock.advance(9_000)
    expect((await ask())?.decision.reason).toBe('AnyOsdMayGo')
    expect(asked).toEqual([])
  })

  it('is asked for again when it is old, and what the new look decides is told', async () => {
    const { clock, decisions, asked, ask } = open()
    decisions.begin(key)(decidedFrom())
    await clock.advance(11_000)
    const answer = ask()
    await clock.advance(1_000)
    expect(asked).toEqual([key])
    decisions.begin(key)(decidedFrom({ down: [1] }))
    expect((await answer)?.decision.reason).toBe('DomainReleased')
  })

  it('by a look that had begun before the question is no answer to it', async () => {
    const { clock, decisions, ask } = open()
    const finish = decisions.begin(key)
    await clock.advance(1)
    const answer = ask(-1)
    finish(decidedFrom())
    let isAnswered = false
    void answer.then(() => {
      isAnswered = true
    })
    await clock.advance(1_000)
    expect(isAnswered).toBe(false)
    decisions.begin(key)(decidedFrom({ down: [1] }))
    expect((await answer)?.decision.reason).toBe('DomainReleased')
  })

  it('too late is not told at all', async () => {
    const { clock, ask } = open()
    const answer = ask()
    await clock.advance(10_000)
    expect(await answer).toBeUndefined()
  })

  it('long ago is not told where no look ends in time: a drain would go on by a yes from before Ceph fell silent', async () => {
    const { clock, decisions, ask } = open()
    decisions.begin(key)(decidedFrom())
    await clock.advance(60_000)
    const answer = ask()
    await clock.advance(10_000)
    expect(await answer).toBeUndefined()
  })

  it('keeps the type of failure domain that Ceph told last while Ceph is silent', () => {
    const { decisions } = open()
    decisions.begin(key)(decidedFrom())
    decisions.begin(key)(decidedFrom({ silentMs: 60_000 }))
    expect(decisions.latest(key)).toMatchObject({ domainType: 'zone', decision: { failureDomainType: 'host' } })
  })

  it('of a cluster that is gone is forgotten', () => {
    const { decisions } = open()
    decisions.begin(key)(decidedFrom())
    decisions.forget(key)
    expect(decisions.latest(key)).toBeUndefined()
  })

  it('is asked for as soon as somebody can look, when the question came first', async () => {
    const clock = new VirtualClock()
    const decisions = new CephDecisions(clock)
    const asked: string[] = []
    const answer = decisions.decided(key, { maxAgeMs: 0, waitMs: 10_000, signal })
    decisions.listen((about) => asked.push(about))
    expect(asked).toEqual([key])
    await clock.advance(10_000)
    await answer
  })
})
