import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import { closingOf, closingText, isClosedToPods } from './closed-node.ts'

type Spec = NonNullable<Node['spec']>

const tainted = (key: string, more: object = {}): Spec => ({ taints: [{ key, effect: 'NoSchedule', ...more }] })
const said = (spec: Spec) => {
  const closing = closingOf({ spec })
  return closing === undefined ? 'open' : closingText(closing)
}

const cases: Record<string, { given: Spec; then: string }> = {
  'a node without anything is open': { given: {}, then: 'open' },
  'a cordoned node is closed': { given: { unschedulable: true }, then: 'cordoned' },
  'Karpenter closes a node by its taint alone': {
    given: tainted('karpenter.sh/disrupted'),
    then: 'closed by taint karpenter.sh/disrupted (Karpenter)',
  },
  'Karpenter before version 1 had another taint: a node that it emptied was taken for one that stays': {
    given: tainted('karpenter.sh/disruption', { value: 'disrupting' }),
    then: 'closed by taint karpenter.sh/disruption (Karpenter)',
  },
  'the cluster autoscaler closes the node that it removes': {
    given: tainted('ToBeDeletedByClusterAutoscaler', { value: '1700000000' }),
    then: 'closed by taint ToBeDeletedByClusterAutoscaler (cluster autoscaler)',
  },
  'a node that the cluster autoscaler only considers is open: else nodes that stay would lose their protection': {
    given: tainted('DeletionCandidateOfClusterAutoscaler', { effect: 'PreferNoSchedule' }),
    then: 'open',
  },
  'medik8s closes the node that it maintains': {
    given: tainted('medik8s.io/drain'),
    then: 'closed by taint medik8s.io/drain (medik8s)',
  },
  'the taint of the cordon alone, which lags behind it, closes nothing': {
    given: tainted('node.kubernetes.io/unschedulable'),
    then: 'open',
  },
  'a node that is set aside for other pods is open': { given: tainted('dedicated'), then: 'open' },
  'both signs are named': {
    given: { unschedulable: true, ...tainted('karpenter.sh/disrupted') },
    then: 'cordoned and closed by taint karpenter.sh/disrupted (Karpenter)',
  },
  'where taints cannot be read the node counts as closed: it may be one that is being emptied': {
    given: { taints: [null] as never },
    then: 'closed by taints that cannot be read (spec.taints is not a list of taints)',
  },
  'taints that are no list cannot be read either': {
    given: { unschedulable: true, taints: 'karpenter.sh/disrupted' as never },
    then: 'cordoned and closed by taints that cannot be read (spec.taints is not a list of taints)',
  },
}

describe('what counts as a closing node', () => {
  it.each(Object.entries(cases))('%s', (_name, { given, then }) => {
    expect(said(given)).toBe(then)
    expect(isClosedToPods({ spec: given })).toBe(then !== 'open')
  })

  it('a node without a spec is open', () => expect(closingOf({})).toBeUndefined())
})
