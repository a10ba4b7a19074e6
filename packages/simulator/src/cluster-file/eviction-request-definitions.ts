import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { evictionRequests, lifecycleEvictions } from '@cofferdam/kubernetes/api/kinds/eviction-requests.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { buildResourceDefinition } from '@cofferdam/kubernetes/api/resource-definition.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'

const text: JsonObject = { type: 'string' }
const status: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const isFixed = (field: string): JsonObject => ({ rule: 'self == oldSelf', message: `${field} is immutable` })
const intents = ['Eviction', 'Withdrawn']

const target: JsonObject = {
  type: 'object',
  required: ['pod'],
  properties: { pod: { type: 'object', required: ['name', 'uid'], properties: { name: text, uid: text } } },
  'x-kubernetes-validations': [isFixed('target')],
}

/** A domain, a slash and a name. */
const requester: JsonObject = {
  type: 'string',
  pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/[A-Za-z0-9._~%!$&()*+,;=:@-]+$',
  'x-kubernetes-validations': [isFixed('requesterName')],
}

/** The kinds of KEP-4563, which a real server has built in behind a feature gate. Pods name their responders besides. */
export function evictionRequestDefinitions(): KubeObject[] {
  return [
    build(evictionRequests, 'What a requester wants of one pod.', {
      type: 'object',
      required: ['target', 'requesterName', 'intent'],
      properties: { target, requesterName: requester, intent: { type: 'string', enum: intents } },
    }),
    build(lifecycleEvictions, 'How far the responders of one pod have come.', {
      type: 'object',
      required: ['target'],
      properties: { target },
    }),
  ]
}

function build({ group, kind, plural, version }: ResourceType, description: string, spec: JsonObject): KubeObject {
  const versions = [{ name: version, description, required: ['spec'], properties: { spec, status }, columns: [] }]
  return buildResourceDefinition({ group, kind, plural, versions })
}
