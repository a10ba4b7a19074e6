import { describe, expect, it } from 'vitest'
import { proxyFromEnvironment } from './proxy-from-environment.ts'

const proxy = 'http://proxy:3128'

const scenarios: Record<string, { server: string; env: Record<string, string>; gives: string | undefined }> = {
  'no variable means no proxy': { server: 'https://api.example', env: {}, gives: undefined },
  'https goes through HTTPS_PROXY': { server: 'https://api.example', env: { HTTPS_PROXY: proxy }, gives: proxy },
  'lower case is read too, and a bare host gets a scheme': {
    server: 'https://api.example',
    env: { https_proxy: 'proxy:3128' },
    gives: proxy,
  },
  'http goes through HTTP_PROXY only': { server: 'http://api.example', env: { HTTPS_PROXY: proxy }, gives: undefined },
  'this machine is never asked through a proxy': {
    server: 'https://127.0.0.1:6443',
    env: { HTTPS_PROXY: proxy },
    gives: undefined,
  },
  'a star exempts all': { server: 'https://api.example', env: { HTTPS_PROXY: proxy, NO_PROXY: '*' }, gives: undefined },
  'a domain exempts what is below it': {
    server: 'https://api.corp.example',
    env: { HTTPS_PROXY: proxy, NO_PROXY: 'x, .corp.example' },
    gives: undefined,
  },
  'a domain exempts nothing that only ends alike': {
    server: 'https://api.notcorp.example',
    env: { HTTPS_PROXY: proxy, NO_PROXY: 'corp.example' },
    gives: proxy,
  },
  'a range exempts its addresses': {
    server: 'https://10.96.0.1',
    env: { HTTPS_PROXY: proxy, NO_PROXY: '10.96.0.0/12' },
    gives: undefined,
  },
  'a range exempts no other address': {
    server: 'https://10.112.0.1',
    env: { HTTPS_PROXY: proxy, NO_PROXY: '10.96.0.0/12' },
    gives: proxy,
  },
  'a range that is none exempts nothing': {
    server: 'https://10.96.0.1',
    env: { HTTPS_PROXY: proxy, NO_PROXY: '10.96.0.0/99,x/y' },
    gives: proxy,
  },
  'an IPv6 address is exempt by itself': {
    server: 'https://[fd00::1]:6443',
    env: { HTTPS_PROXY: proxy, NO_PROXY: 'fd00::1' },
    gives: undefined,
  },
  'a port exempts only that port': {
    server: 'https://api.example:6443',
    env: { HTTPS_PROXY: proxy, NO_PROXY: 'api.example:443' },
    gives: proxy,
  },
}

describe('proxies of the environment', () => {
  for (const [scenario, { server, env, gives }] of Object.entries(scenarios)) {
    it(scenario, () => {
      expect(proxyFromEnvironment(new URL(server), env)).toBe(gives)
    })
  }

  it('a SOCKS proxy is refused by the name of its variable', () => {
    expect(() => proxyFromEnvironment(new URL('https://h'), { HTTPS_PROXY: 'socks5://h' })).toThrow(
      'the environment variable HTTPS_PROXY is not the address of an HTTP proxy',
    )
  })
})
