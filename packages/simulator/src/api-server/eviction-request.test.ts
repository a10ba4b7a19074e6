import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { describe, expect, it } from 'vitest'
import { parseEviction } from './eviction-request.ts'

const key = { namespace: 'default', name: 'web-0' }
const body: JsonObject = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web-0' } }

describe('an eviction that cannot be understood', () => {
  const refusals: Record<string, { with: JsonObject; dryRun?: boolean; code: number; says: string }> = {
    'is refused when it names another pod': {
      with: { metadata: { name: 'web-1' } },
      code: 400,
      says: 'name in URL does not match name in Eviction object',
    },
    'is refused when it names another namespace': {
      with: { metadata: { name: 'web-0', namespace: 'kube-system' } },
      code: 400,
      says: 'the namespace of the provided object does not match the namespace sent on the request',
    },
    'is refused when it is of another version': {
      with: { apiVersion: 'v1', kind: 'Pod' },
      code: 400,
      says: 'the API version in the data (v1) does not match the expected API version (policy/v1)',
    },
    'is refused when it is of another kind': {
      with: { kind: 'PodDisruptionBudget' },
      code: 400,
      says: 'not a Eviction object: PodDisruptionBudget',
    },
    'is refused when its grace period is no number': {
      with: { deleteOptions: { gracePeriodSeconds: 'soon' } },
      code: 400,
      says: 'Eviction in version "v1" cannot be handled as a Eviction: deleteOptions.gracePeriodSeconds must be an integer',
    },
    'is refused when query and body disagree on the dry run': {
      with: { deleteOptions: { dryRun: ['Some'] } },
      dryRun: true,
      code: 500,
      says: 'Non-matching dry-run options in request and content: [All] and [Some]',
    },
    'is refused when it asks to pass over unreadable data': {
      with: { deleteOptions: { ignoreStoreReadErrorWithClusterBreakingPotential: true } },
      code: 422,
      says: 'Eviction.policy "web-0" is invalid: deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: can not be set for pod eviction, try after removing the option',
    },
  }
  for (const [scenario, { with: changes, dryRun = false, code, says }] of Object.entries(refusals)) {
    it(scenario, () => {
      expect(() => parseEviction(key, { ...body, ...changes }, dryRun)).toThrow(
        expect.objectContaining({ code, message: says }),
      )
    })
  }
})

describe('an eviction that is understood', () => {
  it('needs no more than a name', () => {
    expect(parseEviction(key, { metadata: { name: 'web-0' } }, false)).toEqual({
      object: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web-0', namespace: 'default' } },
      dryRun: false,
      preconditions: {},
    })
  })

  it('carries what the deletion is to be like', () => {
    const deleteOptions = {
      gracePeriodSeconds: 0,
      propagationPolicy: 'Foreground',
      preconditions: { uid: 'u', resourceVersion: '7' },
      dryRun: ['All'],
    }
    expect(parseEviction(key, { ...body, deleteOptions }, true)).toEqual({
      object: { ...body, metadata: { name: 'web-0', namespace: 'default' }, deleteOptions },
      dryRun: true,
      gracePeriodSeconds: 0,
      propagationPolicy: 'Foreground',
      preconditions: { uid: 'u', resourceVersion: '7' },
    })
  })
})
