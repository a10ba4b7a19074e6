import { describe, expect, it } from 'vitest'
import { ownBudgetLabel } from './budget-object.ts'
import { decideLonghornDrain } from './decide.ts'
import { decideSeveralLonghorns } from './decide-several.ts'
import { createLonghornJudge } from './judge.ts'
import { type LonghornTraces, longhornPlaces, placeOfLonghorn } from './longhorn-place.ts'
import { longhornFixture } from './testing/longhorn-fixture.ts'

const nothing: LonghornTraces = {
  settings: [],
  nodes: [],
  instanceManagers: [],
  volumes: [],
  replicas: [],
  engines: [],
  budgets: [],
}
const at = (...namespaces: readonly string[]) => namespaces.map((namespace) => ({ metadata: { name: 'x', namespace } }))
const budget = (namespace: string, name: string) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace, labels: ownBudgetLabel },
  spec: {},
})

const rows: Record<string, [seen: Partial<LonghornTraces>, places: readonly string[]]> = {
  'nothing of Longhorn anywhere: it is not installed': [{}, []],
  'settings in one namespace: it is there, whatever that is called': [
    { settings: at('storage', 'storage') },
    ['storage'],
  ],
  'the settings were deleted, the nodes are there: its copies are still needed, and still found': [
    { nodes: at('storage') },
    ['storage'],
  ],
  'settings in two namespaces: one of them has the data, and it is not known which': [
    { settings: at('storage', 'longhorn-system'), nodes: at('storage') },
    ['longhorn-system', 'storage'],
  ],
  'settings in one and nodes in another: neither is taken for the right one': [
    { settings: at('a'), nodes: at('b') },
    ['a', 'b'],
  ],
  'volumes and replicas were restored into a namespace without Longhorn: they keep no drain from ending': [
    { settings: at('storage'), nodes: at('storage'), volumes: at('backup', 'storage'), replicas: at('backup') },
    ['storage'],
  ],
  'settings and nodes are gone, copies are left: a cluster with copies is not one without Longhorn': [
    { replicas: at('storage') },
    ['storage'],
  ],
  'only budgets of ours are left: they are found, or they would stay for ever': [
    { budgets: [budget('shop', 'orders'), budget('storage', 'cofferdam-hold-im-1')] },
    ['storage'],
  ],
}

it.each(Object.entries(rows))('%s', (_, [seen, places]) => {
  expect(longhornPlaces({ ...nothing, ...seen })).toEqual(places)
})

it('several places are not one: the answer is unknown, names all of them and the way out', () => {
  expect([placeOfLonghorn([]), placeOfLonghorn(['a'])]).toEqual([
    { known: true, value: undefined },
    { known: true, value: 'a' },
  ])
  expect(placeOfLonghorn(['a', 'b'])).toMatchObject({
    known: false,
    why: expect.stringMatching(/\(a, b\): delete the settings.longhorn.io and nodes.longhorn.io where none runs/),
  })
})

it('a judge that has seen Longhorn elsewhere forgets what it said of it: its commands would be for the wrong namespace', () => {
  const seen = longhornFixture({
    nodes: { n1: { isCordoned: true, manager: { engines: ['db'] } }, n2: {} },
    volumes: { db: { copies: { n2: 'healthy' }, state: 'attached' } },
  })
  const tickets = [{ id: 'cofferdam-eviction-db', type: 'volume-eviction-controller', node: 'n1' }]
  const before = { ...seen, volumes: seen.volumes.map((volume) => ({ ...volume, tickets })) }
  const after = { ...before, namespace: 'storage' }
  const judge = createLonghornJudge()
  judge.decide(before)
  expect(judge.decide(after)).toEqual(decideLonghornDrain(after))
  expect(JSON.stringify(judge.decide(after))).toContain('kubectl -n storage patch volumeattachments')
})

describe('with several Longhorns', () => {
  const setting = (namespace: string, manage?: string, name = 'node-drain-policy') => ({
    apiVersion: 'longhorn.io/v1beta2',
    kind: 'Setting',
    metadata: { name, namespace, ...(manage === undefined ? {} : { annotations: { 'cofferdam.io/manage': manage } }) },
    value: 'block-for-eviction',
  })

  it('nothing is written, so that what is held stays held; it is reported where somebody relies on it', () => {
    const settings = [setting('a', 'hold'), setting('b'), setting('c', 'observe'), setting('a', 'hold', 'other')]
    expect(decideSeveralLonghorns({ problem: 'two', settings })).toEqual({
      steps: [{ do: 'report', what: 'several-places', problem: 'two', settings: [settings[0]] }],
      observed: undefined,
      recheckAfterSeconds: undefined,
    })
  })
})
