import { describe, expect, it } from 'vitest'
import type { AccessAttributes } from '../access/policy-rule.ts'
import { clusterAdmin, serviceAccountUser, type UserInfo } from '../user-info.ts'
import { identify } from './identity.ts'

const bot = serviceAccountUser('ci', 'bot')

/** The bot is known by its token, and may do what it is given. */
function access(...mayBe: Partial<AccessAttributes>[]) {
  const isAllowed = (user: UserInfo, { verb, resource, namespace, name }: AccessAttributes) =>
    user.groups.includes('system:masters') ||
    (verb === 'impersonate' &&
      mayBe.some((one) => one.resource === resource && one.namespace === namespace && one.name === name))
  return { authenticate: (token: string) => (token === 'good' ? bot : undefined), authorizer: { isAllowed } }
}

const asBot = { authorization: 'Bearer good' }

function caller(headers: Record<string, string>, remoteAddress = '127.0.0.1') {
  const headersDistinct = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.split('|')]))
  return { headers, headersDistinct, socket: { remoteAddress } }
}

describe('who is asking', () => {
  it('is the administrator when the call comes over loopback without a token', () => {
    for (const address of ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1']) {
      expect(identify(caller({}, address), access()), address).toEqual(clusterAdmin)
    }
  })

  it('is anonymous when the call comes from elsewhere without a token', () => {
    for (const address of ['10.0.0.7', '::ffff:10.0.0.7', 'fe80::1', '']) {
      expect(identify(caller({}, address), access()), address).toEqual({
        username: 'system:anonymous',
        groups: ['system:unauthenticated'],
      })
    }
  })

  it('is whom the token belongs to, wherever the call comes from', () => {
    for (const address of ['10.0.0.7', '127.0.0.1']) expect(identify(caller(asBot, address), access())).toEqual(bot)
  })

  it('is refused with credentials that are not known, even over loopback: they would make a stranger the administrator', () => {
    for (const authorization of ['Bearer bad', 'Bearer', 'Basic Z29vZA==', '']) {
      expect(() => identify(caller({ authorization }), access()), authorization).toThrow('Unauthorized')
    }
  })

  it('may be somebody else for an administrator, with the groups that go with the name', () => {
    expect(identify(caller({ 'impersonate-user': 'ann', 'impersonate-group': 'devs|ops' }), access())).toEqual({
      username: 'ann',
      groups: ['devs', 'ops', 'system:authenticated'],
    })
    expect(identify(caller({ 'impersonate-user': 'system:serviceaccount:ci:bot' }), access())).toEqual(bot)
    expect(identify(caller({ 'impersonate-user': 'system:anonymous' }), access()).groups).toEqual([
      'system:unauthenticated',
    ])
  })

  it('may be whom it has the right to impersonate', () => {
    const headers = { ...asBot, 'impersonate-user': 'ann', 'impersonate-group': 'devs' }
    const rights = [
      { resource: 'users', name: 'ann' },
      { resource: 'groups', name: 'devs' },
    ]
    expect(identify(caller(headers), access(...rights)).username).toBe('ann')
  })

  const refusals: Record<string, { headers: Record<string, string>; may?: Partial<AccessAttributes>[]; says: string }> =
    {
      'a user that it has no right to be': {
        headers: { 'impersonate-user': 'root' },
        says: 'users "root" is forbidden: User "system:serviceaccount:ci:bot" cannot impersonate resource "users" in API group "" at the cluster scope',
      },
      'a member of a group that it has no right to be in, as it would make itself an administrator': {
        headers: { 'impersonate-user': 'ann', 'impersonate-group': 'system:masters' },
        may: [{ resource: 'users', name: 'ann' }],
        says: 'groups "system:masters" is forbidden: User "system:serviceaccount:ci:bot" cannot impersonate resource "groups" in API group "" at the cluster scope',
      },
      'an account of another namespace than the one it has the right in': {
        headers: { 'impersonate-user': 'system:serviceaccount:bank:bot' },
        may: [{ resource: 'serviceaccounts', namespace: 'ci', name: 'bot' }],
        says: 'serviceaccounts "bot" is forbidden: User "system:serviceaccount:ci:bot" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "bank"',
      },
      'a user with a uid that it has no right to': {
        headers: { 'impersonate-user': 'ann', 'impersonate-uid': '7' },
        may: [{ resource: 'users', name: 'ann' }],
        says: 'uids.authentication.k8s.io "7" is forbidden: User "system:serviceaccount:ci:bot" cannot impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope',
      },
    }
  for (const [whom, { headers, may = [], says }] of Object.entries(refusals)) {
    it(`may not be ${whom}`, () => {
      expect(() => identify(caller({ ...asBot, ...headers }), access(...may))).toThrow(
        expect.objectContaining({ code: 403, message: says }),
      )
    })
  }
})
