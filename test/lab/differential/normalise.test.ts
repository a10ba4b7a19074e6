import { describe, expect, it } from 'vitest'
import { Normaliser } from './normalise.ts'

const uids = ['0a0a0a0a-0000-4000-8000-000000000001', '0a0a0a0a-0000-4000-8000-000000000002'] as const
const object = (name: string, resourceVersion: string, uid: string = uids[0]) => ({
  kind: 'ConfigMap',
  metadata: { name, resourceVersion, uid },
})

describe('answers of two servers in common words', () => {
  it('are the same when the same things stayed and the same things changed, whatever the numbers', () => {
    const [left, right] = [new Normaliser(), new Normaliser()]
    const tell = (normaliser: Normaliser, versions: readonly string[], uid: string) =>
      versions.map((version) => normaliser.normalise(object('a', version, uid)))
    expect(tell(left, ['7', '7', '9'], uids[0])).toEqual(tell(right, ['100', '100', '1000'], uids[1]))
  })

  it('are not the same when one of them counted a write that the other did not', () => {
    const [left, right] = [new Normaliser(), new Normaliser()]
    left.normalise(object('a', '7'))
    right.normalise(object('a', '7'))
    expect(left.normalise(object('a', '8'))).not.toEqual(right.normalise(object('a', '7')))
  })

  it('hide the clock of the server, but not times that the test wrote', () => {
    const times = { now: '2031-05-01T10:00:00Z', own: '2020-01-01T00:00:00Z' }
    expect(new Normaliser().normalise(times)).toEqual({ now: '<time>', own: '2020-01-01T00:00:00Z' })
  })

  it('hide the numbers inside messages', () => {
    const normaliser = new Normaliser()
    normaliser.normalise(object('a', '7'))
    const message = `the ResourceVersion in the precondition (3) does not match the ResourceVersion in record (7), ${uids[0]}`
    expect(normaliser.normalise({ message })).toEqual({
      message:
        'the ResourceVersion in the precondition (<unseen version>) does not match the ResourceVersion in record (<version 1>), <uid 1>',
    })
  })

  it('name each cause once and managers in one order', () => {
    const cause = { field: 'metadata.uid', message: 'field is immutable' }
    const managed = (manager: string) => ({ manager, operation: 'Update' })
    expect(new Normaliser().normalise({ causes: [cause, cause], managedFields: [managed('b'), managed('a')] })).toEqual(
      { causes: [cause], managedFields: [managed('a'), managed('b')] },
    )
  })

  it('do not count versions of budgets that controllers write in their own time', () => {
    const budget = { kind: 'PodDisruptionBudget', metadata: { name: 'a', resourceVersion: '5' } }
    expect(new Normaliser({ hasLiveBudgets: true }).normalise(budget)).toEqual({
      kind: 'PodDisruptionBudget',
      metadata: { name: 'a', resourceVersion: '<any>' },
    })
  })

  it('have the finalizers of a namespace in one order, and those of other kinds as they are', () => {
    const finalizersOf = (labels: Record<string, string>) => {
      const metadata = { name: 'a', labels, finalizers: ['orphan', 'lab.example/late'] }
      return new Normaliser().normalise({ metadata }) as { readonly metadata: { readonly finalizers: unknown } }
    }
    expect(finalizersOf({ 'kubernetes.io/metadata.name': 'a' }).metadata.finalizers).toEqual([
      'lab.example/late',
      'orphan',
    ])
    expect(finalizersOf({ app: 'x' }).metadata.finalizers).toEqual(['orphan', 'lab.example/late'])
  })
})
