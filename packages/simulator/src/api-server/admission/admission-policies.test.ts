import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { configMaps, namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { VirtualClock } from '../../harness/virtual-clock.ts'
import { ApiServer } from '../api-server.ts'
import { typeOfObject } from '../type-of-object.ts'
import { clusterAdmin, type UserInfo } from '../user-info.ts'
import type { AdmissionPolicy } from './admission-policy.ts'

const writer: UserInfo = { username: 'ann', groups: ['system:masters'] }
let server: ApiServer

beforeEach(() => {
  server = new ApiServer({ clock: new VirtualClock(0), random: seededRandom(1) })
  server.start()
})

const group = 'admissionregistration.k8s.io/v1'
const put = (object: object) =>
  server
    .as(clusterAdmin)
    .create(typeOfObject(server.catalogue, object as KubeObject) as ResourceType, object as KubeObject)

interface Given {
  readonly spec?: NonNullable<AdmissionPolicy['spec']>
  readonly actions?: readonly string[]
  readonly names?: readonly string[]
}

async function inForce({ spec = {}, actions = ['Deny'], names }: Given): Promise<void> {
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }
  const resourceRules = [{ ...rule, ...(names === undefined ? {} : { resourceNames: names }) }]
  const metadata = { name: 'small' }
  const matchConstraints = { resourceRules }
  await put({
    apiVersion: group,
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: { matchConstraints, validations: [{ expression: 'size(object.data) < 2' }], ...spec },
  })
  await put({
    apiVersion: group,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: { policyName: 'small', validationActions: actions },
  })
}

const write = (data: Readonly<Record<string, string>>, name = 'settings') =>
  server
    .as(writer)
    .create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name }, data })
    .then(
      () => 'admitted',
      (error: Error & { code?: number; reason?: string }) => `${error.code} ${error.reason}: ${error.message}`,
    )
const large = { a: '1', b: '2' }
const denied = `configmaps "settings" is forbidden: ValidatingAdmissionPolicy 'small' with binding 'small' denied request:`

const cases: Record<string, { given: Given; data?: Readonly<Record<string, string>>; then: string }> = {
  'lets through what it holds true': { given: {}, data: { a: '1' }, then: 'admitted' },
  'refuses what it does not, with the expression where it has no message': {
    given: {},
    then: `422 Invalid: ${denied} failed expression: size(object.data) < 2`,
  },
  'refuses with its own message and reason': {
    given: { spec: { validations: [{ expression: 'false', message: 'too large', reason: 'Forbidden' }] } },
    then: `403 Forbidden: ${denied} too large`,
  },
  'makes a message of an expression': {
    given: {
      spec: { validations: [{ expression: 'false', messageExpression: "'no, ' + request.userInfo.username" }] },
    },
    then: `422 Invalid: ${denied} no, ann`,
  },
  'computes variables once for all its expressions, each from those before it': {
    given: {
      spec: {
        variables: [
          { name: 'count', expression: 'size(object.data)' },
          { name: 'isMany', expression: 'variables.count > 1' },
        ],
        validations: [{ expression: '!variables.isMany', message: 'many' }],
      },
    },
    then: `422 Invalid: ${denied} many`,
  },
  'asks whether the user may do something else': {
    given: {
      spec: {
        validations: [
          { expression: "authorizer.group('').resource('secrets').namespace('default').check('get').allowed()" },
        ],
      },
    },
    then: 'admitted',
  },
  'does not judge what its conditions leave out': {
    given: { spec: { matchConditions: [{ name: 'others', expression: "request.userInfo.username != 'ann'" }] } },
    then: 'admitted',
  },
  'does not judge objects of other names than its rules have': { given: { names: ['other'] }, then: 'admitted' },
  'that cannot be evaluated refuses': {
    given: { spec: { validations: [{ expression: "object.data['none'] == ''" }] } },
    then: `422 Invalid: ${denied} expression 'object.data['none'] == ''' resulted in error: No such key: none`,
  },
  'that cannot be evaluated lets through where it says so': {
    given: { spec: { failurePolicy: 'Ignore', validations: [{ expression: "object.data['none'] == ''" }] } },
    then: 'admitted',
  },
  'with parameters refuses, since they are not read here': {
    given: { spec: { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } } },
    then: `422 Invalid: ${denied} parameters of policies are not known to the embedded cluster`,
  },
  'that only warns lets through': { given: { actions: ['Warn'] }, then: 'admitted' },
}

describe('a ValidatingAdmissionPolicy', () => {
  it.each(Object.entries(cases))('%s', async (_, { given, data = large, then }) => {
    await inForce(given)
    expect(await write(data)).toBe(then)
  })

  it('is in force only while it is bound', async () => {
    await inForce({})
    await server.as(clusterAdmin).delete(typeOfObject(server.catalogue, binding) as ResourceType, { name: 'small' })
    expect(await write(large)).toBe('admitted')
  })

  it('is not stored with an expression that says nothing', async () => {
    await expect(inForce({ spec: { validations: [{ expression: 'object.' }] } })).rejects.toMatchObject({ code: 422 })
  })

  it('is never asked about policies: a wrong one could not be taken away', async () => {
    const all = [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }]
    const never = [{ expression: 'false' }]
    await inForce({ spec: { matchConstraints: { resourceRules: all }, validations: never } })
    const name = { name: 'new' }
    await expect(
      server.as(writer).create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: name }),
    ).rejects.toMatchObject({ code: 422 })
    await server.as(writer).delete(typeOfObject(server.catalogue, binding) as ResourceType, { name: 'small' })
    await server.as(writer).create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: name })
  })
})

const binding: KubeObject = { apiVersion: group, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name: 'small' } }
