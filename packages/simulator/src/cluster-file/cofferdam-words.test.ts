import { skipDrainAnnotation as skipDrain } from '@cofferdam/product/capabilities/drain-lock/observe/objects.ts'
import { machineBudgetName as budgetName } from '@cofferdam/product/capabilities/fencing/domain/budget-name.ts'
import * as settings from '@cofferdam/product/capabilities/longhorn-drain/domain/drain-settings.ts'
import * as policy from '@cofferdam/product/capabilities/longhorn-drain/domain/policy.ts'
import { drainPolicies as policies } from '@cofferdam/product/capabilities/longhorn-drain/domain/snapshot.ts'
import { expect, it } from 'vitest'
import { drainPolicies } from '../world/longhorn/drain-policies.ts'
import {
  drainPolicyLabel,
  drainPolicyParameter,
  longhornAnnotations,
  machineBudgetName,
  skipDrainAnnotation,
} from './cofferdam-words.ts'

it('what a cluster file asks of the operator is written in the words that the operator reads', () => {
  expect({ skipDrainAnnotation, drainPolicyLabel, drainPolicyParameter, ...longhornAnnotations }).toEqual({
    skipDrainAnnotation: skipDrain,
    drainPolicyLabel: policy.drainPolicyLabel,
    drainPolicyParameter: policy.drainPolicyParameter,
    manage: settings.manageAnnotation,
    wantedPolicy: settings.wantedPolicyAnnotation,
    rebootPolicy: settings.rebootPolicyAnnotation,
    trigger: settings.triggerAnnotation,
    surplus: settings.surplusAnnotation,
  })
  expect(drainPolicies).toEqual(policies)
})

it('the demo waits for the machine budget that the operator makes, even under the longest names of a cluster file', () => {
  const longest = { namespace: 'n'.repeat(50), name: 'c'.repeat(50) }
  expect(machineBudgetName(longest)).toBe(budgetName(longest))
})
