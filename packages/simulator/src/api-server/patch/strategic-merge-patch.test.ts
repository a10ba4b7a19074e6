import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { describe, expect, it } from 'vitest'
import { builtinSchema } from '../builtin/schemas.ts'
import type { Schema } from '../schema/schema.ts'
import { deepFreeze } from '../store/deep-freeze.ts'
import { applyStrategicMergePatch } from './strategic-merge-patch.ts'

const schemas = {
  Deployment: builtinSchema('apps/v1', 'Deployment') as Schema,
  Node: builtinSchema('v1', 'Node') as Schema,
  Pod: builtinSchema('v1', 'Pod') as Schema,
  PodDisruptionBudget: builtinSchema('policy/v1', 'PodDisruptionBudget') as Schema,
}

interface Case {
  readonly kind: keyof typeof schemas
  readonly given: JsonObject
  readonly patch: JsonObject
  readonly then: JsonObject
}

const table: Record<string, Case> = {
  'kubectl label adds one label and leaves the others': {
    kind: 'Pod',
    given: { metadata: { name: 'a', labels: { app: 'web' } } },
    patch: { metadata: { labels: { tier: 'front' } } },
    then: { metadata: { name: 'a', labels: { app: 'web', tier: 'front' } } },
  },
  'kubectl cordon sets unschedulable': {
    kind: 'Node',
    given: { metadata: { name: 'n' }, spec: { podCIDR: '10.0.0.0/24' } },
    patch: { spec: { unschedulable: true } },
    then: { metadata: { name: 'n' }, spec: { podCIDR: '10.0.0.0/24', unschedulable: true } },
  },
  'kubectl uncordon removes unschedulable': {
    kind: 'Node',
    given: { spec: { unschedulable: true } },
    patch: { spec: { unschedulable: null } },
    then: { spec: {} },
  },
  'kubectl taint replaces the list of taints': {
    kind: 'Node',
    given: { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } },
    patch: { spec: { taints: [{ key: 'b', effect: 'NoExecute', timeAdded: null }] } },
    then: { spec: { taints: [{ key: 'b', effect: 'NoExecute' }] } },
  },
  'kubectl rollout restart adds an annotation to the template': {
    kind: 'Deployment',
    given: { spec: { template: { spec: { containers: [{ name: 'a', image: 'x' }] } } } },
    patch: { spec: { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } } } } },
    then: {
      spec: {
        template: {
          metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } },
          spec: { containers: [{ name: 'a', image: 'x' }] },
        },
      },
    },
  },
  'kubectl set image changes one container of two': {
    kind: 'Deployment',
    given: {
      spec: {
        template: {
          spec: {
            containers: [
              { name: 'a', image: 'x:1', ports: [{ containerPort: 80 }] },
              { name: 'b', image: 'y:1' },
            ],
          },
        },
      },
    },
    patch: {
      spec: {
        template: {
          spec: {
            '$setElementOrder/containers': [{ name: 'a' }, { name: 'b' }],
            containers: [{ name: 'b', image: 'y:2' }],
          },
        },
      },
    },
    then: {
      spec: {
        template: {
          spec: {
            containers: [
              { name: 'a', image: 'x:1', ports: [{ containerPort: 80 }] },
              { name: 'b', image: 'y:2' },
            ],
          },
        },
      },
    },
  },
  'kubectl apply changes one container, removes an environment variable and reorders': {
    kind: 'Deployment',
    given: {
      spec: {
        template: {
          spec: {
            containers: [
              {
                name: 'web',
                image: 'web:1',
                env: [
                  { name: 'A', value: '1' },
                  { name: 'B', value: '2' },
                ],
              },
              { name: 'log', image: 'log:1', env: [{ name: 'C', value: '3' }] },
              { name: 'injected', image: 'mesh:1' },
            ],
          },
        },
      },
    },
    patch: {
      spec: {
        template: {
          spec: {
            '$setElementOrder/containers': [{ name: 'log' }, { name: 'web' }],
            containers: [
              {
                name: 'web',
                image: 'web:2',
                '$setElementOrder/env': [{ name: 'B' }],
                env: [{ name: 'A', $patch: 'delete' }],
              },
            ],
          },
        },
      },
    },
    then: {
      spec: {
        template: {
          spec: {
            containers: [
              { name: 'log', image: 'log:1', env: [{ name: 'C', value: '3' }] },
              { name: 'web', image: 'web:2', env: [{ name: 'B', value: '2' }] },
              { name: 'injected', image: 'mesh:1' },
            ],
          },
        },
      },
    },
  },
  'items only the server has keep their place before the items they preceded': {
    kind: 'Pod',
    given: { spec: { containers: [{ name: 's' }, { name: 'a' }, { name: 'b' }] } },
    patch: {
      spec: {
        '$setElementOrder/containers': [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
        containers: [{ name: 'c' }],
      },
    },
    then: { spec: { containers: [{ name: 's' }, { name: 'a' }, { name: 'b' }, { name: 'c' }] } },
  },
  'a new item stands before the items that only the server has': {
    kind: 'Pod',
    given: { status: { conditions: [{ type: 'Ready', status: 'False' }] } },
    patch: { status: { conditions: [{ type: 'Initialized', status: 'True' }] } },
    then: {
      status: {
        conditions: [
          { type: 'Initialized', status: 'True' },
          { type: 'Ready', status: 'False' },
        ],
      },
    },
  },
  'a list of values is united, in the order of the patch': {
    kind: 'Pod',
    given: { metadata: { finalizers: ['a/1', 'b/2'] } },
    patch: { metadata: { finalizers: ['b/2', 'c/3'] } },
    then: { metadata: { finalizers: ['a/1', 'b/2', 'c/3'] } },
  },
  'values are deleted from a list of values': {
    kind: 'Pod',
    given: { metadata: { finalizers: ['a/1', 'b/2'] } },
    patch: { metadata: { '$deleteFromPrimitiveList/finalizers': ['a/1', 'never/there'] } },
    then: { metadata: { finalizers: ['b/2'] } },
  },
  'a map is replaced on request': {
    kind: 'Pod',
    given: { metadata: { labels: { a: '1', b: '2' } } },
    patch: { metadata: { labels: { $patch: 'replace', c: '3' } } },
    then: { metadata: { labels: { c: '3' } } },
  },
  'a map is emptied on request': {
    kind: 'Pod',
    given: { metadata: { labels: { a: '1' } } },
    patch: { metadata: { labels: { $patch: 'delete' } } },
    then: { metadata: { labels: {} } },
  },
  'a list is replaced on request although it would be merged': {
    kind: 'Pod',
    given: { spec: { containers: [{ name: 'a' }, { name: 'b' }] } },
    patch: { spec: { containers: [{ name: 'c' }, { $patch: 'replace' }] } },
    then: { spec: { containers: [{ name: 'c' }] } },
  },
  'keys that are not retained go': {
    kind: 'Deployment',
    given: { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } },
    patch: { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
    then: { spec: { strategy: { type: 'Recreate' } } },
  },
  'a volume that retains keys changes its source': {
    kind: 'Pod',
    given: {
      spec: {
        volumes: [
          { name: 'v', emptyDir: {} },
          { name: 'w', emptyDir: {} },
        ],
      },
    },
    patch: { spec: { volumes: [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] } },
    then: {
      spec: {
        volumes: [
          { name: 'v', hostPath: { path: '/x' } },
          { name: 'w', emptyDir: {} },
        ],
      },
    },
  },
  'a field with the strategy replace is not merged': {
    kind: 'PodDisruptionBudget',
    given: { spec: { selector: { matchLabels: { a: '1' } } } },
    patch: { spec: { selector: { matchLabels: { b: '2' } } } },
    then: { spec: { selector: { matchLabels: { b: '2' } } } },
  },
  'a directive in a field with the strategy replace stays, and is an unknown field to who reads it: its writer is warned':
    {
      kind: 'PodDisruptionBudget',
      given: { spec: { selector: { matchLabels: { a: '1' } } } },
      patch: { spec: { selector: { $patch: 'replace', matchLabels: { b: '2' } } } },
      then: { spec: { selector: { $patch: 'replace', matchLabels: { b: '2' } } } },
    },
  'directives and nulls do not end up in what is new': {
    kind: 'Pod',
    given: {},
    patch: {
      spec: {
        containers: [{ name: 'a', env: [{ name: 'X', $patch: 'delete' }], image: null }],
        '$setElementOrder/containers': [{ name: 'a' }],
      },
    },
    then: { spec: { containers: [{ name: 'a', env: [] }] } },
  },
}

const refused: Record<string, { kind: keyof typeof schemas; given: JsonObject; patch: JsonObject; then: JsonObject }> =
  {
    'an item without the key it is merged by is refused as the real server does': {
      kind: 'Pod',
      given: { spec: { containers: [{ name: 'a' }] } },
      patch: { spec: { containers: [{ image: 'x', ports: [{ containerPort: 80 }] }] } },
      then: {
        code: 500,
        reason: '',
        message: 'map: map[image:x ports:[map[containerPort:80]]] does not contain declared merge key: name',
      },
    },
    'a directive nobody knows is refused': {
      kind: 'Pod',
      given: { metadata: { labels: { a: '1' } } },
      patch: { metadata: { labels: { $patch: 'wipe' } } },
      then: { code: 500, reason: '', message: 'unknown patch type: wipe in map: map[$patch:wipe]' },
    },
    'a field that is set but not retained is refused': {
      kind: 'Deployment',
      given: { spec: { strategy: {} } },
      patch: { spec: { strategy: { $retainKeys: ['type'], rollingUpdate: {} } } },
      then: { code: 400, reason: 'BadRequest', message: 'invalid patch format of retainKeys' },
    },
    'an order without a list is refused': {
      kind: 'Pod',
      given: {},
      patch: { $setElementOrder: [] },
      then: { code: 400, reason: 'BadRequest', message: 'invalid patch format of setElementOrder list' },
    },
    'items in another order than they are told to have are refused': {
      kind: 'Pod',
      given: { spec: { containers: [] } },
      patch: {
        spec: {
          containers: [{ name: 'b' }, { name: 'a' }],
          '$setElementOrder/containers': [{ name: 'a' }, { name: 'b' }],
        },
      },
      then: {
        code: 500,
        reason: '',
        message:
          "The order in patch list:\n[map[name:b] map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:a] map[name:b]]\n",
      },
    },
    'a list of lists cannot be merged': {
      kind: 'Pod',
      given: { metadata: { finalizers: ['a'] } },
      patch: { metadata: { finalizers: [['b']] } },
      then: {
        code: 422,
        reason: 'Invalid',
        message: 'the server rejected our request due to an error in our request',
      },
    },
  }

describe('strategic merge patch', () => {
  for (const [sentence, { kind, given, patch, then }] of Object.entries(table)) {
    it(sentence, () => {
      expect(applyStrategicMergePatch(deepFreeze(given), deepFreeze(patch), schemas[kind])).toEqual(then)
    })
  }

  for (const [sentence, { kind, given, patch, then }] of Object.entries(refused)) {
    it(sentence, () => {
      expect(refusal(() => applyStrategicMergePatch(deepFreeze(given), deepFreeze(patch), schemas[kind]))).toEqual(then)
    })
  }

  it('returns the object itself when it changes nothing', () => {
    const given = deepFreeze({ metadata: { finalizers: ['a'] }, spec: { containers: [{ name: 'a', image: 'x' }] } })
    const patch = { metadata: { finalizers: ['a'], labels: null }, spec: { containers: [{ name: 'a', image: 'x' }] } }
    expect(applyStrategicMergePatch(given, patch, schemas.Pod)).toBe(given)
  })

  it('shares the items it leaves alone', () => {
    const given = deepFreeze({ spec: { containers: [{ name: 'a' }, { name: 'b' }], volumes: [{ name: 'v' }] } })
    const patch = { spec: { containers: [{ name: 'b', image: 'x' }] } }
    const patched = applyStrategicMergePatch(given, patch, schemas.Pod) as typeof given
    expect(patched.spec.containers[0]).toBe(given.spec.containers[0])
    expect(patched.spec.volumes).toBe(given.spec.volumes)
  })
})

function refusal(attempt: () => unknown): JsonObject {
  try {
    attempt()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { code: error.code, reason: error.reason, message: error.message }
  }
  return { code: 200 }
}
