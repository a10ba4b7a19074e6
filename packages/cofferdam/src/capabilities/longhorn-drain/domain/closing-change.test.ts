import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import { type CordonChange, cordonedByAnnotation } from '../../../shared/cordon-mark.ts'
import { type ClosingChange, closingEventOf, cordonChangeOf } from './closing-change.ts'

const own = 'longhorn-drain'
const lifted = 'longhorn-drain, lifted'

interface Given {
  readonly to: ClosingChange['to']
  readonly isTainted?: boolean
  readonly isCordoned?: boolean
  readonly mark?: string
  /** Who cordoned it, by the managed fields. */
  readonly by?: string
}

function nodeOf({ isTainted = false, isCordoned = false, mark, by }: Given): Node {
  const fieldsV1 = { 'f:spec': { 'f:unschedulable': {} } }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'n1',
      ...(mark === undefined ? {} : { annotations: { [cordonedByAnnotation]: mark } }),
      ...(by === undefined ? {} : { managedFields: [{ manager: by, fieldsV1 }] }),
    },
    spec: {
      ...(isTainted ? { taints: [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' as const }] } : {}),
      ...(isCordoned ? { unschedulable: true } : {}),
    },
  }
}

const cases: Record<string, { given: Given; then: CordonChange | undefined }> = {
  'a node that is still closed by its taint alone is cordoned with our mark': {
    given: { to: 'cordon', isTainted: true },
    then: { isCordoned: true, mark: own },
  },
  'a node that another client cordoned meanwhile gets no mark of ours': {
    given: { to: 'cordon', isTainted: true, isCordoned: true },
    then: undefined,
  },
  'a node whose taint is gone meanwhile is not cordoned': { given: { to: 'cordon' }, then: undefined },
  'a node that another client uncordoned meanwhile is not cordoned again': {
    given: { to: 'cordon', isTainted: true, mark: lifted },
    then: undefined,
  },
  'our cordon is lifted with our mark': {
    given: { to: 'lift', isCordoned: true, mark: own },
    then: { isCordoned: false, mark: null },
  },
  'our cordon is known by its writer too': {
    given: { to: 'lift', isCordoned: true, mark: own, by: 'cofferdam-operator' },
    then: { isCordoned: false, mark: null },
  },
  'a cordon that another client set after an uncordon that nothing saw is left, and only our mark goes': {
    given: { to: 'lift', isCordoned: true, mark: own, by: 'kubectl-cordon' },
    then: { mark: null },
  },
  'a cordon without our mark is left': { given: { to: 'lift', isCordoned: true }, then: undefined },
  'a cordon of a NodeDisruption is left': { given: { to: 'lift', isCordoned: true, mark: 'uid' }, then: undefined },
  'a taint that is there again meanwhile keeps the cordon': {
    given: { to: 'lift', isTainted: true, isCordoned: true, mark: own },
    then: undefined,
  },
  'what is taken back goes though the taint is there': {
    given: { to: 'withdraw', isTainted: true, isCordoned: true, mark: own },
    then: { isCordoned: false, mark: null },
  },
  'an uncordon of another client is noted': {
    given: { to: 'yield', isTainted: true, mark: own },
    then: { mark: lifted },
  },
  'a node that is cordoned again meanwhile is not noted': {
    given: { to: 'yield', isTainted: true, isCordoned: true, mark: own },
    then: undefined,
  },
  'a note is forgotten without touching the cordon': {
    given: { to: 'forget', isCordoned: true, mark: lifted },
    then: { mark: null },
  },
  'our mark on a cordoned node is not forgotten': {
    given: { to: 'forget', isCordoned: true, mark: own },
    then: undefined,
  },
}

describe('what is written on the node as the API server has it', () => {
  it.each(Object.entries(cases))('%s', (_name, { given, then }) =>
    expect(cordonChangeOf(given, nodeOf(given))).toEqual(then),
  )
})

it.each([
  ['cordon', { isCordoned: true, mark: own }, 'CordonedForLonghorn'],
  ['lift', { isCordoned: false, mark: null }, 'LonghornCordonLifted'],
  ['withdraw', { isCordoned: false, mark: null }, 'LonghornCordonLifted'],
  ['lift', { mark: null }, 'GuideYields'],
  ['yield', { mark: lifted }, 'GuideYields'],
  ['forget', { mark: null }, undefined],
] as const)('after %s of %o the event is %s', (to, written, reason) => {
  expect(closingEventOf({ node: 'n1', uid: '', to, explanation: 'why' }, written)?.reason).toBe(reason)
})
