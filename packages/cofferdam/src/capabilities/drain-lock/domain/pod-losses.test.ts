import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import { decideDisruption } from './decide.ts'
import { lossesOf } from './pod-losses.ts'
import type { PodFacts, PodLoss } from './snapshot.ts'
import {
  acting,
  blank,
  drained,
  draining,
  granted,
  inWords,
  job0,
  locked,
  minutes,
  nowMs,
  type Outcome,
  planned,
  type Scenario,
  tell,
  web,
  web0,
} from './testing/fixture.ts'

const controlled = (kind: string) => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name: 'o', uid: 'o', controller: true }],
})
const scratch = { volumes: [{ name: 'scratch', emptyDir: {} }] }
const pod = (metadata: object, { spec = {}, phase = 'Running' }: { spec?: object; phase?: string } = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', ...metadata },
    spec: { containers: [], ...spec },
    status: { phase },
  }) as Pod

describe('what an eviction destroys', () => {
  const rows: Record<string, [Pod, PodLoss[]]> = {
    'a pod of a ReplicaSet is created again': [pod(controlled('ReplicaSet')), []],
    'a pod that no controller has is gone for good': [pod({}), ['force']],
    'an owner that is not its controller does not create it again': [
      pod({ ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'o' }] }),
      ['force'],
    ],
    'data in an emptyDir goes with the pod': [
      pod(controlled('StatefulSet'), { spec: scratch }),
      ['deleteEmptyDirData'],
    ],
    'an emptyDir in memory counts too, as in kubectl': [
      pod(controlled('StatefulSet'), { spec: { volumes: [{ name: 'm', emptyDir: { medium: 'Memory' } }] } }),
      ['deleteEmptyDirData'],
    ],
    'a bare pod with an emptyDir loses both': [pod({}, { spec: scratch }), ['force', 'deleteEmptyDirData']],
    'other volumes outlive the pod': [
      pod(controlled('ReplicaSet'), { spec: { volumes: [{ name: 'c', configMap: { name: 'c' } }] } }),
      [],
    ],
    'a bare pod that has finished has done its work': [pod({}, { spec: scratch, phase: 'Succeeded' }), []],
    'a pod of a DaemonSet is not evicted': [pod(controlled('DaemonSet'), { spec: scratch }), []],
    'a mirror pod is not evicted': [pod({ annotations: { 'kubernetes.io/config.mirror': 'x' } }), []],
  }
  it.each(Object.entries(rows))('%s', (_sentence, [seen, losses]) => expect(lossesOf(seen)).toEqual(losses))
})

const bare: PodFacts = { ...job0, name: 'batch', uid: 'batch-1', losses: ['force'] }
const cache: PodFacts = { ...job0, name: 'cache-0', uid: 'cache-0-1', losses: ['deleteEmptyDirData'] }
const stayer: PodFacts = { ...web0, losses: ['force', 'deleteEmptyDirData'] }
const bareWaits = 'pod/shop/batch: PodHasNoController, spec.force of nodedisruption/reboot-a'
const cacheWaits = 'pod/shop/cache-0: PodHasEmptyDirData, spec.deleteEmptyDirData of nodedisruption/reboot-a'
const late = nowMs + minutes(30)
const firstForLong = { ...blank, firstInQueueSinceMs: nowMs }
const exhausted = { ...web, disruptionsAllowed: 0 }
const cordoned = { isCordoned: true }
const aside = ['queue for node/node-a, aside always']

const rows: Record<string, { given: Scenario; then: Outcome }> = {
  'a bare pod keeps a request that does not ask for its loss from beginning: nothing is taken, cordoned or evicted': {
    given: { pods: [job0, bare] },
    then: { reason: 'PodHasNoController', phase: 'Waiting', blockedBy: [bareWaits], steps: aside },
  },
  'emptyDir data keeps it from beginning too, and every such pod is named': {
    given: { pods: [bare, cache] },
    then: { reason: 'PodHasNoController', phase: 'Waiting', blockedBy: [bareWaits, cacheWaits], steps: aside },
  },
  'a request that asks for the one loss still waits for the other': {
    given: { pods: [bare, cache], request: { accepts: ['force'] } },
    then: { reason: 'PodHasEmptyDirData', phase: 'Waiting', blockedBy: [cacheWaits], steps: aside },
  },
  'a request that asks for both begins': {
    given: { pods: [bare, cache], request: { accepts: ['force', 'deleteEmptyDirData'] } },
    then: { reason: 'LocksAsked', phase: 'Waiting', steps: ['take node/node-a'] },
  },
  'a pod that stays on the node loses nothing, and keeps nobody waiting': {
    given: { pods: [stayer, job0] },
    then: { reason: 'LocksAsked', phase: 'Waiting', steps: ['take node/node-a, pdb/shop/web'] },
  },
  'one that asks to stay and may not is evicted, so its loss has to be asked for': {
    given: { pods: [{ ...bare, wantsToStay: true, toleratesMs: 0 }] },
    then: {
      reason: 'PodHasNoController',
      phase: 'Waiting',
      blockedBy: [bareWaits],
      steps: aside,
      warnings: [
        'pod/shop/batch asks to stay but is evicted: it tolerates an unreachable or unready node for 0 s, and 900 s are needed',
      ],
    },
  },
  'broken glass is about the locks of others, and destroys no data': {
    given: { pods: [cache], request: { breakGlass: { by: 'eve', reason: 'fire', untilMs: nowMs + minutes(1) } } },
    then: { reason: 'PodHasEmptyDirData', phase: 'Waiting', blockedBy: [cacheWaits], steps: aside },
  },
  'a bare pod that comes while keys are held has everything given back': {
    given: { pods: [web0, bare], ledger: granted, record: planned, budgets: [locked()] },
    then: {
      reason: 'PodHasNoController',
      phase: 'Waiting',
      blockedBy: [bareWaits],
      steps: ['unlock shop/web', 'step back under 1, aside always'],
    },
  },
  'a bare pod that comes when the drain has begun is not evicted, nor is anything else until somebody says so': {
    given: { pods: [web0, job0, bare], ledger: acting, record: draining, budgets: [locked()], node: cordoned },
    then: { reason: 'PodHasNoController', phase: 'Draining', blockedBy: [bareWaits] },
  },
  'a bare pod that comes when the node may go takes that word back': {
    given: { pods: [web0, bare], ledger: acting, record: drained, budgets: [locked()], node: cordoned },
    then: { reason: 'PodHasNoController', phase: 'Draining', blockedBy: [bareWaits], steps: ['record Draining'] },
  },
  'a pod that is on its way already is not held back by anybody': {
    given: { pods: [{ ...bare, isLeaving: true }], ledger: acting, record: draining, budgets: [], node: cordoned },
    then: {
      reason: 'PodsLeaving',
      phase: 'Draining',
      steps: ['record Draining'],
      blockedBy: ['pod/shop/batch: PodIsLeaving, kubelet of node-a'],
    },
  },
  'locks that cannot be had are waited for when giving them up would destroy the pod that was to stay': {
    given: { nowMs: late, record: firstForLong, pods: [stayer], budgets: [exhausted] },
    then: {
      reason: 'BudgetExhausted',
      phase: 'Waiting',
      blockedBy: ['pdb/shop/web: BudgetExhausted, its own pods'],
      steps: ['queue for node/node-a, pdb/shop/web, aside always'],
    },
  },
  'they are given up where that loss was asked for': {
    given: {
      nowMs: late,
      record: firstForLong,
      pods: [stayer],
      budgets: [exhausted],
      request: { accepts: ['force', 'deleteEmptyDirData'] },
    },
    then: { reason: 'FellBack', phase: 'Waiting', steps: ['record Waiting'] },
  },
}

describe('pods that would be destroyed unasked', () => {
  it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
    expect(inWords(decideDisruption(tell(given)))).toEqual(then)
  })
})
