import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import { closingOf } from '../../../shared/closed-node.ts'
import { cordonedByAnnotation } from '../../../shared/cordon-mark.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { ownCordonOf } from './closing-mark.ts'
import { decideClosing } from './closing-nodes.ts'
import type { LonghornObjects } from './parse-longhorn.ts'
import type { LonghornDrainSettings, LonghornNodeView } from './snapshot.ts'
import { longhornFixture, type VolumeSetting } from './testing/longhorn-fixture.ts'

interface Given extends Partial<Pick<LonghornDrainSettings, 'mode' | 'trigger' | 'isAutoscaled'>> {
  readonly spec: NonNullable<Node['spec']>
  readonly mark?: string
  readonly view?: Partial<LonghornNodeView>
  readonly volumes?: Readonly<Record<string, VolumeSetting>>
  readonly hasBudget?: boolean
  readonly policy?: string
  readonly phase?: NonNullable<NodeDisruption['status']>['phase']
  readonly mayBegin?: boolean
}

const taints: NonNullable<Node['spec']>['taints'] = [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }]
const tainted = { taints }
const cordoned = { unschedulable: true }
const both = { ...tainted, ...cordoned }
const own = 'longhorn-drain'
const lifted = 'longhorn-drain, lifted'
const copies: NonNullable<Given['volumes']> = { db: { copies: { n1: 'healthy', n2: 'healthy' } } }

function decide(given: Given): string {
  const { spec, mark, view = {}, mode = 'guide', trigger = 'cordon', phase, mayBegin = true } = given
  const kubeNode: Node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'n1',
      uid: 'u1',
      ...(mark === undefined ? {} : { annotations: { [cordonedByAnnotation]: mark } }),
    },
    spec,
  }
  const closing = closingOf(kubeNode)
  const ownCordon = ownCordonOf(kubeNode)
  const n1 = {
    isCordoned: closing !== undefined,
    ...(closing === undefined ? {} : { closing }),
    ...(ownCordon === undefined ? {} : { ownCordon }),
    hasBudget: given.hasBudget ?? true,
    ...view,
  }
  const fixture = longhornFixture({
    nodes: { n1, n2: {} },
    volumes: given.volumes ?? copies,
    ...(given.policy === undefined ? {} : { policy: given.policy }),
  })
  const snapshot = { ...fixture, settings: { ...fixture.settings, mode, trigger } }
  const disruptions = phase === undefined ? [] : [{ spec: { nodeName: 'n1' }, status: { phase } } as NodeDisruption]
  const objects = { kubeNodes: [kubeNode], disruptions } as unknown as LonghornObjects
  const [change, ...more] = decideClosing({ objects, snapshot }, { mayBegin })
  expect(more).toEqual([])
  if (change !== undefined) expect(change).toMatchObject({ node: 'n1', uid: 'u1' })
  return change?.to ?? 'nothing'
}

const cases: Record<string, { given: Given; then: ReturnType<typeof decide> }> = {
  'a node that Karpenter empties is cordoned: Longhorn did not see the taint and held it for ever': {
    given: { spec: tainted },
    then: 'cordon',
  },
  'where Cofferdam only observes, nothing is cordoned': { given: { spec: tainted, mode: 'observe' }, then: 'nothing' },
  'a node that another client has cordoned is left alone': { given: { spec: both }, then: 'nothing' },
  'an open node is left alone': { given: { spec: {} }, then: 'nothing' },
  'a budget that protects nothing holds an open node all the same, so the node is cordoned': {
    given: { spec: tainted, volumes: {} },
    then: 'cordon',
  },
  'a node with nothing of Longhorn on it is left alone': {
    given: { spec: tainted, volumes: {}, hasBudget: false },
    then: 'nothing',
  },
  'before the wanted policy is in force nothing is cordoned: Longhorn would let the node go by the mild one': {
    given: { spec: tainted, mayBegin: false },
    then: 'nothing',
  },
  'under an unknown policy nothing is cordoned: what it would bring about is not known': {
    given: { spec: tainted, policy: 'whatever' },
    then: 'nothing',
  },
  'with the trigger drain a taint alone costs nothing': { given: { spec: tainted, trigger: 'drain' }, then: 'nothing' },
  'with the trigger drain an eviction attempt begins it': {
    given: { spec: tainted, trigger: 'drain', view: { isDraining: true } },
    then: 'cordon',
  },
  'with the trigger drain a cordon that was set stays while the drain waits: what has begun goes on': {
    given: { spec: both, mark: own, trigger: 'drain' },
    then: 'nothing',
  },
  'taints that cannot be read are nothing to cordon for: when they are gone would not be known either': {
    given: { spec: { taints: [null] as never } },
    then: 'nothing',
  },
  'a NodeDisruption that waits does not keep the node from being cordoned': {
    given: { spec: tainted, phase: 'Waiting' },
    then: 'cordon',
  },
  'under a NodeDisruption that has drained the node it is not cordoned: its user may just have released it': {
    given: { spec: tainted, phase: 'Drained' },
    then: 'nothing',
  },
  'a mark of a request that is over does not keep the node from being cordoned': {
    given: { spec: tainted, mark: 'uid-of-a-request' },
    then: 'cordon',
  },
  'our cordon stays as long as the taint': { given: { spec: both, mark: own }, then: 'nothing' },
  'our cordon stays when all has moved: else Longhorn would place replicas there again': {
    given: { spec: both, mark: own, volumes: {}, hasBudget: false },
    then: 'nothing',
  },
  'our cordon stays while taints cannot be read': {
    given: { spec: { ...cordoned, taints: [null] as never }, mark: own },
    then: 'nothing',
  },
  'our cordon is lifted when the taint is gone': { given: { spec: cordoned, mark: own }, then: 'lift' },
  'our cordon is lifted under any policy': { given: { spec: cordoned, mark: own, policy: 'whatever' }, then: 'lift' },
  'our cordon stays under a NodeDisruption that has drained the node: an open node would count as released': {
    given: { spec: cordoned, mark: own, phase: 'Drained' },
    then: 'nothing',
  },
  'our cordon is lifted when the NodeDisruption is over': {
    given: { spec: cordoned, mark: own, phase: 'Completed' },
    then: 'lift',
  },
  'our cordon is taken back where Cofferdam does not manage Longhorn any more': {
    given: { spec: both, mark: own, mode: 'observe' },
    then: 'withdraw',
  },
  'an uncordon of another client is heeded while the taint is there': {
    given: { spec: tainted, mark: own },
    then: 'yield',
  },
  'an uncordon is heeded while the taints cannot be read: one of them may close the node': {
    given: { spec: { taints: 'many' as never }, mark: own },
    then: 'yield',
  },
  'what was heeded is remembered': { given: { spec: tainted, mark: lifted }, then: 'nothing' },
  'a cordon that another client sets after that is not ours': { given: { spec: both, mark: lifted }, then: 'nothing' },
  'nor is it when the taint is gone; only our mark goes': { given: { spec: cordoned, mark: lifted }, then: 'forget' },
  'a mark without a cordon and without a taint goes': { given: { spec: {}, mark: own }, then: 'forget' },
  'a mark of ours on a node that is heeded goes where Longhorn is not managed any more': {
    given: { spec: tainted, mark: lifted, mode: 'observe' },
    then: 'forget',
  },
}

describe('a node that Longhorn does not see as closed', () => {
  it.each(Object.entries(cases))('%s', (_name, { given, then }) => expect(decide(given)).toBe(then))
})
