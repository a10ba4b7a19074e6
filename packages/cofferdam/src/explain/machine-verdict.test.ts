import { expect, it } from 'vitest'
import { machineVerdicts } from './machine-verdict.ts'
import { fencedNode, fencingSeen, machine, machineBudget, osd } from './testing/fencing-objects.ts'
import { type FencingSeen, viewListedFencing } from './testing/listed-fencing.ts'
import { earlier } from './testing/sample-objects.ts'

const sick = ['n1', 'n2', 'n3', 'app'].map((name) => fencedNode(name, name !== 'n1'))
const fences = {
  'cofferdam.io/fences': JSON.stringify({ 'm-n1': { node: 'n1', bootID: '', scope: 'n1', since: earlier } }),
}
const downOsds = [osd(0, 'n1', false), osd(1, 'n2'), osd(2, 'n3')]

const cases: Record<string, { seen: Parameters<typeof fencingSeen>[0]; then: object }> = {
  'of a healthy cluster one may go, and each is free': { seen: {}, then: { state: 'free', reason: 'FenceAllowed' } },
  'is kept while storage cannot spare it': {
    seen: { budgets: [machineBudget(0, { evidence: { clean: false } })], nodes: sick },
    then: { state: 'kept', reason: 'FenceWaitsForData' },
  },
  'whose OSDs are down and that lost its label is free, whatever the budget': {
    seen: {
      budgets: [machineBudget(0, { evidence: { clean: false, up: '1-2' } })],
      nodes: sick,
      osds: downOsds,
      openshiftMachines: [machine('n1', { isLabelled: false }), machine('n2'), machine('n3')],
    },
    then: { state: 'free', reason: 'MachineHasNoOsds' },
  },
  'whose label has not been removed yet is kept by its budget: a remediator would have been refused that was told to go':
    {
      seen: { budgets: [machineBudget(0, { evidence: { clean: false, up: '1-2' } })], nodes: sick, osds: downOsds },
      then: { state: 'kept', reason: 'FenceReleasePending' },
    },
  'that was let through is being fenced': {
    seen: { budgets: [machineBudget(0, { annotations: fences })], nodes: sick },
    then: { state: 'fenced' },
  },
  'that is being deleted is being removed': {
    seen: { openshiftMachines: [machine('n1', { metadata: { deletionTimestamp: earlier } })] },
    then: { state: 'removed' },
  },
  'is kept without an operator: the page said that it may be fenced, and explain that nobody knows': {
    seen: { attendance: { isAttended: false } },
    then: { state: 'kept', reason: 'FenceUnknown' },
  },
}

it.each(Object.entries(cases))('a machine %s', async (_, { seen, then }) => {
  const view = await viewListedFencing(fencingSeen(seen) satisfies FencingSeen)
  const verdicts = view && machineVerdicts(view)
  expect(verdicts?.get('openshift/openshift-machine-api/m-n1')).toMatchObject({ name: 'm-n1', node: 'n1', ...then })
})
