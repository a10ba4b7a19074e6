import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import type { BudgetFacts, PodFacts } from '../domain/snapshot.ts'
import { ceph, job0, minutes, nowMs, type Scenario, tell, web, web0 } from '../domain/testing/fixture.ts'
import { findForeseenWedges, findLastingObstacles } from './drain-obstacles.ts'

const leaving: PodFacts = { ...web0, wantsToStay: false }
const closed: BudgetFacts = { ...web, desiredHealthy: 3, disruptionsAllowed: 0 }
const second: BudgetFacts = { ...web, name: 'all', uid: 'all-1' }
const named = (found: readonly { readonly object: string; readonly reason: string }[]) =>
  found.map(({ object, reason }) => `${object} ${reason}`)
const noStorage = () => false

describe('what no waiting ends', () => {
  const rows: Record<string, { readonly given: Scenario; readonly then: readonly string[] }> = {
    'a pod that stays and one that leaves are in no way: a plan that named them would stop for nothing': {
      given: {},
      then: [],
    },
    'a pod without a controller is named unless the request agrees: its eviction deletes it for good': {
      given: { pods: [{ ...job0, losses: ['force'] }] },
      then: ['pod/shop/job-0 PodHasNoController'],
    },
    'the same is not, where the request agrees': {
      given: { pods: [{ ...job0, losses: ['force'] }], request: { accepts: ['force'] } },
      then: [],
    },
    'emptyDir data is named by itself: consent to one loss is none to the other': {
      given: { pods: [{ ...job0, losses: ['deleteEmptyDirData'] }], request: { accepts: ['force'] } },
      then: ['pod/shop/job-0 PodHasEmptyDirData'],
    },
    'a budget that allows nothing when all its pods are healthy: the eviction would be retried for ever': {
      given: { pods: [leaving], budgets: [closed] },
      then: ['pdb/shop/web BudgetImpossible'],
    },
    'the same for a pod that stays: its lock could never be acquired': {
      given: { pods: [web0], budgets: [closed] },
      then: ['pdb/shop/web BudgetImpossible'],
    },
    'a budget that is only exhausted now is not named: its pods become healthy again': {
      given: { pods: [leaving], budgets: [{ ...web, currentHealthy: 2, disruptionsAllowed: 0 }] },
      then: [],
    },
    'more pods of a budget stay than may be away: the reboot would take them all down': {
      given: { pods: [web0, { ...web0, name: 'web-1', uid: 'web-1-1' }] },
      then: ['pdb/shop/web BudgetImpossible'],
    },
    'a pod of two budgets: the eviction API refuses it, whatever they allow': {
      given: { pods: [{ ...leaving, budgetUids: ['web-1', 'all-1'] }], budgets: [web, second] },
      then: ['pod/shop/web-0 BudgetOverlap'],
    },
    'storage that needs the node for good': {
      given: { storage: [{ ...ceph, mayGo: known({ allowed: false, explanation: 'The last copy.', lasts: true }) }] },
      then: ['storage/rook-ceph/main StorageNeedsNode'],
    },
    'storage that refuses for now, or is not known, is no lasting obstacle: the node waits in its wave': {
      given: {
        storage: [
          { ...ceph, mayGo: known({ allowed: false, explanation: 'Recovery.' }) },
          { ...ceph, key: 'storage/rook-ceph/other', mayGo: unknown('not read') },
        ],
      },
      then: [],
    },
    'a limit of 0: maintenance is stopped, and no node would ever get a place': {
      given: { limits: known([{ key: 'limit/all', most: 0, away: [], open: new Set() }]) },
      then: ['limit/all MaintenanceLimit'],
    },
  }
  it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
    expect(named(findLastingObstacles(tell(given), noStorage))).toEqual(then)
  })

  it('a budget that storage opens and closes is not judged by what it allows now: every node with OSDs would count as stuck', () => {
    const snapshot = tell({ pods: [leaving], budgets: [closed] })
    expect(findLastingObstacles(snapshot, ({ name }) => name === 'web')).toEqual([])
  })
})

describe('what a drain can stop at although nothing forbids it', () => {
  const more = { ...leaving, name: 'web-1', uid: 'web-1-1' }
  const ended = (endsMs: number, finalizers: readonly string[] = []): PodFacts => {
    return { ...job0, isLeaving: true, leaving: { sinceMs: undefined, endsMs, finalizers } }
  }
  const rows: Record<string, { readonly given: Scenario; readonly then: readonly string[] }> = {
    'one pod of a budget that allows one: nothing is foreseen': { given: { pods: [leaving] }, then: [] },
    'two pods of a budget that allows one: the second needs a place for the first elsewhere': {
      given: { pods: [leaving, more] },
      then: ['pdb/shop/web BudgetExhausted'],
    },
    'a pod that should have ended an hour ago: the drain waits for it': {
      given: { pods: [ended(nowMs - minutes(60), ['example.com/keep'])] },
      then: ['pod/shop/job-0 PodIsLeaving'],
    },
    'a pod within its grace period, or little beyond it, is on its way': {
      given: { pods: [ended(nowMs + minutes(1)), ended(nowMs - minutes(5))] },
      then: [],
    },
  }
  it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
    expect(named(findForeseenWedges(tell(given), noStorage))).toEqual(then)
  })

  it('a finalizer that keeps a pod is named: somebody has to remove it', () => {
    const [found] = findForeseenWedges(tell({ pods: [ended(nowMs - minutes(60), ['example.com/keep'])] }), noStorage)
    expect(found?.why).toContain('finalizer example.com/keep keeps it')
  })
})
