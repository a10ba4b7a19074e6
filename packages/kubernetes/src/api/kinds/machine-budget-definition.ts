import type { JsonObject } from '../json.ts'
import type { KubeObject } from '../kube-object.ts'
import { buildResourceDefinition, partOfUs } from '../resource-definition.ts'
import { machineDisruptionBudgets } from './machines.ts'

const text: JsonObject = { type: 'string' }
const count: JsonObject = { type: 'integer', format: 'int32' }
const texts: JsonObject = { type: 'object', additionalProperties: text }

const selector: JsonObject = {
  type: 'object',
  properties: {
    matchLabels: texts,
    matchExpressions: {
      type: 'array',
      items: {
        type: 'object',
        required: ['key', 'operator'],
        properties: { key: text, operator: text, values: { type: 'array', items: text } },
      },
    },
  },
}

/** Nobody serves this kind any more, so whoever installs us brings it. */
export function buildMachineBudgetDefinition(): KubeObject {
  const { group, version, plural, kind, namespaced } = machineDisruptionBudgets
  return buildResourceDefinition({
    group,
    kind,
    plural,
    namespaced,
    shortNames: ['mdb'],
    labels: partOfUs,
    versions: [
      {
        name: version,
        description: 'How many of the selected machines may be taken away at the same time by whoever mends machines.',
        properties: {
          spec: {
            type: 'object',
            properties: {
              maxUnavailable: {
                ...count,
                minimum: 0,
                description: 'How many may be away; not together with minAvailable.',
              },
              minAvailable: {
                ...count,
                minimum: 0,
                description: 'How many must stay; not together with maxUnavailable.',
              },
              selector,
            },
            'x-kubernetes-validations': [
              {
                rule: '!(has(self.maxUnavailable) && has(self.minAvailable))',
                message: 'set either maxUnavailable or minAvailable, not both',
              },
            ],
          },
          status: {
            type: 'object',
            properties: {
              observedGeneration: { type: 'integer', format: 'int64' },
              disruptionsAllowed: count,
              currentHealthy: count,
              desiredHealthy: count,
              expectedMachines: count,
              disruptedMachines: { type: 'object', additionalProperties: { type: 'string', format: 'date-time' } },
            },
          },
        },
        columns: [
          { name: 'Max Unavailable', type: 'integer', jsonPath: '.spec.maxUnavailable' },
          { name: 'Min Available', type: 'integer', jsonPath: '.spec.minAvailable', priority: 1 },
          { name: 'Expected', type: 'integer', jsonPath: '.status.expectedMachines' },
          { name: 'Healthy', type: 'integer', jsonPath: '.status.currentHealthy' },
          { name: 'Allowed', type: 'integer', jsonPath: '.status.disruptionsAllowed' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
      },
    ],
  })
}
