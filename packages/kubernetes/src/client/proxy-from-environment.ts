import { BlockList, isIP } from 'node:net'
import { CofferdamError } from '../errors.ts'
import type { Environment } from './environment.ts'

/** The proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY ask for, read as kubectl reads them: never for this machine itself. */
export function proxyFromEnvironment(server: URL, env: Environment): string | undefined {
  const name = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const written = env[name] || env[name.toLowerCase()]
  if (!written) return undefined
  const host = server.hostname.replace(/^\[|\]$/g, '')
  if (isLoopback(host) || isExempt(host, server, env['NO_PROXY'] || env['no_proxy'] || '')) return undefined
  const url = written.includes('://') ? written : `http://${written}`
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url
  throw new CofferdamError(
    'KUBECONFIG_INVALID',
    `the environment variable ${name} is not the address of an HTTP proxy`,
    {
      facts: { variable: name },
      hint: `write it as http://HOST:PORT, unset it, or add ${host} to NO_PROXY`,
    },
  )
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

function isExempt(host: string, server: URL, list: string): boolean {
  const port = server.port || (server.protocol === 'https:' ? '443' : '80')
  return list
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true
      if (entry.includes('/')) return isInRange(host, entry)
      const [, name = entry, wantedPort] = /^(.+):(\d+)$/.exec(isIP(entry) === 6 ? '' : entry) ?? []
      if (wantedPort !== undefined && wantedPort !== port) return false
      const domain = name.replace(/^\*?\./, '')
      return host === name || (isIP(host) === 0 && (host.endsWith(`.${domain}`) || host === domain))
    })
}

function isInRange(host: string, range: string): boolean {
  const [network = '', bits = ''] = range.split('/')
  const family = isIP(network)
  if (family === 0 || isIP(host) !== family || !/^\d+$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128))
    return false
  const ranges = new BlockList()
  ranges.addSubnet(network, Number(bits), family === 4 ? 'ipv4' : 'ipv6')
  return ranges.check(host, family === 4 ? 'ipv4' : 'ipv6')
}
