import { describe, expect, it } from 'vitest'
import { clusterAdmin, serviceAccountUser } from '../user-info.ts'
import { identify } from './identity.ts'

const bot = serviceAccountUser('ci', 'bot')
const knows = (token: string) => (token === 'good' ? bot : undefined)

function caller(headers: Record<string, string>, remoteAddress = '127.0.0.1') {
  const headersDistinct = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.split('|')]))
  return { headers, headersDistinct, socket: { remoteAddress } }
}

describe('who is asking', () => {
  it('is the administrator when the call comes over loopback without a token', () => {
    for (const address of ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1']) {
      expect(identify(caller({}, address), knows), address).toEqual(clusterAdmin)
    }
  })

  it('is nobody when the call comes from elsewhere without a token', () => {
    for (const address of ['10.0.0.7', '::ffff:10.0.0.7', 'fe80::1', '']) {
      expect(() => identify(caller({}, address), knows), address).toThrow('Unauthorized')
    }
  })

  it('is whom the token belongs to, wherever the call comes from', () => {
    expect(identify(caller({ authorization: 'Bearer good' }, '10.0.0.7'), knows)).toEqual(bot)
  })

  it('is nobody when nobody knows the token, even over loopback', () => {
    expect(() => identify(caller({ authorization: 'Bearer bad' }), knows)).toThrow('Unauthorized')
  })

  it('may be somebody else for an administrator, with the groups that go with the name', () => {
    expect(identify(caller({ 'impersonate-user': 'ann', 'impersonate-group': 'devs|ops' }), knows)).toEqual({
      username: 'ann',
      groups: ['devs', 'ops', 'system:authenticated'],
    })
    expect(identify(caller({ 'impersonate-user': 'system:serviceaccount:ci:bot' }), knows)).toEqual(bot)
    expect(identify(caller({ 'impersonate-user': 'system:anonymous' }), knows).groups).toEqual([
      'system:unauthenticated',
    ])
  })

  it('may not make itself an administrator', () => {
    const headers = { authorization: 'Bearer good', 'impersonate-user': 'root', 'impersonate-group': 'system:masters' }
    expect(() => identify(caller(headers), knows)).toThrow(
      'User "system:serviceaccount:ci:bot" cannot impersonate user "root"',
    )
  })
})
