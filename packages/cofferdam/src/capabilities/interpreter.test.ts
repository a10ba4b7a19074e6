import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Step } from '../shared/steps.ts'
import { performPass, type StepOutcome } from './interpreter.ts'

interface Ask extends Step {
  readonly do: 'ask'
  readonly of: string
}
interface Write extends Step {
  readonly do: 'write'
  readonly what: string
}

function fixture(outcomeOf: (step: Ask | Write) => StepOutcome = () => 'done') {
  const done: string[] = []
  const known = new Set<string>()
  return {
    done,
    known,
    perform: {
      ask: async (step: Ask): Promise<StepOutcome> => {
        done.push(`ask ${step.of}`)
        known.add(step.of)
        return 'learned'
      },
      write: async (step: Write): Promise<StepOutcome> => {
        const outcome = outcomeOf(step)
        done.push(`${outcome === 'stopped' ? 'not ' : ''}write ${step.what}`)
        return outcome
      },
    },
  }
}

const { signal } = new AbortController()
const write = (what: string): Write => ({ do: 'write', what })
const ask = (of: string): Ask => ({ do: 'ask', of })

describe('a pass', () => {
  it('decides again on what a question taught, and writes only what the last decision wants', async () => {
    const { done, known, perform } = fixture()
    const decided: number[] = []
    const end = await performPass({
      observe: async () => new Set(known),
      decide(snapshot: ReadonlySet<string>) {
        decided.push(snapshot.size)
        const unheard = ['x', 'y'].find((domain) => !snapshot.has(domain))
        return { steps: unheard === undefined ? [write('budgets')] : [ask(unheard), write('too early')] }
      },
      perform,
      signal,
    })
    expect([done, decided, end.isWhole]).toEqual([['ask x', 'ask y', 'write budgets'], [0, 1, 2], true])
  })

  it('leaves everything after a step that was not possible: no budget is opened over a record that was refused', async () => {
    const { done, perform } = fixture(({ do: kind, ...step }) =>
      kind === 'write' && 'what' in step && step.what === 'record' ? 'stopped' : 'done',
    )
    const end = await performPass({
      observe: async () => undefined,
      decide: () => ({ steps: [write('closing budget'), write('record'), write('opening budget')] }),
      perform,
      signal,
    })
    expect([done, end.isWhole, end.isCutShort]).toEqual([['write closing budget', 'not write record'], false, false])
  })

  it('ends when it would learn the same again: a question that changes nothing does not keep a worker for ever', async () => {
    const { done, perform } = fixture()
    const end = await performPass({
      observe: async () => undefined,
      decide: () => ({ steps: [ask('x')] }),
      perform,
      signal,
    })
    expect([done, end.isCutShort]).toEqual([['ask x', 'ask x'], true])
  })

  it('ends after so many rounds even though each teaches something else', async () => {
    const { done, perform } = fixture()
    let at = 0
    const end = await performPass({
      observe: async () => (at += 1),
      decide: (round: number) => ({ steps: [ask(`${round}`)] }),
      perform,
      mostRounds: 5,
      signal,
    })
    expect([done.length, end.isCutShort]).toEqual([5, true])
  })

  it('performs nothing more once it is told to stop, not even the second half of a decision', async () => {
    const stopping = new AbortController()
    const { done, perform } = fixture(() => {
      stopping.abort(new Error('the lead was lost'))
      return 'done'
    })
    const pass = performPass({
      observe: async () => undefined,
      decide: () => ({ steps: [write('one'), write('two')] }),
      perform,
      signal: stopping.signal,
    })
    await expect(pass).rejects.toThrow('the lead was lost')
    expect(done).toEqual(['write one'])
  })

  it('dies at a crash point with exactly the steps before it performed, wherever that is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string(), { minLength: 1, maxLength: 8 }), fc.nat(7), async (whats, at) => {
        const { done, perform } = fixture()
        let performed = 0
        const pass = performPass({
          observe: async () => undefined,
          decide: () => ({ steps: whats.map(write) }),
          perform,
          onPerformed() {
            performed += 1
            if (performed === at + 1) throw new Error('killed')
          },
          signal,
        })
        if (at < whats.length) await expect(pass).rejects.toThrow('killed')
        else await pass
        expect(done).toEqual(whats.slice(0, at + 1).map((what) => `write ${what}`))
      }),
    )
  })
})
