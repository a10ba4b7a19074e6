import { BlockList, isIP, isIPv4 } from 'node:net'
import type { Environment } from '@marcbachmann/cel-js'
import { isCidr } from './formats.ts'

class CelIp {
  readonly address: string

  constructor(address: string) {
    this.address = address
  }
}

class CelCidr {
  readonly address: string
  readonly bits: number

  constructor(text: string) {
    const slash = text.lastIndexOf('/')
    this.address = text.slice(0, slash)
    this.bits = Number(text.slice(slash + 1))
  }

  has(address: string): boolean {
    if (isIPv4(address) !== isIPv4(this.address)) return false
    const block = new BlockList()
    const family = isIPv4(this.address) ? 'ipv4' : 'ipv6'
    block.addSubnet(this.address, this.bits, family)
    return block.check(address, family)
  }
}

class CelUrl {
  readonly url: URL

  constructor(url: URL) {
    this.url = url
  }
}

const ip = 'net.IP'
const cidr = 'net.CIDR'
const url = 'kubernetes.URL'

export function registerNetworkFunctions(environment: Environment): void {
  environment
    .registerType(ip, CelIp)
    .registerFunction('isIP(string): bool', (text: string) => isIP(text) !== 0)
    .registerFunction(`ip(string): ${ip}`, readIp)
    .registerFunction(`${ip}.family(): int`, ({ address }: CelIp) => BigInt(isIP(address)))
    .registerFunction(`${ip}.isLoopback(): bool`, ({ address }: CelIp) => /^(127\.|::1$)/.test(address))
    .registerFunction(`${ip}.isUnspecified(): bool`, ({ address }: CelIp) => address === '0.0.0.0' || address === '::')
    .registerOperator(`${ip} == ${ip}`, (a: CelIp, b: CelIp) => a.address === b.address)
    .registerType(cidr, CelCidr)
    .registerFunction('isCIDR(string): bool', isCidr)
    .registerFunction(`cidr(string): ${cidr}`, readCidr)
    .registerFunction(`${cidr}.containsIP(string): bool`, (range: CelCidr, text: string) =>
      range.has(readIp(text).address),
    )
    .registerFunction(`${cidr}.containsIP(${ip}): bool`, (range: CelCidr, { address }: CelIp) => range.has(address))
    .registerFunction(`${cidr}.containsCIDR(string): bool`, (range: CelCidr, text: string) =>
      holds(range, readCidr(text)),
    )
    .registerFunction(`${cidr}.containsCIDR(${cidr}): bool`, holds)
    .registerFunction(`${cidr}.prefixLength(): int`, ({ bits }: CelCidr) => BigInt(bits))
    .registerFunction(`${cidr}.ip(): ${ip}`, ({ address }: CelCidr) => new CelIp(address))
    .registerType(url, CelUrl)
    .registerFunction('isURL(string): bool', (text: string) => URL.canParse(text))
    .registerFunction(`url(string): ${url}`, (text: string) => {
      if (!URL.canParse(text)) throw new RangeError(`URL parse error during conversion from string: ${text}`)
      return new CelUrl(new URL(text))
    })
    .registerFunction(`${url}.getScheme(): string`, ({ url: read }: CelUrl) => read.protocol.replace(/:$/, ''))
    .registerFunction(`${url}.getHost(): string`, ({ url: read }: CelUrl) => read.host)
    .registerFunction(`${url}.getHostname(): string`, ({ url: read }: CelUrl) => read.hostname)
    .registerFunction(`${url}.getPort(): string`, ({ url: read }: CelUrl) => read.port)
    .registerFunction(`${url}.getEscapedPath(): string`, ({ url: read }: CelUrl) => read.pathname)
}

function readIp(text: string): CelIp {
  if (isIP(text) === 0)
    throw new RangeError(`IP Address ${JSON.stringify(text)} parse error during conversion from string`)
  return new CelIp(text)
}

function readCidr(text: string): CelCidr {
  if (!isCidr(text)) throw new RangeError(`network address parse error during conversion from string: ${text}`)
  return new CelCidr(text)
}

function holds(outer: CelCidr, inner: CelCidr): boolean {
  return inner.bits >= outer.bits && outer.has(inner.address)
}
