import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { describe, expect, it } from 'vitest'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { decidePauses, longestPauseMs } from './decide-pause.ts'
import { parsePool } from './parse-pool.ts'
import type { ConfiguredNode, MachineConfigSnapshot } from './snapshot.ts'

const nowMs = Date.UTC(2026, 0, 1, 12)
const role = (name: string) => `node-role.kubernetes.io/${name}`
const managed = { 'cofferdam.io/manage-pause': 'true' }
const mark = (sinceMs = nowMs - 60_000) => ({ 'cofferdam.io/paused-by': JSON.stringify({ since: rfc3339(sinceMs) }) })
const lifted = { 'cofferdam.io/paused-by': '{"lifted":"2026-01-01T11:00:00Z"}' }

function pool(annotations: Record<string, string>, spec: object = {}, name = 'worker') {
  return parsePool({
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfigPool',
    metadata: { name, resourceVersion: '7', annotations },
    spec: { nodeSelector: { matchLabels: { [role(name)]: '' } }, ...spec },
  } as never)
}

function node(name: string, ...roles: string[]): ConfiguredNode {
  const labels = Object.fromEntries(roles.map((each) => [role(each), '']))
  return { name, labels, bootID: 'boot-1', isCordoned: false, drain: undefined }
}

const request = (nodeName: string, phase = 'Waiting') =>
  ({ metadata: { name: `for-${nodeName}` }, spec: { nodeName }, status: { phase } }) as NodeDisruption

/** `worker: paused true, note since, PoolPaused`. */
function decide(change: Partial<MachineConfigSnapshot>): string[] {
  const snapshot: MachineConfigSnapshot = {
    pools: [],
    nodes: [node('w-1', 'worker'), node('w-2', 'worker'), node('i-1', 'worker', 'infra'), node('m-1', 'master')],
    requests: known([request('w-1')]),
    nowMs,
    ...change,
  }
  return decidePauses(snapshot).steps.map(({ pool: name, paused, note, event }) => {
    const noted = note === undefined ? 'no note' : Object.keys(note)[0]
    return [`${name}: ${paused ?? 'as it is'}`, noted, event?.reason ?? 'no event'].join(', ')
  })
}

const resumed = ['worker: false, no note, PoolResumed']
const over = known([request('w-1', 'Completed')])

const cases: Record<string, { given: Partial<MachineConfigSnapshot>; then: string[] }> = {
  'a pool with a request on one of its nodes is paused, so that no second node of it is begun with': {
    given: { pools: [pool(managed)] },
    then: ['worker: true, since, PoolPaused'],
  },
  'a pool whose administrator did not ask for it is never touched': { given: { pools: [pool({})] }, then: [] },
  'a pause of the administrator is left alone, also when all requests are over': {
    given: { pools: [pool(managed, { paused: true })], requests: over },
    then: [],
  },
  'nor is it noted as ours while a request stands: it would be ended with that request': {
    given: { pools: [pool(managed, { paused: true })] },
    then: [],
  },
  'our pause stays while a request stands': {
    given: { pools: [pool({ ...managed, ...mark() }, { paused: true })] },
    then: [],
  },
  'our pause ends when the last request is over': {
    given: { pools: [pool({ ...managed, ...mark() }, { paused: true })], requests: over },
    then: resumed,
  },
  'a request that is rejected is over too': {
    given: {
      pools: [pool({ ...managed, ...mark() }, { paused: true })],
      requests: known([request('w-1', 'Rejected')]),
    },
    then: resumed,
  },
  'a node that is back and whose storage recovers keeps its pool paused: the next node would go on half of the data': {
    given: {
      pools: [pool({ ...managed, ...mark() }, { paused: true })],
      requests: known([request('w-1', 'Recovering')]),
    },
    then: [],
  },
  'our pause ends when the administrator takes the permission back': {
    given: { pools: [pool(mark(), { paused: true })] },
    then: resumed,
  },
  'a pause that has lasted too long ends with a warning: nothing of the pool would ever be updated': {
    given: { pools: [pool({ ...managed, ...mark(nowMs - longestPauseMs) }, { paused: true })] },
    then: ['worker: false, lifted, PoolPauseEnded'],
  },
  'a pause that was noted an hour ahead ends at once: it would last for years': {
    given: { pools: [pool({ ...managed, ...mark(nowMs + 3_600_000) }, { paused: true })] },
    then: ['worker: false, lifted, PoolPauseEnded'],
  },
  'a pause that another hand ended is not set again for the same requests': {
    given: { pools: [pool({ ...managed, ...mark() })] },
    then: ['worker: as it is, lifted, PoolPauseEnded'],
  },
  'a pause that another hand ended after the last request leaves no note: the next request pauses again': {
    given: { pools: [pool({ ...managed, ...mark() })], requests: over },
    then: ['worker: as it is, no note, no event'],
  },
  'a pool that is being deleted is left alone: a write would only hold up its end': {
    given: { pools: [{ ...pool({ ...managed, ...mark() }, { paused: true }), isDeleted: true }], requests: over },
    then: [],
  },
  'while that is noted the pool is not paused': { given: { pools: [pool({ ...managed, ...lifted })] }, then: [] },
  'when no request stands any more that note goes, and the next request pauses again': {
    given: { pools: [pool({ ...managed, ...lifted })], requests: over },
    then: ['worker: as it is, no note, no event'],
  },
  'a note that another hand changed is not ours: the pause is left to them': {
    given: { pools: [pool({ ...managed, 'cofferdam.io/paused-by': 'ann' }, { paused: true })], requests: over },
    then: [],
  },
  'a node of a pool of its own pauses that pool, and not the one of all workers': {
    given: { pools: [pool(managed), pool(managed, {}, 'infra')], requests: known([request('i-1')]) },
    then: ['infra: true, since, PoolPaused'],
  },
  'a master that is a worker too pauses the pool of masters, by whose rules it is updated': {
    given: {
      pools: [pool(managed), pool(managed, {}, 'infra'), pool(managed, {}, 'master')],
      nodes: [node('m-1', 'worker', 'infra', 'master')],
      requests: known([request('m-1')]),
    },
    then: ['master: true, since, PoolPaused'],
  },
  'a request on a node of no pool pauses none': {
    given: { pools: [pool(managed)], requests: known([request('m-1')]) },
    then: [],
  },
  'a pool whose selector cannot be read is left alone, and the others are managed': {
    given: { pools: [pool(managed, { nodeSelector: { matchExpressions: 'all' } }, 'infra'), pool(managed)] },
    then: ['worker: true, since, PoolPaused'],
  },
  'which requests stand is not known: nothing is paused and nothing resumed': {
    given: {
      pools: [pool({ ...managed, ...mark() }, { paused: true }), pool(managed, {}, 'infra')],
      requests: unknown('not read'),
    },
    then: [],
  },
}

describe('the pause of a pool', () => {
  it.each(Object.entries(cases))('%s', (_sentence, { given, then }) => {
    expect(decide(given)).toEqual(then)
  })

  it('is judged again when its time is over', () => {
    const pools = [pool({ ...managed, ...mark() }, { paused: true })]
    const requests = known([request('w-1')])
    const { recheckAfterMs } = decidePauses({ pools, nodes: [node('w-1', 'worker')], requests, nowMs })
    expect(recheckAfterMs).toBe(longestPauseMs - 60_000)
  })

  it('of two pools is judged again when the first is over, and of none never', () => {
    const paused = (name: string, sinceMs: number) => pool({ ...managed, ...mark(sinceMs) }, { paused: true }, name)
    const pools = [paused('worker', nowMs - 60_000), paused('infra', nowMs - 120_000)]
    const nodes = [node('w-1', 'worker'), node('i-1', 'infra')]
    const requests = known([request('w-1'), request('i-1')])
    expect(decidePauses({ pools, nodes, requests, nowMs }).recheckAfterMs).toBe(longestPauseMs - 120_000)
    expect(decidePauses({ pools: [pool({})], nodes, requests, nowMs }).recheckAfterMs).toBeUndefined()
  })
})
